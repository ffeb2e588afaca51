//! What experiments found, as one page: a single HTML file that loads nothing, for screens large and
//! small, light and dark, and for paper. It says that it is not for release, at its top and in the
//! section of every experiment.
//!
//! [`Experiment::read`] takes a folder of results and [`find()`] all that there are; [`page`]
//! writes the page. The markup is HTML that
//! is XML as well, so that its form can be checked.

mod claims;
mod downloads;
mod error;
mod experiment;
mod figure;
mod find;
mod ledger;
mod numbers;
mod provenance;
mod question;
mod section;
mod table;
#[cfg(test)]
mod tests;
mod troubles;

pub use error::ReportError;
pub use experiment::Experiment;
pub use find::find;

use askama::Template;

use crate::results::manifest::NOTICE;
use section::Section;

#[derive(Template)]
#[template(path = "page.html", config = "src/report/askama.toml")]
struct Page {
    style: &'static str,
    script: &'static str,
    version: &'static str,
    notice: &'static str,
    sections: Vec<Section>,
}

/// The page about these experiments, in their order.
pub fn page(experiments: &[Experiment]) -> Result<String, ReportError> {
    let mut sections: Vec<Section> = Vec::new();
    for experiment in experiments {
        // Two results of one experiment may be on one page.
        let before = sections.iter().filter(|section| section.name == experiment.name()).count();
        sections.push(Section::new(experiment, before)?);
    }
    let page = Page {
        style: include_str!("templates/style.css"),
        script: include_str!("templates/script.js"),
        version: env!("CARGO_PKG_VERSION"),
        notice: NOTICE,
        sections,
    };
    Ok(page.render()?)
}

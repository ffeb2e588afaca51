//! Results as one self-contained HTML page that loads nothing, for wide and narrow screens, light
//! and dark, and for print. A notice at the top and in every section says that it is not for
//! release.
//!
//! [`Experiment::read`] reads one folder of results, [`find()`] reads all below a folder, and
//! [`page`] renders them. [`reproduction()`] lists their claims as Markdown. The markup is also
//! well-formed XML, so that tests can parse it.

mod claims;
mod downloads;
mod error;
mod experiment;
mod failures;
mod figure;
mod find;
mod ledger;
mod numbers;
mod provenance;
mod question;
mod reproduction;
mod section;
mod table;
#[cfg(test)]
mod tests;

pub use error::ReportError;
pub use experiment::Experiment;
pub use find::{find, reference_runs};
pub use reproduction::{HEADING, headline, reproduction};

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

/// Renders the page, with one section per experiment in the given order.
pub fn page(experiments: &[Experiment]) -> Result<String, ReportError> {
    let mut sections: Vec<Section> = Vec::new();
    for experiment in experiments {
        // Two results of the same experiment may be on one page.
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

use std::io;

use serde::Serialize;

use super::experiment::Experiment;
use crate::spreadsheet;

/// A file embedded in the page.
#[derive(Clone, Debug)]
pub(super) struct Download {
    pub(super) name: String,
    /// A `data:` URL with the contents.
    pub(super) href: String,
    pub(super) size: String,
}

/// Summary, claims, rows, traces and figure, without empty files.
pub(super) fn of(experiment: &Experiment, figure: Option<&str>) -> io::Result<Vec<Download>> {
    let mut files = vec![("summary.csv", "text/csv", experiment.summary.csv()?)];
    files.push(("claims.csv", "text/csv", csv(&experiment.findings)?));
    files.push(("trials.csv", "text/csv", csv(experiment.rows.as_deref().unwrap_or_default())?));
    files.push(("traces.csv", "text/csv", csv(&experiment.traces)?));
    files.push(("figure.svg", "image/svg+xml", figure.unwrap_or_default().into()));
    let has_rows = !experiment.summary.groups.is_empty();
    let files = files
        .into_iter()
        .filter(|(_, kind, bytes)| !bytes.is_empty() && (has_rows || *kind != "text/csv"));
    let download = |(name, kind, bytes): (&str, &str, Vec<u8>)| Download {
        name: format!("{}-{name}", experiment.name()),
        href: format!("data:{kind};charset=utf-8,{}", percent_encoded(&bytes)),
        size: private_pgm::numeric::bytes::Bytes(bytes.len() as f64).to_string(),
    };
    Ok(files.map(download).collect())
}

/// Records below a header; empty without records.
fn csv<T: Serialize>(records: &[T]) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer.serialize(record)?;
    }
    spreadsheet::fields_of(writer.into_inner().map_err(|error| error.into_error())?)
}

/// Percent-encoding (RFC 3986) of all bytes except unreserved characters and commas.
fn percent_encoded(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + bytes.len() / 4);
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b',' => {
                out.push(byte.into());
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_percent_encoded() {
        assert_eq!(percent_encoded("a,1.5\n\"ä\"".as_bytes()), "a,1.5%0A%22%C3%A4%22");
    }
}

use proptest::prelude::*;

use super::{SHORT, parse, source};
use crate::config::Source;

#[test]
fn complaints_of_later_stages_stay_on_one_line_of_the_text() {
    let source = source("name = 'a'\nx = 'ü'\n");
    let shown = source.error(5..20, "no\nway", Some("try\tthis")).to_string();
    assert_eq!(
        shown,
        "no\\nway
 --> configs/mine.toml:1:6
  |
1 | name = 'a'
  |      ^^^^^
  |
  = help: try\\tthis"
    );
    // In the middle of a character, and past the end.
    for span in [17..18, 16..17, 500..600] {
        assert!(source.error(span, "no", None).to_string().starts_with("no\n --> configs/mine"));
    }
}

#[test]
fn a_missing_file_lists_those_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["fig2a.toml", "fig1.toml", "notes.txt"] {
        std::fs::write(folder.path().join(name), SHORT).unwrap();
    }
    let at = |name: &str| Source::read(folder.path().join(name)).map_err(|error| error.to_string());
    assert!(at("fig1.toml").unwrap().parse().is_ok());
    let place = folder.path().display();
    assert_eq!(
        at("fig2.toml").unwrap_err(),
        format!(
            "there is no file {place}/fig2.toml; did you mean fig1.toml? \
             Its folder has fig1.toml, fig2a.toml"
        )
    );
    assert_eq!(
        at("smoke.toml").unwrap_err(),
        format!("there is no file {place}/smoke.toml; its folder has fig1.toml, fig2a.toml")
    );
    assert_eq!(at("a/b.toml").unwrap_err(), format!("there is no file {place}/a/b.toml"));
    assert!(at("").unwrap_err().starts_with("cannot read "));
}

proptest! {
    #[test]
    fn no_text_panics(text in "(.|\n)*") {
        if let Err(error) = parse(&text) {
            error.render(true);
        }
    }

    #[test]
    fn no_damaged_experiment_panics(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..6),
    ) {
        let mut bytes = include_bytes!("everything.toml").to_vec();
        for (place, byte, how) in damage {
            let place = place.index(bytes.len());
            match how {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => drop(bytes.remove(place)),
            }
        }
        if let Err(error) = parse(&String::from_utf8_lossy(&bytes)) {
            error.render(true);
        }
    }
}

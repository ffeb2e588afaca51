//! Notices and marks that limit the use of the numbers.

use super::{append, cells, check, manifest, page, parsed, read, results, rows, text_of};
use crate::figures;
use crate::results::manifest::NOTICE;
use crate::results::store::Store;
use crate::results::unconverged_note;

#[test]
fn a_page_and_its_figures_say_that_they_are_not_for_release() {
    let (one, other) = (results("One"), results("Other"));
    let html = page(&[read(one.path()), read(other.path())]).unwrap();
    check(&html);
    let document = parsed(&html);
    let notices: Vec<String> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("notice"))
        .map(text_of)
        .collect();
    let these = format!("These results are {NOTICE}.");
    assert_eq!(notices, [format!("This page is {NOTICE}."), these.clone(), these]);
    assert!(html.find("class=\"notice\"") < html.find("<nav"), "it comes before the contents");

    let manifest = manifest("One");
    let chart = figures::chart_of(&manifest, &rows(&manifest), &[]).unwrap();
    let (short, _) = NOTICE.split_once(':').unwrap();
    for (width, notice) in [(900.0, NOTICE), (317.0, short)] {
        let svg = figures::svg(&chart, figures::Size::of_width(&chart, width));
        let document = parsed(&svg);
        let texts = document.descendants().filter(|node| node.has_tag_name("text"));
        let words: Vec<String> = texts.map(text_of).collect();
        assert!(words.join(" ").contains(&format!("This figure is {notice}.")), "{words:?}");
    }
}

#[test]
fn numbers_of_estimates_that_have_not_converged_are_marked() {
    let manifest = manifest("Marks");
    let mut all = rows(&manifest);
    for row in all.iter_mut().filter(|row| row.arm == "pgm") {
        let share = if row.dataset == "adult" { 0.5 } else { 0.001 };
        (row.loss, row.gap) = (Some(1000.0), Some(1000.0 * share));
    }
    let folder = tempfile::tempdir().unwrap();
    manifest.write(folder.path()).unwrap();
    append(&Store::open(folder.path()).unwrap(), &all, |_| 2.0);
    let html = page(&[read(folder.path())]).unwrap();
    check(&html);
    let errors: Vec<_> =
        cells(&html, "of-mine-numbers-table").iter().map(|r| r[3].clone()).collect();
    let expected = ["workload error", "", "0.5000", "0.1667 \u{2020}", "", "0.5000", "0.1667"];
    assert_eq!(errors, expected);
    let note = unconverged_note() + ".";
    assert!(html.contains(&format!("<p class=\"note\">{note}</p>")), "under the table");
    let without = page(&[read(results("None").path())]).unwrap();
    assert!(!without.contains('\u{2020}'));
}

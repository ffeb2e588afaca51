//! The user's own data: a draft of its schema, mistakes in it, and experiments on it.

use std::fs;

use super::Session;

const CONFIG: &str = r#"name = "mine"
trials = 1
epsilon = 1
datasets = [{ name = "own", schema = "own/schema.toml" }]

[workload]
marginals = [["letter", "number"]]
prefix = []

[estimation]
iterations = 30

[[mechanism]]
name = "laplace"
arms = ["own", "pgm"]
"#;

const SCHEMA: &str = "own/schema.toml";
const INFER: [&str; 5] = ["datasets", "infer", "own/own.csv", "--out", SCHEMA];

/// A table of letters and numbers, its schema, and an experiment.
fn session() -> Session {
    let session = Session::new();
    let lines: Vec<String> =
        (0..60).map(|i| format!("{},{}", ["x", "y", "z"][i % 3], i % 7)).collect();
    fs::create_dir(session.path("own")).unwrap();
    session.file("own/own.csv", format!("letter,number\n{}\n", lines.join("\n")));
    let said = session.run(INFER).works();
    assert!(said.stderr.contains("not private"), "{}", said.stderr);
    assert_eq!(said.stdout, "written  own/schema.toml\n");
    session.file("mine.toml", CONFIG);
    session
}

fn schema(session: &Session) -> String {
    fs::read_to_string(session.path(SCHEMA)).unwrap()
}

#[test]
fn experiments_run_on_the_users_own_data() {
    let session = session();
    let both = CONFIG
        .replace("[{ name", "[\"titanic\", { name")
        .replace("marginals = [[\"letter\", \"number\"]]\nprefix = []", "every = 2");
    session.file("mine.toml", both);
    let said = session.run(["run", "mine.toml"]).works();
    assert!(said.stdout.contains("own") && said.stdout.contains("titanic"), "{}", said.stdout);
}

#[test]
fn a_schema_that_may_have_been_edited_is_not_replaced_by_a_draft() {
    let session = session();
    let edited = schema(&session).replace("letter", "Letter");
    session.file(SCHEMA, &edited);
    session.run(INFER).refuses(&["cannot write own/schema.toml", "another name", "--force"]);
    assert_eq!(schema(&session), edited);
    session
        .run(["datasets", "infer", "own/own.csv", "--out", "own/own.csv"])
        .refuses(&["own/own.csv", "it is also the file with the data"]);
}

#[test]
fn a_schema_is_drafted_from_the_standard_input() {
    let session = session();
    let table = fs::read(session.path("own/own.csv")).unwrap();
    let said = session.command().args(["datasets", "infer", "-"]).write_stdin(table).output();
    let draft = String::from_utf8(said.unwrap().stdout).unwrap();
    assert!(draft.contains("files = [{ name = \"mine.csv\" }]"), "{draft}");
    let named = draft.replace("\"mine.csv\"", "\"own.csv\"").replace("\"mine\"", "\"own\"");
    session.file(SCHEMA, named);
    session.run(["plan", "mine.toml"]).works();
    let said = session.command().args(["datasets", "infer", "-"]).write_stdin("").output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    let complaint = String::from_utf8(said.stderr).unwrap();
    assert!(complaint.contains("the standard input: the file is empty"), "{complaint}");
}

#[test]
fn a_missing_file_of_a_schema_is_named() {
    let session = session();
    session.file(SCHEMA, schema(&session).replace("own.csv", "onw.csv"));
    session.run(["plan", "mine.toml"]).refuses(&[
        "there is no file",
        "own/onw.csv",
        SCHEMA,
        "names",
    ]);
    let said = session.run(["datasets", "describe", SCHEMA]);
    said.refuses(&["error: there is no file own/onw.csv, which own/schema.toml names\n"]);
}

#[test]
fn messages_about_a_schema_do_not_use_terms_of_the_parser() {
    let session = session();
    let text = schema(&session);
    assert!(text.contains("width = 1\n"), "{text}");
    session.file(SCHEMA, text.replace("width = 1", "bins = \"many\""));
    let said = session.run(["plan", "mine.toml"]);
    assert!(!said.stderr.contains("\\n") && !said.stderr.contains("u32"), "{}", said.stderr);
    said.complains(&[SCHEMA, ", column 8: expected a whole number", "\"many\"", "mine.toml:4"]);
}

#[test]
fn an_error_is_printed_once() {
    let session = session();
    let once = |said: super::Said, text: &str| {
        assert_eq!(said.stderr.matches(text).count(), 1, "{}", said.stderr);
        assert_eq!(said.code, Some(2));
    };
    let missing = || session.run(["datasets", "infer", "nope.csv"]);
    once(missing(), "nope.csv");
    once(missing(), "No such file");
    session.file(SCHEMA, schema(&session).replace("high = 6", "high = 5"));
    once(session.run(["plan", "mine.toml"]), "6 is outside");
    once(session.run(["datasets", "describe", SCHEMA]), "6 is outside");
    once(session.run(["plot", "nothing"]), "there are no results");
    once(session.run(["status", "nothing"]), "there are no results");
    once(session.run(["verify", "nothing"]), "there are no results");
    once(session.run(["collect", "nothing"]), "there are no results");
}

#[test]
fn results_are_verified_from_another_folder_with_the_path_of_the_schema() {
    let session = session();
    session.run(["run", "mine.toml", "--quiet"]).succeeds();
    fs::create_dir(session.path("elsewhere")).unwrap();
    let verify = ["verify", "mine", "--results", "../results"];
    let run = |extra: &[&str]| {
        let mut command = session.command();
        command.current_dir(session.path("elsewhere")).args(verify).args(extra);
        command.output().unwrap()
    };
    let refused = run(&[]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    for words in ["./own/schema.toml", "../results/mine/manifest.json", "--config-dir DIR"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(run(&["--config-dir", ".."]).status.success());
}

const MESSY: &str = "id;born;town;income;rate;state\r\n\
    1;14.03.1987;Bath;1.234,50 €;12,5 %;missing\r\n\
    2;2.11.1954;bath;25.000,00 €;40 %;NA\r\n\
    3;30.06.1990;Ely;900,00 €;20 %;found\r\n";

#[test]
fn a_file_in_windows_1252_is_drafted_and_read() {
    let session = Session::new();
    let bytes = |text: &str| -> Vec<u8> {
        let byte = |c: char| if c == '\u{20ac}' { 0x80 } else { u8::try_from(c as u32).unwrap() };
        text.chars().map(byte).collect()
    };
    // Each has its only byte that is not UTF-8 in another place.
    for (name, content) in [
        ("header", MESSY.replace("state", "gr\u{f6}\u{df}e").replace('\u{20ac}', "EUR")),
        ("fields", MESSY.to_string()),
    ] {
        fs::write(session.path("messy.csv"), bytes(&content)).unwrap();
        let schema = format!("{name}.toml");
        session.run(["datasets", "infer", "messy.csv", "--out", &schema]).works();
        let draft = fs::read_to_string(session.path(&schema)).unwrap();
        assert!(draft.contains("encoding = \"utf-8-or-latin-1\""), "{draft}");
        assert!(draft.contains("name = \"income\"\nkind = \"numeric\""), "{draft}");
        session.run(["datasets", "describe", &schema]).works();
    }
}

#[test]
fn a_messy_file_is_drafted_and_read() {
    let session = Session::new();
    session.file("messy.csv", MESSY);
    session.run(["datasets", "infer", "messy.csv", "--out", "messy.toml"]).works();
    let draft = fs::read_to_string(session.path("messy.toml")).unwrap();
    for part in [
        "delimiter = \";\"",
        "date = \"DD.MM.YYYY\"\npart = \"year\"",
        "spellings = [[\"Bath\", \"bath\"]]",
        "number = { decimal = \",\", thousands = \".\", suffix = \" €\", digits = 2 }",
        "number = { decimal = \",\", suffix = \" %\", digits = 1 }",
        "values = [\"found\", \"missing\"]\nmissing = \"code\"",
    ] {
        assert!(draft.contains(part), "no {part} in {draft}");
    }
    let said = session.run(["datasets", "describe", "messy.toml"]).succeeds();
    assert!(said.contains("(missing) 1"), "{said}");
    session.file("messy.csv", MESSY.replace("900,00 €", "900.00 $"));
    session.run(["datasets", "describe", "messy.toml"]).refuses(&[
        "messy.csv, line 4, column 'income': '900.00 $' is not a number as the schema describes it",
        "number = { suffix = \" $\" }",
    ]);
}

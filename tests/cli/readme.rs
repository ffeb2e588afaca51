//! The documents are true: their commands run, their output is the program's, and their links
//! resolve.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The documents whose commands are run, each in a folder of its own.
const EXECUTED: [&str; 3] = ["README.md", "docs/engine.md", "docs/own-data.md"];

/// Commands that take minutes, and the command that is run instead.
const SHORTENED: [(&str, &str); 4] = [
    ("run configs/fig1.toml", "plan configs/fig1.toml"),
    ("run mine.toml", "run mine.toml --trials 1 --iterations 20"),
    ("run first.toml", "run first.toml --trials 1 --iterations 20"),
    (
        "estimate problem.json --out model.pgm",
        "estimate problem.json --out model.pgm --iterations 100",
    ),
];

/// Commands of cargo itself, which this test is part of.
const NOT_RUN: [&str; 1] = ["cargo test --release"];

/// Files that a reader is asked to fetch. Without them a command must fail for their absence alone.
const FETCHED: [&str; 2] = ["LoanStats3a.csv", "IST_corrected.csv"];

#[test]
fn the_commands_of_the_documents_run() {
    let mut unused: BTreeSet<&str> = SHORTENED.iter().map(|(long, _)| *long).collect();
    for name in EXECUTED {
        let document = Document::read(name);
        let reader = Reader::new();
        for block in document.blocks() {
            unused.retain(|long| !block.text.contains(long));
            match block.language {
                "sh" => block.text.lines().for_each(|line| drop(reader.run(line))),
                "console" => {
                    let (command, printed) = block.text.split_once('\n').unwrap();
                    let output = reader.run(command.strip_prefix("$ ").expect("a prompt"));
                    assert_printed(name, printed, &output);
                }
                "toml" => reader.save(&block),
                "csv" => {
                    let mut names = block.before.split('`').filter(|code| code.ends_with(".csv"));
                    let name = names.next_back().expect("a name for the file");
                    fs::write(reader.path(name), block.text).unwrap();
                }
                _ => {}
            }
        }
    }
    assert!(unused.is_empty(), "no document has these commands any more: {unused:?}");
}

#[test]
fn the_rust_of_the_documents_is_that_of_the_example() {
    let example = Document::read("crates/private-pgm/examples/estimate.rs").text;
    for name in ["README.md", "docs/engine.md"] {
        assert_excerpt(name, "rust", "//", &example);
    }
}

/// Whose program the tests of the package run.
#[test]
fn the_python_of_the_readme_is_that_of_the_package() {
    let package = Document::read("python/README.md");
    let blocks = package.blocks();
    let program = blocks.iter().find(|block| block.language == "python").expect("a program");
    assert_excerpt("README.md", "python", "#", program.text);
}

/// The only block in this language has lines of the program, in its order; comments may differ.
fn assert_excerpt(name: &str, language: &str, comment: &str, program: &str) {
    let document = Document::read(name);
    let blocks = document.blocks();
    let mut excerpts = blocks.iter().filter(|block| block.language == language);
    let excerpt = excerpts.next().unwrap_or_else(|| panic!("{name} has no {language}"));
    assert!(excerpts.next().is_none(), "{name}");
    let code = |line: &'_ str| line.split(comment).next().unwrap_or_default().trim().to_string();
    let mut lines = program.lines().map(code);
    for line in excerpt.text.lines().map(code).filter(|line| !line.is_empty()) {
        let is_there = lines.any(|other| other == line);
        assert!(is_there, "{name}: the program does not have, in this order: {line}");
    }
}

#[test]
fn the_examples_of_the_toml_reference_are_experiments() {
    let document = Document::read("docs/experiments.md");
    let reader = Reader::new();
    let blocks = document.blocks();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        fs::write(reader.path("reference.toml"), block.text).unwrap();
        reader.run("pgmbench plan reference.toml");
    }
}

#[test]
fn every_key_of_the_experiments_is_in_the_toml_reference() {
    let reference = Document::read("docs/experiments.md").text;
    let code: Vec<&str> = reference.split('`').skip(1).step_by(2).collect();
    let is_listed = |key: &str| {
        let is_key = |c: char| c.is_alphanumeric() || c == '_';
        code.iter().any(|span| span.split(|c| !is_key(c)).any(|word| word == key))
    };
    for entry in fs::read_dir(root().join("configs")).unwrap() {
        let path = entry.unwrap().path();
        let table: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let mut keys = BTreeSet::new();
        collect_keys(&toml::Value::Table(table), &mut keys);
        let missing: Vec<_> = keys.iter().filter(|key| !is_listed(key)).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", path.display());
    }
}

#[test]
fn links_lead_to_files_and_headings() {
    let pages = fs::read_dir(root().join("docs")).unwrap();
    let pages = pages.map(|entry| format!("docs/{}", entry.unwrap().file_name().display()));
    let pages = pages.filter(|page| page.ends_with(".md"));
    let others = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "datasets/README.md"];
    for page in pages.chain(others.map(String::from)) {
        let text = Document::read(&page).text;
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => root().join(&page),
                file => root().join(&page).parent().unwrap().join(file),
            };
            assert!(target.exists(), "{page}: there is no {link}");
            if !anchor.is_empty() {
                let target = fs::read_to_string(target).unwrap();
                assert!(target.lines().any(|line| slug(line) == anchor), "{page}: no {link}");
            }
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A text of the repository.
struct Document {
    text: String,
}

/// A fenced block, and all text before it.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
    before: &'a str,
}

impl Document {
    fn read(name: &str) -> Self {
        let text = fs::read_to_string(root().join(name));
        Self { text: text.unwrap_or_else(|error| panic!("{name}: {error}")) }
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        const FENCE: &str = "```";
        let (mut blocks, mut at) = (Vec::new(), 0);
        while let Some(start) = self.text[at..].find(FENCE).map(|place| at + place) {
            let language_at = start + FENCE.len();
            let text_at = language_at + self.text[language_at..].find('\n').unwrap() + 1;
            let end = text_at + self.text[text_at..].find(FENCE).expect("a block that ends");
            blocks.push(Block {
                language: &self.text[language_at..text_at - 1],
                text: &self.text[text_at..end],
                before: &self.text[..start],
            });
            at = end + FENCE.len();
        }
        blocks
    }
}

/// Runs the commands of a document in a temporary folder.
struct Reader {
    folder: TempDir,
}

impl Reader {
    /// With the repository's experiments and its problem, and a table.
    fn new() -> Self {
        let reader = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["configs", "docs"] {
            fs::create_dir(reader.path(folder)).unwrap();
        }
        for entry in fs::read_dir(root().join("configs")).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), reader.path("configs").join(entry.file_name())).unwrap();
        }
        fs::copy(root().join("docs/example.json"), reader.path("docs/example.json")).unwrap();
        let mine = "age,city,sex,rent,size,heating\n31,Bath,f,yes,2,gas\n47,Ely,m,no,3,oil\n\
                    22,Wells,f,yes,1,gas\n64,Bath,m,no,5,wood\n";
        fs::write(reader.path("mine.csv"), mine).unwrap();
        reader
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a line of a shell block, or what stands for it, and returns what it printed.
    fn run(&self, line: &str) -> String {
        let command = line.split(" #").next().unwrap().trim();
        if NOT_RUN.contains(&command) {
            return String::new();
        }
        let program = ["pgmbench ", "cargo run --release -- "];
        let arguments = program.iter().find_map(|program| command.strip_prefix(program));
        let arguments = arguments.unwrap_or_else(|| panic!("not a command of ours: {line}"));
        let short = SHORTENED.iter().find(|(long, _)| *long == arguments);
        let arguments = short.map_or(arguments, |(_, short)| *short);
        let program = env!("CARGO_BIN_EXE_pgmbench");
        let mut process = assert_cmd::Command::new(program);
        let process = process.current_dir(self.folder.path()).args(words(arguments));
        let output = process.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        match FETCHED.iter().find(|file| arguments.contains(*file)) {
            Some(file) => {
                assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
                assert!(stderr.contains(file) && !stderr.contains("Usage"), "{line}: {stderr}");
            }
            None => assert!(output.status.success(), "{line}: {stderr}"),
        }
        String::from_utf8(output.stdout).unwrap()
    }

    /// Saves a TOML block: a whole file under the last name before it, and lines without a name in
    /// place of the data of `mine.toml`, which must then still be an experiment.
    fn save(&self, block: &Block<'_>) {
        if block.text.starts_with("[dependencies]") {
            return;
        }
        if block.text.starts_with("name = ") {
            let mut names = block.before.split('`').filter(|code| {
                code.ends_with(".toml") && !code.contains(|c: char| c.is_whitespace() || c == '/')
            });
            let name = names.next_back().expect("a name for the file");
            return fs::write(self.path(name), block.text).unwrap();
        }
        let whole = fs::read_to_string(self.path("mine.toml")).unwrap();
        let line = whole.lines().find(|line| line.starts_with("datasets = ")).unwrap();
        fs::write(self.path("own.toml"), whole.replace(line, block.text)).unwrap();
        self.run("pgmbench plan own.toml");
    }
}

/// The words of a command, with those in single quotes in one piece.
fn words(command: &str) -> Vec<&str> {
    let pieces = command.split('\'').enumerate();
    let words = pieces.flat_map(|(place, piece)| match place % 2 {
        0 => piece.split_whitespace().collect(),
        _ => vec![piece],
    });
    words.collect()
}

/// Each line of an excerpt is a line of the output, apart from at most one number: a time, or a
/// number of bytes.
fn assert_printed(name: &str, excerpt: &str, output: &str) {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let agrees = |line: &str, printed: &str| {
        let (line, printed): (Vec<_>, Vec<_>) =
            (line.split_whitespace().collect(), printed.split_whitespace().collect());
        let differing = line.iter().zip(&printed).filter(|(one, other)| one != other);
        let differing: Vec<_> = differing.collect();
        line.len() == printed.len()
            && differing.len() <= 1
            && differing.iter().all(|(one, other)| is_number(one) && is_number(other))
    };
    for line in excerpt.lines() {
        let is_there = output.lines().any(|printed| agrees(line, printed));
        assert!(is_there, "{name}: not printed: {line}\nprinted was:\n{output}");
    }
}

fn collect_keys(value: &toml::Value, keys: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                // `mechanism/arm` is the name of an arm.
                if !key.contains('/') {
                    keys.insert(key.clone());
                }
                // Those of a mechanism are its own, and `pgmbench list` shows them.
                if key != "parameters" {
                    collect_keys(value, keys);
                }
            }
        }
        toml::Value::Array(list) => list.iter().for_each(|value| collect_keys(value, keys)),
        _ => {}
    }
}

/// The anchor of a heading.
fn slug(line: &str) -> String {
    let Some(title) =
        line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
    else {
        return String::new();
    };
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

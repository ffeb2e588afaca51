use super::*;

fn shell(script: &str, folder: &Path) -> Program {
    Program::new(&["sh", "-c", script].map(String::from), folder)
}

fn run(script: &str, seconds: f64) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let deadline = Some(Instant::now() + Duration::from_secs_f64(seconds));
    let limits = Limits { memory: 1 << 30, deadline };
    let answer = shell(script, folder.path()).run(b"the task".to_vec(), limits);
    answer.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn the_input_reaches_the_command_and_its_output_comes_back() {
    assert_eq!(run("cat; echo .", 60.0).unwrap(), "the task.\n");
    // More than a pipe holds, in both directions, and an input that is not read.
    let large = run("head -c 1000000 /dev/zero | tr '\\0' x; head -c 300000 /dev/zero >&2", 60.0);
    assert_eq!(large.unwrap().len(), 1_000_000);
}

#[test]
fn a_failure_has_the_status_and_the_end_of_standard_error() {
    let error = run("echo first >&2; echo last >&2; exit 3", 60.0).unwrap_err();
    assert!(error.ends_with("exit status: 3; the end of its standard error: first / last"));
    let error = run("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1", 60.0).unwrap_err();
    assert!(error.len() < KEPT_STDERR + 200, "{}", error.len());
    let error = run("exit 1", 60.0).unwrap_err();
    assert!(error.ends_with("without a word on standard error"), "{error}");
    let none = Program::new(&["no-such-program".to_string()], Path::new("."));
    let limits = Limits { memory: 1 << 30, deadline: None };
    let error = none.run(Vec::new(), limits).unwrap_err().to_string();
    assert!(error.starts_with("`no-such-program` cannot be started"), "{error}");
}

#[test]
fn a_command_that_is_too_slow_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    // The child would write the file after the deadline, and holds the output open.
    let script = "(sleep 1; echo late > late) & sleep 30";
    let began = Instant::now();
    let deadline = Some(began + Duration::from_millis(300));
    let limits = Limits { memory: 1 << 30, deadline };
    let error = shell(script, folder.path()).run(Vec::new(), limits).unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10));
    thread::sleep(Duration::from_millis(1500));
    assert!(!folder.path().join("late").exists(), "the child has survived");
}

#[test]
fn children_that_outlive_a_command_are_killed_too() {
    let folder = tempfile::tempdir().unwrap();
    let script = "(sleep 1; echo late > late) > /dev/null 2>&1 & echo done";
    let limits = Limits { memory: 1 << 30, deadline: None };
    assert_eq!(shell(script, folder.path()).run(Vec::new(), limits).unwrap(), b"done\n");
    thread::sleep(Duration::from_millis(1500));
    assert!(!folder.path().join("late").exists(), "the child has survived");
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_limit_holds_for_the_command_and_its_children() {
    // The shell reads 60 MB into a variable; the subshell is a child.
    let script = "read task; (x=$(head -c 60000000 /dev/zero | tr '\\0' x); echo ${#x})";
    let folder = tempfile::tempdir().unwrap();
    let with = |memory| {
        shell(script, folder.path()).run(b"go\n".to_vec(), Limits { memory, deadline: None })
    };
    assert_eq!(with(1 << 30).unwrap(), b"60000000\n");
    let error = with(32 << 20).unwrap_err();
    assert!(matches!(error.reason, Reason::Status { .. }), "{error}");
}

#[test]
fn the_fingerprint_depends_on_the_words_and_on_the_files_that_they_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("mine.sh", "one");
    file("other.txt", "one");
    let program = |words: &[&str]| {
        Program::new(&words.iter().map(ToString::to_string).collect::<Vec<_>>(), folder.path())
    };
    let of = |words: &[&str]| program(words).fingerprint(&["other.txt".into()]).unwrap();
    let first = of(&["sh", "mine.sh"]);
    assert_ne!(first, of(&["sh", "mine.sh", "x"]));
    file("mine.sh", "two");
    let second = of(&["sh", "mine.sh"]);
    assert_ne!(first, second);
    file("other.txt", "two");
    assert_ne!(second, of(&["sh", "mine.sh"]));
    assert!(program(&["sh"]).fingerprint(&["none.txt".into()]).is_err());
}

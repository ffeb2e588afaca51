//! `list`, and experiments that are inside the program.

use serde_json::Value;

use super::Session;

#[test]
fn lists_are_of_one_kind_or_of_one_name() {
    let session = Session::new();
    let all = session.run(["list"]).succeeds();
    let mechanisms = session.run(["list", "mechanisms"]).succeeds();
    assert!(all.starts_with(&mechanisms) && mechanisms.len() < all.len());
    assert!(mechanisms.contains("hdmm") && !mechanisms.contains("titanic"), "{mechanisms}");
    let hdmm = session.run(["list", "hdmm"]).succeeds();
    assert!(hdmm.contains("restarts = 25") && !hdmm.contains("laplace"), "{hdmm}");
    let text = session.run(["list", "mechanisms", "--json"]).succeeds();
    let listed: Vec<Value> = serde_json::from_str(&text).unwrap();
    let hdmm = listed.iter().find(|item| item["name"] == "hdmm").unwrap();
    assert_eq!((&hdmm["kind"], &hdmm["title"]), (&"mechanism".into(), &"HDMM".into()));
    assert!(hdmm["parameters"].as_array().unwrap().iter().any(|p| p["name"] == "restarts"));
    let text = session.run(["list", "titanic", "--json"]).succeeds();
    let listed: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!((listed.len(), &listed[0]["kind"]), (1, &"dataset".into()));
    session.run(["list", "hdm"]).refuses(&["nothing is called \"hdm\"", "did you mean hdmm?"]);
    session.run(["list", "zzzzzz"]).refuses(&["`pgmbench list` shows all names"]);
}

#[test]
fn experiments_of_the_program_run_from_any_folder() {
    let session = Session::new();
    let listed = session.run(["list", "experiments"]).succeeds();
    assert!(listed.contains("smoke") && listed.contains("fig1"), "{listed}");
    let plan = session.run(["plan", "smoke"]).succeeds();
    assert!(plan.contains("titanic"), "{plan}");
    let only = "mechanism=laplace";
    session.run(["run", "smoke", "--trials", "1", "--only", only]).works();
    assert!(session.path("results/smoke/trials.csv").exists());
    // A file of the user has precedence.
    std::fs::create_dir(session.path("configs")).unwrap();
    session.file("configs/smoke.toml", "name = \"smoke\"");
    session.run(["plan", "smoke"]).complains(&["configs/smoke.toml"]);
    session.run(["plan", "smok"]).complains(&[
        "there is no file configs/smok.toml, and no experiment of this name",
        "did you mean smoke?",
    ]);
}

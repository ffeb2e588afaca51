//! Errors of ResidualPlanner without data.

use super::Session;

#[test]
fn predictions_come_from_the_sizes_of_the_attributes_alone() {
    let session = Session::new();
    let words = ["predict", "--sizes", "100,50,7,4,2", "--ways", "0,1,2,3", "--add-remove"];
    let said = session.run(words).succeeds();
    for (workload, error, largest) in
        [("1-way", "1.744", "2.085"), ("3-way", "2.048", "2.776"), ("together", "2.276", "3.635")]
    {
        let line = said.lines().find(|line| line.starts_with(workload)).unwrap();
        let columns: Vec<&str> = line.split_whitespace().collect();
        assert_eq!((columns[3], columns[6]), (error, largest), "{line}");
    }
    assert!(session.files().is_empty());

    let words =
        ["predict", "titanic", "--ways", "1", "--epsilon", "1", "--delta", "1e-9", "--json"];
    let lines: serde_json::Value = serde_json::from_str(&session.run(words).succeeds()).unwrap();
    let [line] = &lines.as_array().unwrap()[..] else { panic!("{lines}") };
    assert_eq!(line["workload"], "1-way");
    assert!(line["least_sum"]["root_mean_squared_error"].as_f64().unwrap() > 1.0);
}

#[test]
fn predictions_of_nothing_are_refused() {
    let session = Session::new();
    let run = |words: &[&str]| session.run(words.iter().copied());
    run(&["predict"]).refuses(&["data set", "--sizes"]);
    run(&["predict", "--sizes", "1,1", "--ways", "1"]).refuses(&["two values"]);
    run(&["predict", "--sizes", "3,0"]).refuses(&["attribute 2", "at least one value"]);
    run(&["predict", "--sizes", "3,2", "--ways", "3"]).refuses(&["--ways 3", "2 attributes"]);
    run(&["predict", "--sizes", "3,2", "--ways", "1", "--epsilon", "1"]).complains(&["--delta"]);
    let sizes = vec!["2"; 60].join(",");
    run(&["predict", "--sizes", &sizes, "--ways", "30"]).refuses(&["--ways", "1000000"]);
}

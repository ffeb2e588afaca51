use super::{SHORT, parse};
use crate::config::ConfigError;

/// The shortest experiment with one piece of its text replaced.
fn with(piece: &str, replacement: &str) -> String {
    assert!(SHORT.contains(piece));
    SHORT.replacen(piece, replacement, 1)
}

/// The message, the place "line:column", the marked text and the help.
fn complaint(text: &str) -> [String; 4] {
    let Err(ConfigError::Invalid(mistake)) = parse(text) else { panic!("accepted:\n{text}") };
    let before = &mistake.text[..mistake.span.start];
    let line = before.matches('\n').count();
    let column = before.chars().rev().take_while(|&c| c != '\n').count();
    let marked = mistake.text[mistake.span.clone()].to_string();
    let place = format!("{}:{}", line + 1, column + 1);
    [mistake.message, place, marked, mistake.help.unwrap_or_default()]
}

#[test]
fn a_mistake_is_shown_with_its_line_and_what_would_be_right() {
    let error = parse(&with("epsilon = 1", "epsilon = 1\ntrials = 0")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "trials = 0 is out of range
 --> configs/mine.toml:3:10
  |
3 | trials = 0
  |          ^
  |
  = help: trials is a whole number from 1 to 1000000000"
    );
    assert_eq!(error.render(false), error.to_string());
    let coloured = error.render(true);
    assert!(coloured.contains("\u{1b}[") && coloured.contains("trials = 0"));
}

#[test]
fn probabilities_of_error_bars_are_between_0_and_1() {
    for (written, message) in [
        ("coverage = 95", "coverage = 95 is out of range"),
        ("coverage = 0", "coverage = 0 is out of range"),
        ("coverage = nan", "coverage = NaN is out of range"),
        ("coverage = 0.95\nreplicates = 1", "replicates = 1 is out of range"),
    ] {
        let text = format!("{SHORT}[evaluation]\n{written}\n");
        assert_eq!(complaint(&text)[0], message);
    }
}

#[test]
fn unknown_settings_and_choices_are_compared_with_those_that_exist() {
    let all = "name, title, document, kind, trials, seed, epsilon, delta, datasets, public, \
               neighbours, noise, workload, sweep, estimation, limits, evaluation, mechanism, \
               estimator, scaling, figure, quick, claim";
    assert_eq!(
        parse(&with("epsilon", "epsilom")).unwrap_err().to_string(),
        format!(
            "there is no setting `epsilom` here
 --> configs/mine.toml:2:1
  |
2 | epsilom = 1
  | ^^^^^^^
  |
  = help: did you mean `epsilon`? Allowed: {all}"
        )
    );
    let cases = [
        (
            "\n[estimation]\nalgorithm = \"accelerate\"",
            [
                "\"accelerate\" is not a choice here",
                "5:13",
                "\"accelerate\"",
                "did you mean `accelerated`? Allowed: auto, mirror, dual-averaging, accelerated, \
                 lbfgs",
            ],
        ),
        (
            "\n[estimation]\nalgorithm = \"accelerated\"\nconstant = \"fast\"",
            [
                "\"fast\" is not a choice here",
                "6:12",
                "\"fast\"",
                "allowed: adaptive, smoothness, spectral",
            ],
        ),
        (
            "\n[estimation]\nalgorithm = \"mirror\"\nstep = { decrease = 1 }",
            [
                "there is no setting `decrease` here",
                "6:10",
                "decrease",
                "allowed: decreasing, inverse-root",
            ],
        ),
        (
            "\n[workload]\ntriples = []",
            [
                "there is no setting `triples` here",
                "5:1",
                "triples",
                "allowed: marginals, every, target, random, prefix, published, origin, queries",
            ],
        ),
    ];
    for (section, expected) in cases {
        assert_eq!(complaint(&with("[\"adult\"]", &format!("[\"adult\"]{section}"))), expected);
    }
    let arm = "\"hdmm\"\narms = [{ estimator = \"pgm\", estimation = { loss = \"l3\" } }]";
    assert_eq!(
        complaint(&with("\"hdmm\"", arm)),
        ["\"l3\" is not a choice here", "6:52", "\"l3\"", "did you mean `l1`? Allowed: l1, l2"]
    );
}

#[test]
fn a_setting_of_the_whole_file_in_a_section_is_moved_up() {
    let section = "[\"adult\"]\n[workload]\ntrials = 3";
    let expected = [
        "there is no setting `trials` here",
        "5:1",
        "trials",
        "`trials` is a setting of the whole file: write it above the first [section]",
    ];
    assert_eq!(complaint(&with("[\"adult\"]", section)), expected);
}

#[test]
fn wrong_types_are_named_in_the_words_of_the_file() {
    let bytes = "expected a number of bytes such as 500000000, 500MB or 2GiB, but found";
    let cases = [
        (
            "= 1",
            "= \"one\"",
            "expected a number or a list of numbers, but found \"one\"",
            "\"one\"",
        ),
        ("= 1", "= [1, \"x\"]", "expected a number, but found \"x\"", "\"x\""),
        (
            "= 1",
            "= 1\ntrials = 2.5",
            "expected a whole number that is not negative, but found 2.5",
            "2.5",
        ),
        (
            "= 1",
            "= 1\nseed = -3",
            "expected a whole number that is not negative, but found -3",
            "-3",
        ),
        ("= 1", "= 1\nneighbours = 3", "expected a string", "3"),
        ("\"adult\"", "\"adult\", 3", "expected a name or a table, but found 3", "3"),
        ("[\"adult\"]", "\"adult\"", "expected a list, but found \"adult\"", "\"adult\""),
        ("\"adult\"", "{ name = 3 }", "expected a string, but found 3", "3"),
        ("\"adult\"", "{ schema = \"a\" }", "`name` is missing", "{ schema = \"a\" }"),
        ("[[mechanism]]", "[mechanism]", "expected a list, but found a table", "[mechanism]"),
        ("name = \"hdmm\"", "arms = []", "`name` is missing", "[[mechanism]]"),
        ("[[", "[limits]\nmemory = \"4 Gig\"\n[[", &format!("{bytes} \"4 Gig\""), "\"4 Gig\""),
        ("[[", "[limits]\nmemory = 0\n[[", &format!("{bytes} 0"), "0"),
        ("[[", "[limits]\nmemory = true\n[[", &format!("{bytes} true"), "true"),
    ];
    for (piece, replacement, message, marked) in cases {
        let [found, _, place, _] = complaint(&with(piece, replacement));
        assert_eq!((found.as_str(), place.as_str()), (message, marked));
    }
}

#[test]
fn values_out_of_range_empty_lists_and_repetitions_are_refused() {
    let cases = [
        (
            "\"mine\"",
            "\"My Experiment\"",
            "\"My Experiment\" cannot be a name",
            "\"My Experiment\"",
        ),
        ("\"mine\"", "\"\"", "\"\" cannot be a name", "\"\""),
        ("= 1", "= [1, -0.5]", "epsilon = -0.5 is out of range", "-0.5"),
        ("= 1", "= inf", "epsilon = inf is out of range", "inf"),
        ("= 1", "= nan", "epsilon = NaN is out of range", "nan"),
        ("= 1", "= []", "`epsilon` is empty", "[]"),
        ("= 1", "= [1, 2, 1.0]", "`epsilon` has 1 twice", "1.0"),
        ("= 1", "= 1\ndelta = 1", "delta = 1 is out of range", "1"),
        ("= 1", "= 1\ndelta = 0.0", "delta = 0 is out of range", "0.0"),
        ("\"adult\"", "", "`datasets` is empty", "[]"),
        ("\"adult\"", "\"a\", { name = \"a\" }", "`datasets` has a twice", "\"a\""),
        ("\"hdmm\"", "\"hdmm\"\narms = []", "`arms` is empty", "[]"),
        ("\"hdmm\"", "\"hdmm\"\narms = ['pgm', 'pgm']", "`arms` has pgm twice", "'pgm'"),
        (
            "\"hdmm\"",
            "\"hdmm\"\n[[mechanism]]\nname = 'hdmm'",
            "`mechanism` has hdmm twice",
            "'hdmm'",
        ),
        ("[[", "[estimation]\niterations = 0\n[[", "iterations = 0 is out of range", "0"),
        ("[[", "[estimation]\ngap = -1\n[[", "gap = -1 is out of range", "-1"),
        (
            "[[",
            "[estimation]\nalgorithm = \"mirror\"\nstep = { decreasing = 0 }\n[[",
            "step = 0 is out of range",
            "{ decreasing = 0 }",
        ),
        (
            "[[",
            "[estimation]\nalgorithm = \"accelerated\"\nconstant = -2\n[[",
            "constant = -2 is out of range",
            "-2",
        ),
        ("[[", "[limits]\nseconds = 0\n[[", "seconds = 0 is out of range", "0"),
        ("[[", "[workload]\nmarginals = []\n[[", "`marginals` is empty", "[]"),
        ("[[", "[workload]\nmarginals = [['a', 'a']]\n[[", "`marginals` has a twice", "'a'"),
        ("[[", "[workload]\nprefix = ['a', 'a']\n[[", "`prefix` has a twice", "'a'"),
        (
            "[[",
            "[workload]\nrandom = { marginals = 0, size = 3 }\n[[",
            "marginals = 0 is out of range",
            "0",
        ),
        (
            "[[",
            "[workload]\nrandom = { marginals = 2, size = 3, draws = 0 }\n[[",
            "draws = 0 is out of range",
            "0",
        ),
        (
            "[[",
            "[workload]\nrandom = { marginals = 2, size = 3, queries_within = 0.9 }\n[[",
            "`queries_within` is 0.9, which is not a factor above 1",
            "0.9",
        ),
        (
            "[[",
            "[workload]\nrandom = { marginals = 2, size = 3, skewed = true, queries_within = 2.5 \
             }\n[[",
            "`queries_within` chooses among all draws alike, and `skewed` does not",
            "2.5",
        ),
        ("[[", "[workload]\nevery = 0\n[[", "every = 0 is out of range", "0"),
        (
            "[[",
            "[workload]\ntarget = 'income'\n[[",
            "`target` restricts `every`, which is missing",
            "'income'",
        ),
        (
            "\"adult\"",
            "{ name = 'a', chain = { attributes = 0, records = 9 } }",
            "attributes = 0 is out of range",
            "{ attributes = 0, records = 9 }",
        ),
        (
            "\"adult\"",
            "{ name = 'a', chain = { attributes = 3, records = 9, flips = 2 } }",
            "flips = 2 is out of range",
            "{ attributes = 3, records = 9, flips = 2 }",
        ),
        (
            "\"adult\"",
            "{ name = 'A B', chain = { attributes = 3, records = 9 } }",
            "\"A B\" cannot be a name of a data set",
            "'A B'",
        ),
        ("[[", "[quick]\ntrials = 0\n[[", "trials = 0 is out of range", "0"),
        ("[[", "[quick]\ngap = -1\n[[", "gap = -1 is out of range", "-1"),
    ];
    for (piece, replacement, message, marked) in cases {
        let [found, _, place, _] = complaint(&with(piece, replacement));
        assert_eq!((found.as_str(), place.as_str()), (message, marked));
    }
}

#[test]
fn settings_that_exclude_each_other_are_refused() {
    let cases = [
        ("epsilon = 1\n", "", "`epsilon` is missing", "\"mine\""),
        ("[[mechanism]]\nname = \"hdmm\"", "", "`mechanism` is missing", "\"mine\""),
        (
            "\"mine\"",
            "\"mine\"\nkind = \"datasets\"",
            "`epsilon` has no meaning for kind = \"datasets\"",
            "1",
        ),
        (
            "[[",
            "[scaling]\nattributes = [3]\narms = ['pgm']\n[[",
            "`scaling` has no meaning for kind = \"mechanisms\"",
            "[scaling]",
        ),
        (
            "[[",
            "[estimation]\nconstant = \"spectral\"\n[[",
            "`constant` is a setting of the algorithms dual-averaging and accelerated",
            "\"spectral\"",
        ),
        (
            "[[",
            "[estimation]\nalgorithm = \"accelerated\"\nstep = 0.5\n[[",
            "`step` is a setting of the algorithm mirror",
            "0.5",
        ),
        (
            "\"hdmm\"",
            "\"hdmm\"\narms = [{ estimator = 'pgm', estimation = { step = 1 } }]",
            "`step` is a setting of the algorithm mirror",
            "1",
        ),
        (
            "[[",
            "[workload]\nmarginals = [['a']]\nrandom = { marginals = 1, size = 1 }\n[[",
            "a workload has one of `marginals`, `every` and `random`, not several",
            "{ marginals = 1, size = 1 }",
        ),
        (
            "[[",
            "[workload]\nevery = 2\nqueries = ['identity']\n[[",
            "a workload has either `queries` or marginals, not both",
            "2",
        ),
        (
            "\"adult\"",
            "{ name = 'a', bins = 3, chain = { attributes = 3, records = 9 } }",
            "records that are drawn from a chain are taken as they are drawn: its own settings are \
             `chain.attributes` and `chain.records`",
            "3",
        ),
        ("[[", "[figure]\nkind = \"traces\"\n[[", "no traces are recorded", "\"traces\""),
        (
            "[[",
            "[figure]\nkind = \"epsilon\"\n[[",
            "there is only one epsilon to show",
            "\"epsilon\"",
        ),
        (
            "[[",
            "[figure]\nkind = \"scaling\"\n[[",
            "kind = \"mechanisms\" has no such figure",
            "\"scaling\"",
        ),
        ("= 1", "= [1, 2]\nfigure = { kind = \"bars\" }", "bars show a single epsilon", "\"bars\""),
        (
            "= 1",
            "= 1\npublic = [0, 1]\nfigure = { kind = \"bars\" }",
            "this figure shows a single case, and each of the queries and public orders is one",
            "\"bars\"",
        ),
        (
            "[[",
            "[workload]\nqueries = ['identity', 'all-ranges']\n[figure]\nkind = \"records\"\n[[",
            "this figure shows a single case, and each of the queries and public orders is one",
            "\"records\"",
        ),
        (
            "= 1",
            "= 1\npublic = [0, 1]\nfigure = { kind = \"sizes\" }",
            "this figure shows a single public order",
            "\"sizes\"",
        ),
        (
            "[[",
            "[quick]\nattributes = [3]\n[[",
            "kind = \"mechanisms\" has no such setting to change",
            "[3]",
        ),
    ];
    for (piece, replacement, message, marked) in cases {
        let [found, _, place, _] = complaint(&with(piece, replacement));
        assert_eq!((found.as_str(), place.as_str()), (message, marked));
    }
}

#[test]
fn a_table_of_data_has_no_estimates_for_a_quick_run_to_change() {
    for (setting, marked) in [("algorithm = 'auto'", "'auto'"), ("gap = 1", "1")] {
        let text =
            format!("name = 'd'\nkind = 'datasets'\ndatasets = ['adult']\n[quick]\n{setting}\n");
        let [message, _, place, help] = complaint(&text);
        assert_eq!(message, "kind = \"datasets\" has no such setting to change");
        assert_eq!(place, marked);
        assert!(help.contains("algorithm and gap for kind mechanisms or scaling"), "{help}");
    }
}

#[test]
fn spellings_of_earlier_releases_are_refused_with_those_of_today() {
    let section = |settings: &str| with("[[", &format!("[estimation]\n{settings}\n[["));
    let spectral = "algorithm = \"accelerated\"\nconstant = \"spectral\"";
    assert_eq!(
        complaint(&section(spectral)),
        [
            "the constant spectral is one of the algorithm dual-averaging",
            "6:12",
            "\"spectral\"",
            "write dual-averaging for the algorithm",
        ]
    );
    assert_eq!(
        complaint(&section("loss = \"auto\"")),
        ["\"auto\" is no longer a loss; write l2", "5:8", "\"auto\"", ""]
    );
    assert_eq!(
        complaint(&section("algorithm = \"mirror\"\nstep = \"search\"")),
        ["\"search\" is no longer a step; write line-search", "6:8", "\"search\"", ""]
    );
}

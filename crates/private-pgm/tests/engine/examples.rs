//! The examples run. They name files from the root of the repository.

fn at_the_root() {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
}

mod estimate {
    include!("../../examples/estimate.rs");

    #[test]
    fn the_example_of_the_readme_runs() {
        super::at_the_root();
        main().unwrap();
    }
}

mod measurements {
    include!("../../examples/measurements.rs");

    #[test]
    fn the_example_with_measurements_in_code_runs() {
        main().unwrap();
    }
}

mod warm_start {
    include!("../../examples/warm_start.rs");

    #[test]
    fn the_example_with_a_warm_start_runs() {
        main().unwrap();
    }
}

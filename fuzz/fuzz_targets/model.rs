#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pgmbench_fuzz::model(bytes));

//! Fuzzing with a stable compiler: `cargo run --release -- TARGET --seconds 5`, or `all`.
//!
//! Seeds are mutated at random; nothing is learned from which code they reach, so that `cargo fuzz`
//! goes deeper. A finding is written to `findings/` and ends the run; once repaired, it belongs to
//! `corpus/`, with the inputs that were made to do harm.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, panic};

use pgmbench_fuzz::{TARGETS, Target, corpus, seeds};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A reader that takes longer for some kilobytes hangs.
const SLOW: Duration = Duration::from_secs(5);

/// Inputs do not grow past this.
const LONGEST: usize = 1 << 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let usage = || {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("usage: drive TARGET|all [--seconds N] [--seed S]\n       drive TARGET FILE");
        eprintln!("targets: {}", names.join(", "));
        ExitCode::from(2)
    };
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let Some(name) = arguments.first() else { return usage() };
    let chosen: Vec<&Target> =
        TARGETS.iter().filter(|target| name == "all" || name == target.name).collect();
    if chosen.is_empty() {
        return usage();
    }
    if let Some(file) = arguments.get(1).filter(|argument| !argument.starts_with("--")) {
        let bytes = fs::read(file).expect("the file");
        for target in chosen {
            println!("{}: accepted: {}", target.name, (target.read)(&bytes));
        }
        return ExitCode::SUCCESS;
    }
    let seconds = Duration::from_secs(option("--seconds").unwrap_or(5));
    let mut rng = ChaCha8Rng::seed_from_u64(option("--seed").unwrap_or(1));
    // Findings are told below, with their input.
    panic::set_hook(Box::new(|_| {}));
    let ok = chosen.iter().all(|target| drive(target, seconds, &mut rng));
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether nothing was found.
fn drive(target: &Target, seconds: Duration, rng: &mut ChaCha8Rng) -> bool {
    let accepted_seeds = seeds(target).len() as u64;
    let seeds: Vec<Vec<u8>> = seeds(target).into_iter().chain(corpus(target)).collect();
    let words = words(&seeds);
    let began = Instant::now();
    let (mut inputs, mut accepted) = (0u64, 0u64);
    while began.elapsed() < seconds || inputs < seeds.len() as u64 {
        // The seeds themselves come first, then the corpus.
        let input = match seeds.get(inputs as usize) {
            Some(seed) => seed.clone(),
            None => mutated(&seeds, &words, rng),
        };
        inputs += 1;
        let start = Instant::now();
        let result = panic::catch_unwind(|| (target.read)(&input));
        let problem = match result {
            Err(panic) => panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
                .unwrap_or("a panic".into()),
            Ok(_) if start.elapsed() > SLOW => format!("took {:?}", start.elapsed()),
            // What is refused from the start leads nowhere.
            Ok(false) if inputs <= accepted_seeds => "a seed is refused".into(),
            Ok(read) => {
                accepted += u64::from(read);
                continue;
            }
        };
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("findings");
        let file = path.join(format!("{}-{}", target.name, &blake3::hash(&input).to_hex()[..12]));
        fs::create_dir_all(&path).and_then(|()| fs::write(&file, &input)).expect("the finding");
        println!("{}: {problem}\n  input in {}", target.name, file.display());
        return false;
    }
    println!("{}: {inputs} inputs, {accepted} of them accepted, nothing found", target.name);
    true
}

/// Words and numbers of the seeds, and numbers that are at the edge of something.
fn words(seeds: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let edges = "0 -1 1 -0.0 1e308 -1e308 1e-320 NaN nan inf 4294967296 9223372036854775807 \
                 18446744073709551615 18446744073709551616 [] {} \"\" , null true";
    let mut words: Vec<Vec<u8>> = edges.split(' ').map(|edge| edge.as_bytes().to_vec()).collect();
    for seed in seeds {
        let pieces = seed.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        words.extend(pieces.filter(|piece| (1..30).contains(&piece.len())).map(<[u8]>::to_vec));
    }
    words.sort();
    words.dedup();
    words
}

fn mutated(seeds: &[Vec<u8>], words: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = seeds[rng.random_range(0..seeds.len())].clone();
    for _ in 0..rng.random_range(1..=6) {
        let from = rng.random_range(0..=bytes.len());
        let longest = if rng.random_range(0..4) == 0 { bytes.len() - from } else { 24 };
        let to = (from + rng.random_range(0..=longest)).min(bytes.len());
        let piece: Vec<u8> = match rng.random_range(0..7) {
            0 => Vec::new(),
            1 => vec![rng.next_u32() as u8],
            2 => words[rng.random_range(0..words.len())].clone(),
            3 => {
                let other = &seeds[rng.random_range(0..seeds.len())];
                let start = rng.random_range(0..=other.len());
                let end = rng.random_range(start..=other.len());
                other[start..end].to_vec()
            }
            4 => bytes[from..to].repeat(2),
            5 => rng.next_u64().to_le_bytes().to_vec(),
            _ => {
                // The number or word that is here, for another.
                let word =
                    |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.' || *byte == b'-';
                let length = bytes[from..].iter().take_while(|byte| word(byte)).count();
                let new = words[rng.random_range(0..words.len())].clone();
                bytes.splice(from..from + length, new);
                continue;
            }
        };
        bytes.splice(from..to, piece);
        bytes.truncate(LONGEST);
    }
    bytes
}

use std::env::consts;
use std::fs;
use std::thread;

use serde::{Deserialize, Serialize};

/// The machine that a run was on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The operating system: its name and, if available, release and kernel.
    pub os: String,
    /// The architecture that the program was compiled for.
    pub architecture: String,
    /// The processor's model; the architecture if it is not available.
    pub cpu: String,
    /// The instruction sets of the processor, among those that kernels are compiled for.
    pub cpu_features: Vec<String>,
    pub available_threads: usize,
}

impl Machine {
    /// The machine of this process.
    pub fn here() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let release = field(&read("/etc/os-release"), "PRETTY_NAME", '=');
        let kernel = read("/proc/sys/kernel/osrelease");
        let os = [Some(consts::OS.into()), release, Some(kernel.trim().into())];
        let os: Vec<String> = os.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        Self {
            os: os.join(", "),
            architecture: consts::ARCH.into(),
            cpu: field(&read("/proc/cpuinfo"), "model name", ':')
                .unwrap_or_else(|| consts::ARCH.into()),
            cpu_features: cpu_features().into_iter().map(String::from).collect(),
            available_threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The value of the first line `name<separator>value`, without quotation marks.
fn field(text: &str, name: &str, separator: char) -> Option<String> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(separator));
    let (_, value) = pairs.find(|(found, _)| found.trim() == name)?;
    Some(value.trim().trim_matches('"').to_string())
}

#[cfg(target_arch = "x86_64")]
fn cpu_features() -> Vec<&'static str> {
    let features = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
    ];
    features.into_iter().filter(|&(_, has)| has).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_features() -> Vec<&'static str> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t\t: 85\nmodel name\t: A Processor @ 2 GHz\nmodel name\t: another\n";
        assert_eq!(field(text, "model name", ':').as_deref(), Some("A Processor @ 2 GHz"));
        assert_eq!(field("NAME=\"An OS\"\n", "NAME", '=').as_deref(), Some("An OS"));
        assert_eq!(field(text, "name", ':'), None);
    }

    #[test]
    fn a_machine_always_says_something() {
        let machine = Machine::here();
        assert!(!machine.os.is_empty() && !machine.cpu.is_empty());
        assert!(machine.available_threads > 0);
    }
}

use std::fs;

/// The peak resident memory of this process in bytes. On Linux only (`VmHWM` in
/// `/proc/self/status`).
pub(crate) fn peak_bytes() -> Option<u64> {
    peak_in(&fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_found_among_other_lines() {
        let status = "Name:\tpgmbench\nVmPeak:\t  9000 kB\nVmHWM:\t    1234 kB\nThreads:\t1\n";
        assert_eq!(peak_in(status), Some(1234 * 1024));
        assert_eq!(peak_in("Name:\tpgmbench\n"), None);
    }
}

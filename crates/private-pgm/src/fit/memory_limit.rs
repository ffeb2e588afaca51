/// What is assumed where the system does not say: 4 GiB.
const FALLBACK: u64 = 4 << 30;

/// Half of the memory that the machine has.
pub fn default_memory_limit() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    total_bytes(&text).map_or(FALLBACK, |bytes| bytes / 2)
}

fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_and_nonsense_is_not() {
        assert_eq!(total_bytes("MemTotal:       16 kB\nMemFree: 3 kB\n"), Some(16 * 1024));
        assert_eq!(total_bytes("MemTotal: plenty\n"), None);
        assert_eq!(total_bytes(""), None);
    }
}

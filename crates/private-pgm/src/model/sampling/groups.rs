use super::clique_conditional::CliqueConditional;

/// The records, sorted by their values on a separator and split into groups of equal values.
pub(super) struct SeparatorGroups {
    /// Each record's separator values, encoded as one number.
    keys: Vec<usize>,
    order: Vec<usize>,
    /// The number of records in the groups that were returned.
    done: usize,
}

impl SeparatorGroups {
    pub(super) fn new(
        conditional: &CliqueConditional,
        columns: &[Vec<u32>],
        records: usize,
    ) -> Self {
        let (keys, keys_end) = conditional.keys(columns, records);
        // Counting sort takes memory for every key. Both sorts are stable: the order is the same.
        let order = if keys_end <= 4 * records + 1024 {
            counting_sort(&keys, keys_end)
        } else {
            let mut order: Vec<usize> = (0..records).collect();
            order.sort_by_key(|&record| keys[record]);
            order
        };
        Self { keys, order, done: 0 }
    }

    /// The records of the next group, at least one; `None` after the last group.
    pub(super) fn next_group(&mut self) -> Option<&mut [usize]> {
        let rest = &mut self.order[self.done..];
        let key = self.keys[*rest.first()?];
        let length = rest.iter().take_while(|&&record| self.keys[record] == key).count();
        self.done += length;
        Some(&mut rest[..length])
    }
}

fn counting_sort(keys: &[usize], keys_end: usize) -> Vec<usize> {
    let mut starts = vec![0; keys_end];
    keys.iter().for_each(|&key| starts[key] += 1);
    let mut start = 0;
    for count in &mut starts {
        start += std::mem::replace(count, start);
    }
    let mut order = vec![0; keys.len()];
    for (record, &key) in keys.iter().enumerate() {
        order[starts[key]] = record;
        starts[key] += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_sort_is_stable() {
        let keys = [3, 1, 0, 3, 1, 1];
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&record| keys[record]);
        assert_eq!(counting_sort(&keys, 5), order);
        assert!(counting_sort(&[], 1).is_empty());
    }
}

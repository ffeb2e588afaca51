use private_pgm::domain::{AttributeId, Domain};

/// The values of an attribute that satisfy a condition, in ascending order.
type Restriction = (AttributeId, Vec<usize>);

/// The records whose attributes have one of the listed values each; all records if there is none.
pub(crate) type Block = Vec<Restriction>;

/// A condition on a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Formula {
    /// The attribute has one of the values.
    Among(Restriction),
    /// All hold; true if there are none.
    All(Vec<Formula>),
    /// At least one holds; false if there are none.
    Any(Vec<Formula>),
}

impl Formula {
    /// Disjoint blocks whose union is the set of records that satisfy the formula; `None` if there
    /// are more than `most`.
    ///
    /// A case distinction: values of one attribute that leave the same formula about the others are
    /// one case. Cases differ in that attribute, so their blocks are disjoint, and counts of them
    /// add up.
    pub(super) fn blocks(&self, domain: &Domain, most: usize) -> Option<Vec<Block>> {
        let mut blocks = Vec::new();
        self.knowing(None).split(domain, &mut Block::new(), &mut blocks, most).then_some(blocks)
    }

    /// Whether there were at most `most` blocks.
    fn split(
        &self,
        domain: &Domain,
        fixed: &mut Block,
        blocks: &mut Vec<Block>,
        most: usize,
    ) -> bool {
        let Some(id) = self.first() else {
            if self.is_true() {
                blocks.push(fixed.clone());
            }
            return blocks.len() <= most;
        };
        let mut cases: Vec<(Formula, Vec<usize>)> = Vec::new();
        for value in 0..domain.size(id) {
            let left = self.knowing(Some((id, value)));
            match cases.iter_mut().find(|(known, _)| *known == left) {
                Some((_, values)) => values.push(value),
                None => cases.push((left, vec![value])),
            }
        }
        cases.into_iter().all(|(left, values)| {
            fixed.push((id, values));
            let is_done = left.split(domain, fixed, blocks, most);
            fixed.pop();
            is_done
        })
    }

    /// The attribute of the first comparison; `None` if the formula is true or false.
    fn first(&self) -> Option<AttributeId> {
        match self {
            Self::Among((id, _)) => Some(*id),
            Self::All(parts) | Self::Any(parts) => parts.iter().find_map(Self::first),
        }
    }

    fn is_true(&self) -> bool {
        matches!(self, Self::All(parts) if parts.is_empty())
    }

    fn is_false(&self) -> bool {
        matches!(self, Self::Any(parts) if parts.is_empty())
    }

    /// What remains for a record with this value. True and false parts are resolved.
    fn knowing(&self, value: Option<(AttributeId, usize)>) -> Self {
        let known = |parts: &[Self]| parts.iter().map(|part| part.knowing(value)).collect();
        match self {
            Self::Among((id, values)) => match value {
                Some((other, value)) if other == *id => match values.contains(&value) {
                    true => Self::All(Vec::new()),
                    false => Self::Any(Vec::new()),
                },
                _ => self.clone(),
            },
            Self::All(parts) => {
                let mut left: Vec<Self> = known(parts);
                left.retain(|part| !part.is_true());
                match left.iter().any(Self::is_false) {
                    true => Self::Any(Vec::new()),
                    false => Self::All(left),
                }
            }
            Self::Any(parts) => {
                let mut left: Vec<Self> = known(parts);
                left.retain(|part| !part.is_false());
                match left.iter().any(Self::is_true) {
                    true => Self::All(Vec::new()),
                    false => Self::Any(left),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZES: [usize; 3] = [2, 3, 4];

    fn domain() -> Domain {
        Domain::new([("a", SIZES[0]), ("b", SIZES[1]), ("c", SIZES[2])]).unwrap()
    }

    /// The definition.
    fn holds(formula: &Formula, record: [usize; 3]) -> bool {
        match formula {
            Formula::Among((id, values)) => values.contains(&record[id.index()]),
            Formula::All(parts) => parts.iter().all(|part| holds(part, record)),
            Formula::Any(parts) => parts.iter().any(|part| holds(part, record)),
        }
    }

    fn formulas() -> impl Strategy<Value = Formula> {
        let ids: Vec<AttributeId> = domain().ids().collect();
        let among = (0..3usize, prop::collection::btree_set(0..4usize, 0..4));
        let leaf = among.prop_map(move |(place, values)| {
            let values = values.into_iter().filter(|&value| value < SIZES[place]).collect();
            Formula::Among((ids[place], values))
        });
        leaf.prop_recursive(4, 24, 3, |inner| {
            let parts = prop::collection::vec(inner, 0..4);
            prop_oneof![parts.clone().prop_map(Formula::All), parts.prop_map(Formula::Any)]
        })
    }

    proptest! {
        #[test]
        fn each_record_that_satisfies_the_formula_is_in_one_block_and_no_other_is(
            formula in formulas(),
        ) {
            let blocks = formula.blocks(&domain(), usize::MAX).unwrap();
            for cell in 0..SIZES.iter().product() {
                let record = [cell / 12, cell / 4 % 3, cell % 4];
                let is_in = |block: &&Block| {
                    block.iter().all(|(id, values)| values.contains(&record[id.index()]))
                };
                let found = blocks.iter().filter(is_in).count();
                prop_assert_eq!(found, usize::from(holds(&formula, record)), "{:?}", blocks);
            }
        }
    }

    #[test]
    fn too_many_blocks_are_given_up() {
        let domain = domain();
        let ids: Vec<AttributeId> = domain.ids().collect();
        let among = |place: usize| Formula::Among((ids[place], vec![1]));
        let formula = Formula::Any(vec![among(0), among(1), among(2)]);
        assert_eq!(formula.blocks(&domain, 3).unwrap().len(), 3);
        assert_eq!(formula.blocks(&domain, 2), None);
    }
}

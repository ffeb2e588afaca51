use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::Deserialize;

use super::sensitivity;
use crate::mechanism::MechanismError;
use crate::postprocess::htree::HTree;
use crate::postprocess::tree::{Tree, TreeError};
use dp::{Neighbours, SeedPath};

/// The largest branching factor that is tried. Our choice: the error increases beyond it (Qardaji,
/// Yang, Li, PVLDB 2013, find 8 to 16 best for ranges).
const MOST: usize = 64;
/// Random ranges by which a tree is evaluated. Our choice.
const RANGES: usize = 64;

/// The number of children of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) enum Branching {
    Fixed(usize),
    /// The best for HTree by the expected squared error over random ranges. It depends on the
    /// number of leaves and not on the counts, so it costs no privacy.
    Auto,
}

impl TryFrom<toml::Value> for Branching {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let number = value.as_integer().and_then(|number| usize::try_from(number).ok());
        match (number, value.as_str()) {
            (Some(number), _) if number >= 2 => Ok(Self::Fixed(number)),
            (_, Some("auto")) => Ok(Self::Auto),
            _ => Err(format!("branching: expected at least 2, or \"auto\", found {value}")),
        }
    }
}

impl Branching {
    pub(super) fn tree(
        self,
        leaves: usize,
        neighbours: Neighbours,
    ) -> Result<Tree, MechanismError> {
        let branching = match self {
            Self::Fixed(branching) => branching,
            Self::Auto => best(leaves, neighbours)?,
        };
        Ok(Tree::new(branching, leaves)?)
    }
}

/// Computed once per process and arguments.
fn best(leaves: usize, neighbours: Neighbours) -> Result<usize, MechanismError> {
    type Cache = HashMap<(usize, bool), Arc<OnceLock<usize>>>;
    static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);
    let known = {
        let mut all = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry((leaves, neighbours == Neighbours::Replace)).or_default())
    };
    if let Some(&branching) = known.get() {
        return Ok(branching);
    }
    let path = SeedPath::new("branching", leaves);
    let mut rng = ChaCha20Rng::from_seed(path.seed());
    let ranges: Vec<(usize, usize)> = (0..RANGES.min(leaves * leaves))
        .map(|_| {
            let (a, b) = (rng.random_range(0..leaves), rng.random_range(0..leaves));
            (a.min(b), a.max(b) + 1)
        })
        .collect();
    let mut best = (f64::INFINITY, 2);
    for branching in 2..=MOST.min(leaves.max(2)) {
        let tree = Tree::new(branching, leaves)?;
        let noise = sensitivity(&tree, neighbours)?.get();
        let htree = HTree::new(tree);
        let mut error = 0.0;
        for &range in &ranges {
            error += noise * noise * range_variance(&htree, range)?;
        }
        if error < best.0 {
            best = (error, branching);
        }
    }
    Ok(*known.get_or_init(|| best.1))
}

/// The variance of a range in units of the variance of a node: q^T (A^T A)^-1 q, where A has a row
/// per node. Least squares maps the answers y to (A^T A)^-1 A^T y, and A^T y = q for the y that is
/// q on the leaves and 0 above.
pub(super) fn range_variance(
    htree: &HTree,
    (start, end): (usize, usize),
) -> Result<f64, TreeError> {
    let above = htree.tree().nodes() - htree.tree().leaves();
    let mut nodes = vec![0.0; htree.tree().nodes()];
    nodes[above + start..above + end].fill(1.0);
    let projected = htree.project(&nodes)?;
    Ok(projected[above + start..above + end].iter().sum())
}

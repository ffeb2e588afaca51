//! Bugs of mechanisms that choose what they measure.

use dp::Neighbours::{AddRemove, Replace};

use super::Defence::{Ledger, Sensitivity, Taint};
use super::{Bug, RELEASE, bug};

pub(super) const CHOICES: &[Bug] = &[
    bug(
        "mwem-charges-one-round",
        "rounds after the first are not paid for",
        Ledger("mwem", AddRemove),
    ),
    bug(
        "mwem-stops-by-the-truth",
        "the number of rounds depends on true answers",
        Taint("mwem", Replace),
    ),
    bug(
        "mwem-drops-queries-without-records",
        "queries that count no record are no candidates",
        Taint("mwem", AddRemove),
    ),
    bug(
        "mwem-half-the-temperature",
        "scores are doubled and their sensitivity is not",
        Sensitivity("mwem", Replace),
    ),
    bug("mwem-selections-unpaid", "choices are paid from another budget", Ledger("mwem", Replace)),
    bug(
        "mwem-takes-the-worst",
        "the query with the largest error is taken",
        Taint("mwem", Replace),
    ),
    bug(
        "mwem-publishes-true-answers",
        "answers are published without their noise",
        Taint("mwem", Replace),
    ),
    bug(
        "records-counted-unpaid",
        "the number of records is measured without paying",
        Ledger("mwem", AddRemove),
    ),
    bug(
        "mwem-pgm-scores-as-added",
        "the score's sensitivity of an added record for a replaced one",
        Sensitivity("mwem-pgm", Replace),
    ),
    bug(
        "mwem-pgm-stops-by-the-truth",
        "the number of rounds depends on true distances",
        Taint("mwem-pgm", AddRemove),
    ),
    bug(
        "marginal-chosen-without-paying",
        "the marginal with the largest score is taken",
        Taint("mwem-pgm", Replace),
    ),
    bug(
        "candidates-by-the-data",
        "marginals with an empty cell are no candidates",
        Taint("aim", Replace),
    ),
    bug(
        "distances-as-added",
        "the sensitivity of distances of an added record for a replaced one",
        Sensitivity("aim", Replace),
    ),
    bug(
        "pmw-uses-the-true-number-of-records",
        "the true number of records where it is private",
        Taint("pmw", AddRemove),
    ),
    bug(
        "pmw-half-the-temperature",
        "half of the score's sensitivity",
        Sensitivity("pmw-delta", AddRemove),
    ),
    bug("pmw-checks-unpaid", "checks are paid from another budget", Ledger("pmw", Replace)),
    bug("pmw-stops-by-the-truth", "the check uses the true answer", Taint("pmw-stopping", Replace)),
    bug(
        "pmw-negation-counts-twice",
        "twice the count of a negated query is measured",
        Sensitivity("pmw-delta", Replace),
    ),
    bug(
        "privbayes-first-by-the-data",
        "the first attribute is that with the commonest value",
        Taint("privbayes", Replace),
    ),
    bug(
        "privbayes-drops-independent-parents",
        "parents with a score of 0 are no candidates",
        Taint("privbayes", Replace),
    ),
    bug(
        "privbayes-half-the-temperature",
        "scores are doubled and their sensitivity is not",
        Sensitivity("privbayes-information", Replace),
    ),
    bug(
        "privbayes-network-unpaid",
        "the network is paid from another budget",
        Ledger("privbayes", Replace),
    ),
    bug(
        "privbayes-takes-the-best",
        "the family with the best score is taken",
        Taint("privbayes-information", Replace),
    ),
    bug("privbayes-r-as-added", "a sensitivity of 1/N for R", Sensitivity("privbayes", Replace)),
    bug(
        "privbayes-information-halved",
        "half of the sensitivity of mutual information",
        Sensitivity("privbayes-information", Replace),
    ),
    bug(
        "privbayes-tables-as-added",
        "tables with the sensitivity of an added record",
        Sensitivity("privbayes", Replace),
    ),
    bug(
        "dualquery-sensitivity-of-one",
        "a sensitivity of 1 for scores that change by t - 1",
        Sensitivity("dualquery", Replace),
    ),
    bug(
        "dualquery-half-the-temperature",
        "scores are doubled and their sensitivity is not",
        Sensitivity("dualquery", Replace),
    ),
    bug(
        "dualquery-publishes-a-record",
        "a true record is among the synthetic ones",
        Taint("dualquery", Replace),
    ),
    bug(
        "dualquery-first-round-by-the-data",
        "the free first round takes the commonest query",
        Taint("dualquery", Replace),
    ),
    bug(
        "dualquery-one-round-too-many",
        "one round more than is paid for",
        Ledger("dualquery", Replace),
    ),
    bug(
        "mst-drops-pairs-by-the-data",
        "pairs with a small score are no candidates",
        Taint("mst", Replace),
    ),
    bug(
        "mst-half-the-temperature",
        "scores are doubled and their sensitivity is not",
        Sensitivity("mst", AddRemove),
    ),
    bug("mst-edge-sensitivity", "half of the sensitivity of an edge", Sensitivity("mst", Replace)),
    bug(
        "mst-takes-the-best-edge",
        "the edge with the largest score is taken",
        Taint("mst", AddRemove),
    ),
    bug(
        "mst-reuses-the-whole-share",
        "every pair is measured with the whole budget",
        Ledger("mst", Replace),
    ),
    bug(
        "mst-merges-by-the-data",
        "values are merged by their true counts",
        Taint("mst-merging", Replace),
    ),
    bug("aim-attributes-unpaid", "the first measurements are not paid for", Ledger("aim", Replace)),
    bug(
        "aim-anneals-by-the-data",
        "the noise is reduced by true distances",
        Taint("aim-annealing", AddRemove),
    ),
    bug(
        "aim-smallest-weight",
        "the sensitivity has the smallest weight, not the largest",
        Sensitivity("aim", AddRemove),
    ),
    bug(
        "aim-half-the-temperature",
        "scores are doubled and their sensitivity is not",
        Sensitivity("aim", Replace),
    ),
    bug("aim-stops-by-the-data", "the last round depends on true distances", Taint("aim", Replace)),
    bug(
        "aim-measures-twice-as-well",
        "measurements cost more than the round has paid",
        Ledger("aim", AddRemove),
    ),
    bug(
        "release-of-as-many-records",
        "as many synthetic records as true ones, where that is private",
        RELEASE,
    ),
];

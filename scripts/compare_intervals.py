#!/usr/bin/env python3
"""How often intervals of several kinds cover the counts of a table that was estimated from noise.

    python3 scripts/compare_intervals.py

A table is measured with Gaussian noise and estimated by the nearest table of the same total without
negative counts: what a graphical model of a single marginal does. Nominal coverage is 95 %, and
intervals are cut at 0. `exact` is the unbiased estimate (GReM) with its variance; the others use
bootstrap replicates, which add noise to the estimate and project again. Needs NumPy and takes seconds.
"""

import numpy as np

TRIALS, REPLICATES = 300, 200


def project(rows, total):
    """The nearest rows that are not negative and add up to the total."""
    ordered = np.sort(rows, axis=1)[:, ::-1]
    excess = np.cumsum(ordered, axis=1) - total
    place = np.arange(1, rows.shape[1] + 1)
    last = (ordered - excess / place > 0).sum(axis=1)
    threshold = excess[np.arange(len(rows)), last - 1] / last
    return np.maximum(rows - threshold[:, None], 0)


def intervals(truth, sigma, rng):
    cells, total = len(truth), truth.sum()
    noisy = truth + rng.normal(0, sigma, cells)
    estimate = project(noisy[None], total)[0]
    replicates = project(estimate + rng.normal(0, sigma, (REPLICATES, cells)), total)
    low, high = np.quantile(replicates, [0.025, 0.975], axis=0)
    unbiased = noisy - (noisy.sum() - total) / cells
    around = {
        "exact": (unbiased, sigma * np.sqrt(1 - 1 / cells)),
        "standard deviation": (estimate, replicates.std(axis=0)),
        "root mean square": (estimate, np.sqrt(((replicates - estimate) ** 2).mean(axis=0))),
    }
    symmetric = {name: (at - 1.96 * error, at + 1.96 * error) for name, (at, error) in around.items()}
    return {"quantiles": (low, high), "basic": (2 * estimate - high, 2 * estimate - low), **symmetric}


def report(name, truth, sigma, rng):
    covered, widths = {}, {}
    for _ in range(TRIALS):
        for kind, (low, high) in intervals(truth, sigma, rng).items():
            low, high = np.maximum(low, 0), np.maximum(high, 0)
            covered.setdefault(kind, []).append((low <= truth) & (truth <= high))
            widths.setdefault(kind, []).append(high - low)
    groups = {"all": truth >= 0, "above 3 sigma": truth > 3 * sigma,
              "smaller": (truth > 0) & (truth <= 3 * sigma), "empty": truth == 0}  # fmt: skip
    print(f"{name}, sigma {sigma}")
    for kind, hits in covered.items():
        hits = np.array(hits)
        shares = [f"{group} {hits[:, of].mean():.3f}" for group, of in groups.items() if of.any()]
        print(f"  {kind:18} {', '.join(shares)}; width {np.mean(widths[kind]):.1f}")


def main():
    rng = np.random.default_rng(0)
    four = np.array([500.0, 300, 150, 50])
    fifty = np.round(1000 * rng.dirichlet(np.full(50, 0.2)))
    many = np.round(20000 * rng.dirichlet(np.full(500, 0.1)))
    sparse = np.zeros(500)
    sparse[:20] = rng.integers(50, 3000, 20)
    for name, truth, sigmas in [
        ("4 cells", four, (20, 100)),
        ("50 cells", fifty, (5, 30)),
        ("500 cells", many, (20,)),
        ("500 cells, 20 occupied", sparse, (40,)),
    ]:
        for sigma in sigmas:
            report(name, truth, sigma, rng)


if __name__ == "__main__":
    main()

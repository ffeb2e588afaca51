#!/usr/bin/env python3
"""Times linear programming solvers on the most likely histogram, next to ADMM.

Lee, Wang and Kifer (KDD 2015, section 5) report that simplex and interior-point solvers do not get
beyond histograms of 2^12 bins. The program is theirs: a binary tree of sums with Laplace noise, and
the nonnegative leaves with the least L1 distance to all nodes,

    minimise |A x - y|_1 subject to x >= 0.

HiGHS solves it by its dual simplex and by its interior-point method with crossover. ADMM's seconds
are the medians of five trials of `pgmbench run --timing` on Search Logs, or its stand-in, in as
many bins: counts and noise are other ones, the sizes are the same. `ml` is the same program, and
`admm-l1` the mixture with squares that the paper's figures show.

    pip install scipy
    python3 scripts/lp_solvers.py                           # 2^10 to 2^14 bins, about a minute
    python3 scripts/lp_solvers.py --pgmbench target/release/pgmbench --powers 10 12
"""

import argparse
import csv
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, identity, vstack

METHODS = {"simplex": "highs-ds", "interior point": "highs-ipm"}
ARMS = ["ml", "admm-l1"]


def tree(leaves):
    """A row per node: the sum of the leaves below it, from the root down."""
    levels, width = [], leaves
    while width >= 1:
        node = numpy.arange(leaves) // width
        ones = numpy.ones(leaves)
        levels.append(csr_matrix((ones, (node, numpy.arange(leaves))), (leaves // width, leaves)))
        width //= 2
    return vstack(levels).tocsr(), len(levels)


def histogram(leaves, rng):
    """Counts of which half are 0, with a heavy tail."""
    counts = numpy.floor(rng.pareto(1.5, leaves) * 5.0)
    return numpy.where(rng.random(leaves) < 0.5, 0.0, counts)


def solve(queries, noisy, method, limit):
    """Seconds and status. The variables are x and the distances u and v with A x - u + v = y."""
    nodes, leaves = queries.shape
    cost = numpy.concatenate([numpy.zeros(leaves), numpy.ones(2 * nodes)])
    equal = hstack([queries, -identity(nodes), identity(nodes)]).tocsr()
    began = time.perf_counter()
    options = {"time_limit": limit}
    found = linprog(cost, A_eq=equal, b_eq=noisy, method=method, options=options)
    return time.perf_counter() - began, found


CONFIG = """
name = "kdd-lp"
trials = 5
epsilon = {epsilon}
datasets = [{{ name = "search-logs", bins = {bins} }}]
neighbours = "add-remove"
workload = {{ queries = ["identity"] }}
mechanism = [{{ name = "tree", arms = ["ml", "admm-l1"] }}]
"""


def admm_seconds(pgmbench, bins, epsilon):
    """The median seconds of each arm."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "kdd-lp.toml")
        config.write_text(CONFIG.format(epsilon=epsilon, bins=bins))
        command = [pgmbench, "run", config, "--timing", "--results", folder]
        subprocess.run(command, check=True, capture_output=True)
        seconds = {arm: [] for arm in ARMS}
        with open(pathlib.Path(folder, "kdd-lp", "trials.csv"), newline="") as rows:
            for row in csv.DictReader(rows):
                seconds[row["arm"]].append(float(row["estimate_seconds"]))
    return [statistics.median(seconds[arm]) for arm in ARMS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pgmbench", default="pgmbench", help="the program")
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--powers", type=int, nargs=2, default=(10, 14), metavar=("FROM", "TO"))
    parser.add_argument("--limit", type=float, default=600.0, help="seconds per program")
    asked = parser.parse_args()
    print("| bins | " + " | ".join([*METHODS, *ARMS]) + " |")
    print("| --- |" + " ---: |" * (len(METHODS) + len(ARMS)))
    for power in range(asked.powers[0], asked.powers[1] + 1):
        rng = numpy.random.default_rng(power)
        queries, levels = tree(2**power)
        scale = levels / asked.epsilon
        noisy = queries @ histogram(2**power, rng) + rng.laplace(0.0, scale, queries.shape[0])
        cells = []
        for method in METHODS.values():
            seconds, found = solve(queries, noisy, method, asked.limit)
            cells.append(f"{seconds:.2f} s" if found.status == 0 else f"none in {seconds:.0f} s")
        ours = admm_seconds(asked.pgmbench, 2**power, asked.epsilon)
        cells += [f"{seconds:.3f} s" for seconds in ours]
        print(f"| 2^{power} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

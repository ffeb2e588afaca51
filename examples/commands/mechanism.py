"""A mechanism of one's own: discrete Laplace noise on the marginals of the workload.

Reads a task from standard input and writes a problem to standard output. The formats are in
docs/commands.md. For experiments: the noise is seeded and drawn in floating point.
"""

import csv
import json
import math
import random
import sys


def main():
    task = json.load(sys.stdin)
    # The seed of the task makes the results repeatable; take no other randomness.
    rng = random.Random(task["seed"])
    cliques = [queries["attrs"] for queries in task["workload"]]
    # A replaced record changes two cells of a marginal by 1, a removed one changes one.
    sensitivity = {"replace": 2, "add-remove": 1}[task["neighbours"]]
    # Each marginal has an equal part of the budget.
    scale = sensitivity * len(cliques) / task["budget"]["epsilon"]
    scale *= task["parameters"].get("noise", 1.0)
    records = read(task["data"])
    measurements = []
    for clique in cliques:
        counts = marginal(records, clique, task["domain"])
        noisy = [count + discrete_laplace(rng, scale) for count in counts]
        measurements.append({"attrs": clique, "y": noisy, "stddev": deviation(scale)})
    json.dump({"domain": task["domain"], "measurements": measurements}, sys.stdout)


def read(path):
    """The records: dictionaries from attributes to codes 0, 1, ..."""
    with open(path, newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        return [dict(zip(names, map(int, row))) for row in rows]


def marginal(records, clique, domain):
    """The counts of all cells; the index of the last attribute moves fastest."""
    counts = [0] * math.prod(domain[name] for name in clique)
    for record in records:
        cell = 0
        for name in clique:
            cell = cell * domain[name] + record[name]
        counts[cell] += 1
    return counts


def discrete_laplace(rng, scale):
    """P(k) proportional to exp(-|k| / scale): the difference of two geometric variables."""

    def geometric():
        return int(-math.log(1.0 - rng.random()) * scale)

    return geometric() - geometric()


def deviation(scale):
    """The standard deviation of the noise."""
    ratio = math.exp(-1.0 / scale)
    return math.sqrt(2.0 * ratio) / (1.0 - ratio)


main()

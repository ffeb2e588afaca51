"""An estimator of one's own: noisy marginals without negative cells, scaled to the total.

Reads a problem from standard input and writes marginals to standard output. The formats are in
docs/commands.md.
"""

import json
import math
import sys


def main():
    task = json.load(sys.stdin)
    problem = task["problem"]
    tables = {}
    for measurement in problem["measurements"]:
        if any(query != "identity" for query in measurement["query"]):
            # An answer in place of an estimate: the arm ends as "not applicable".
            json.dump({"not_applicable": "needs measurements of whole marginals"}, sys.stdout)
            return
        tables[tuple(measurement["attrs"])] = measurement["y"]
    marginals = []
    for attrs in task["marginals"]:
        noisy = tables.get(tuple(attrs))
        if noisy is None:
            json.dump({"not_applicable": f"{attrs} was not measured"}, sys.stdout)
            return
        marginals.append({"attrs": attrs, "values": scaled(noisy, problem["total"])})
    json.dump({"marginals": marginals}, sys.stdout)


def scaled(noisy, total):
    """Without negative cells, with this sum. Uniform if nothing is left."""
    positive = [max(value, 0.0) for value in noisy]
    mass = math.fsum(positive)
    if mass == 0.0:
        return [total / len(noisy)] * len(noisy)
    return [value * total / mass for value in positive]


main()

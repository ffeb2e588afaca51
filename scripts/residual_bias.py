#!/usr/bin/env python3
"""What estimates make of marginals that were not measured: errors without any noise.

    python3 scripts/residual_bias.py          (needs numpy; Adult of datasets/adult, without `education`)

For each number of cells, the exact marginals of all attributes and of all pairs with at most that many
cells are given. From those within each triple of attributes, two estimates of the triple are made: GReM
sets residuals that are not given to zero, and a graphical model has the largest entropy (iterative
proportional fitting). Prints the mean over all 364 triples of |truth - estimate|_1 / (2 records), the
workload error of `pgmbench run`, and which part of the estimate is negative.
"""

import itertools
import math

import compare_mbi
import numpy as np


def grem(table, given):
    """The sum of the given residuals: means over the other axes, minus means over the own ones."""
    estimate = np.zeros_like(table)
    for own in given:
        part = table
        for axis in range(table.ndim):
            mean = part.mean(axis=axis, keepdims=True)
            part = part - mean if axis in own else np.broadcast_to(mean, part.shape)
        estimate += part
    return estimate


def largest_entropy(table, given, sweeps=50):
    """Iterative proportional fitting of the marginals on the given sets, from the uniform table."""
    estimate = np.full(table.shape, table.sum() / table.size)
    largest = [own for own in given if not any(own < other for other in given)]
    for _ in range(1 if sum(map(len, largest)) == len(frozenset().union(*largest)) else sweeps):
        for own in largest:
            others = tuple(axis for axis in range(table.ndim) if axis not in own)
            target = table.sum(axis=others, keepdims=True)
            current = estimate.sum(axis=others, keepdims=True)
            estimate = estimate * np.divide(target, current, out=np.zeros_like(target), where=current > 0)
    return estimate


def main():
    columns, origin = compare_mbi.adult_records(None)
    assert origin == "datasets/adult"
    sizes = compare_mbi.ADULT
    print("pairs of at most   pairs   GReM    largest entropy   negative part of GReM")
    for most in [0, 10, 30, 100, 300, 1000, 3000, 10000]:
        pairs = [p for p in itertools.combinations(sizes, 2) if sizes[p[0]] * sizes[p[1]] <= most]
        errors, negative = [], 0.0
        for triple in itertools.combinations(sizes, 3):
            shape = [sizes[name] for name in triple]
            cells = np.ravel_multi_index([columns[name] for name in triple], shape)
            table = np.bincount(cells, minlength=math.prod(shape)).astype(float).reshape(shape)
            singles = [frozenset(), *(frozenset([axis]) for axis in range(3))]
            inside = [p for p in pairs if set(p) <= set(triple)]
            given = singles + [frozenset(triple.index(name) for name in p) for p in inside]
            linear, model = grem(table, given), largest_entropy(table, given)
            negative += -linear[linear < 0].sum() / table.sum()
            errors.append([np.abs(table - e).sum() / (2 * table.sum()) for e in (linear, model)])
        linear, model = np.mean(errors, axis=0)
        part = negative / len(errors)
        print(f"{most:16} {len(pairs):7} {linear:7.3f} {model:16.3f} {part:18.3f}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Estimation problems with their optimum, found without any graphical model.

    python3 scripts/golden.py write             writes crates/private-pgm/tests/golden/*.json
    python3 scripts/golden.py check FILE ...    solves problem files again and compares

Needs Python 3.10 or newer. The first run makes a virtual environment (--venv, by default
.venv/golden in the project, which git ignores) and installs numpy, scipy and clarabel from
PyPI there; nothing else on the machine is touched.

How the optimum is found. The whole joint table p is a vector, one entry per cell that is
not a structural zero, and every query a row of a matrix Q over it:

    minimise  L(p) = 1/2 |D (Q p - y)|^2   over  p >= 0, sum p = N,   D = diag(1/stddev).

1. An interior-point method solves this program. Its iterates tend to the relative interior
   of the set of minimisers, so p and the multipliers s = grad L - min grad L separate the
   cells: those that some minimiser uses (the face), and those that none does (s > 0).
2. On the face the bounds are inactive, so the optimal answers z = Q p are a least-squares
   solution under the one equation sum p = N: exact to rounding.
3. Among all p on the face with these answers, the one of largest entropy has log p in the
   row space of [Q; 1]; Newton's method on its dual finds it.

The result proves itself: p is positive, sums to N, and <grad L(p), p> - N min grad L(p) is an
upper bound on L(p) - min L. The largest of these violations is printed for each problem.

The least L1 loss, sum |Q p - y| / stddev, is a linear program (HiGHS), where asked for.

Format of a problem: `query` has one entry per attribute of `attrs`, first attribute slowest:
"identity", "prefix" (cumulative sums), "total" (one row of ones) or {"matrix": rows}; or it is
one object {"matrix": rows} over the cells of the whole marginal. `zeros` lists cells that cannot
occur: {"attrs": [...], "cells": [[index, ...], ...]}. `y` and `stddev` are in counts.
"""

import argparse
import itertools
import json
import math
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
NEEDS = ["numpy>=2,<3", "scipy>=1.14,<2", "clarabel>=0.9,<1"]

# Newton's method goes on until every answer is met to this fraction of the total.
NEWTON_TOLERANCE = 1e-15
# What the printed violations may be at most: a tenth of what the tests ask of the loss. The gap
# is of first order in the rounding of p, so a total of 1e6 and a loss of 6 leave about 4e-8.
LARGEST_VIOLATION = 1e-7


def parse_arguments():
    parser = argparse.ArgumentParser(description="Estimation problems with their optimum.")
    parser.add_argument("--venv", type=Path, default=PROJECT / ".venv" / "golden", help="virtual environment to use")
    parser.add_argument("--out", type=Path, default=PROJECT / "crates" / "private-pgm" / "tests" / "golden", help="where `write` writes")
    parser.add_argument("action", choices=["write", "check"])
    parser.add_argument("files", nargs="*", type=Path, help="problem files for `check`")
    return parser.parse_args()


def enter_environment(folder):
    """Makes the virtual environment if need be, and runs this script again inside it."""
    if Path(sys.prefix).resolve() == folder.resolve():
        return
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        print(f"making the virtual environment {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDS], check=True)
    sys.exit(subprocess.run([python, *sys.argv]).returncode)


ARGUMENTS = parse_arguments()
enter_environment(ARGUMENTS.venv)

# Found only inside the environment.
import clarabel  # noqa: E402
import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402
from scipy.optimize import linprog  # noqa: E402

# ---------------------------------------------------------------- the program over the joint


def query_matrix(query, shape):
    """The matrix of a measurement over the cells of its marginal."""
    if isinstance(query, dict):
        return np.array(query["matrix"], dtype=float)
    matrix = np.ones((1, 1))
    for entry, size in zip(query, shape, strict=True):
        if isinstance(entry, dict):
            factor = np.array(entry["matrix"], dtype=float)
        elif entry == "identity":
            factor = np.eye(size)
        elif entry == "prefix":
            factor = np.tril(np.ones((size, size)))
        elif entry == "total":
            factor = np.ones((1, size))
        else:
            raise ValueError(f"no such query: {entry!r}")
        matrix = np.kron(matrix, factor)
    return matrix


class Joint:
    """The cells of the joint table that may be positive, and maps from them to marginals."""

    def __init__(self, problem):
        self.sizes = problem["domain"]
        grid = np.indices(tuple(self.sizes.values())).reshape(len(self.sizes), -1)
        self.values = dict(zip(self.sizes, grid))
        allowed = np.ones(grid.shape[1], dtype=bool)
        for zero in problem.get("zeros", []):
            for cell in zero["cells"]:
                hit = np.ones(grid.shape[1], dtype=bool)
                for attribute, value in zip(zero["attrs"], cell, strict=True):
                    hit &= self.values[attribute] == value
                allowed &= ~hit
        self.values = {name: column[allowed] for name, column in self.values.items()}
        self.cells = int(allowed.sum())

    def shape(self, attrs):
        return tuple(self.sizes[a] for a in attrs)

    def marginal(self, p, attrs):
        index = np.ravel_multi_index([self.values[a] for a in attrs], self.shape(attrs))
        return np.bincount(index, weights=p, minlength=math.prod(self.shape(attrs)))

    def program(self, measurements):
        """Q, y and 1/stddev of all measurements, rows over the allowed joint cells."""
        rows, answers, weights = [], [], []
        for m in measurements:
            shape = self.shape(m["attrs"])
            index = np.ravel_multi_index([self.values[a] for a in m["attrs"]], shape)
            rows.append(query_matrix(m["query"], shape)[:, index])
            answers.append(np.array(m["y"], dtype=float))
            weights.append(np.full(len(m["y"]), 1.0 / m["stddev"]))
        return np.vstack(rows), np.concatenate(answers), np.concatenate(weights)


def interior_point(queries, answers, total):
    """Minimises 1/2 |queries p - answers|^2 and returns p and its multipliers, both >= 0."""
    rows, cells = queries.shape
    # Variables: p / total and the residuals, scaled to be of order one.
    scale = max(1.0, float(np.abs(answers).max()))
    curvature = sparse.block_diag([sparse.csc_matrix((cells, cells)), sparse.eye(rows)])
    constraints = sparse.bmat(
        [
            [sparse.csc_matrix(queries * (total / scale)), -sparse.eye(rows)],
            [np.ones((1, cells)), None],
            [-sparse.eye(cells), None],
        ]
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(curvature),
        np.zeros(cells + rows),
        sparse.csc_matrix(constraints),
        np.concatenate([answers / scale, [1.0], np.zeros(cells)]),
        [clarabel.ZeroConeT(rows + 1), clarabel.NonnegativeConeT(cells)],
        settings,
    )
    solution = solver.solve()
    return np.array(solution.s)[rows + 1 :], np.array(solution.z)[rows + 1 :]


def row_space(queries, face):
    """An orthonormal basis (columns) of the row space of [queries; 1] on the cells of a face."""
    # Rows of equal length, so that one threshold fits them all.
    rows = np.vstack([queries[:, face], np.ones((1, int(face.sum())))])
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows[lengths > 0] / lengths[lengths > 0, None]
    _, values, basis = np.linalg.svd(rows, full_matrices=False)
    return basis[values > 1e-10 * values[0]].T


def least_squares_on_face(queries, answers, total, basis, face):
    """Coordinates, in the basis, of the least-squares solution with sum p = total."""
    ones = basis.sum(axis=0)
    particular = ones * (total / (ones @ ones))
    free = np.linalg.svd(ones[None, :])[2][1:].T
    system = queries[:, face] @ basis
    solution = particular
    # The second and third pass refine: what they solve for is the rounding of the one before.
    for _ in range(3):
        residual = answers - system @ solution
        solution = solution + free @ np.linalg.lstsq(system @ free, residual, rcond=None)[0]
    return solution


def largest_entropy(basis, coordinates, start):
    """The p > 0 of largest entropy with basis^T p = coordinates (sum p = 1), by Newton's method.

    p = exp(basis theta) minimises the convex sum exp(basis theta) - coordinates theta.
    """
    theta = basis.T @ np.log(start)

    def dual(theta):
        with np.errstate(over="ignore"):
            return np.exp(basis @ theta).sum() - coordinates @ theta

    for _ in range(100):
        p = np.exp(basis @ theta)
        gradient = basis.T @ p - coordinates
        if np.abs(gradient).max() < NEWTON_TOLERANCE:
            break
        hessian = basis.T @ (p[:, None] * basis)
        step = -np.linalg.lstsq(hessian, gradient, rcond=1e-15)[0]
        slope, value, length = gradient @ step, dual(theta), 1.0
        # Near the end the values agree to rounding, and the full step is right.
        while dual(theta + length * step) > value + 1e-4 * length * slope + 1e-15:
            length /= 2
            if length < 1e-12:
                break
        theta = theta + length * step
    return np.exp(basis @ theta), float(np.abs(basis.T @ np.exp(basis @ theta) - coordinates).max())


def solve(problem):
    """The optimum of a problem: the joint table and what is known about it."""
    joint = Joint(problem)
    queries, y, weights = joint.program(problem["measurements"])
    total = float(problem["total"])
    scaled, answers = queries * weights[:, None], y * weights

    p, multipliers = interior_point(scaled, answers, total)
    face = p / p.max() > multipliers / max(multipliers.max(), 1e-300)
    if multipliers.max() < 1e-9:
        face[:] = True
    basis = row_space(scaled, face)
    w = least_squares_on_face(scaled, answers, total, basis, face)
    on_face, entropy_violation = largest_entropy(basis, w / total, np.maximum(p[face], 1e-12))
    p = np.zeros(joint.cells)
    p[face] = on_face * total

    residual = scaled @ p - answers
    loss = 0.5 * residual @ residual
    gradient = scaled.T @ residual
    gap = gradient @ p - total * gradient.min()
    outside = gradient[~face] - gradient[face].mean()
    return {
        "joint": joint,
        "p": p,
        "l2_loss": float(loss),
        "unused": int((~face).sum()),
        "margin": float(outside.min() / np.abs(gradient).max()) if len(outside) else math.inf,
        "violations": {
            "sum": abs(p.sum() / total - 1),
            "gap": gap / max(loss, 1e-6),
            "answers": entropy_violation,
        },
    }


def least_l1_loss(problem):
    """min over p of sum |Q p - y| / stddev, a linear program in p and the absolute residuals."""
    queries, y, weights = Joint(problem).program(problem["measurements"])
    total = float(problem["total"])
    rows, cells = queries.shape
    scaled, answers = sparse.csr_matrix(queries * weights[:, None]) * total, y * weights
    # scaled q + below - above = answers, with q = p / total.
    result = linprog(
        np.concatenate([np.zeros(cells), np.ones(2 * rows)]),
        A_eq=sparse.bmat(
            [
                [scaled, sparse.eye(rows), -sparse.eye(rows)],
                [np.ones((1, cells)), None, None],
            ]
        ),
        b_eq=np.append(answers, 1.0),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    dual = result.eqlin.marginals @ np.append(answers, 1.0)
    return float(result.fun), abs(result.fun - dual) / max(1.0, result.fun)


# ---------------------------------------------------------------------------- the problems


class Recipe:
    """Draws a population and noisy answers about it from one seed."""

    def __init__(self, seed, domain, total, zeros=(), skew=1.0):
        self.random = np.random.default_rng(seed)
        self.problem = {"domain": domain, "total": float(total), "measurements": []}
        if zeros:
            self.problem["zeros"] = list(zeros)
        self.joint = Joint(self.problem)
        # Correlated: a few components, each a product of skewed one-way distributions.
        truth = np.zeros(self.joint.cells)
        for _ in range(4):
            component = np.ones(self.joint.cells)
            for name, size in domain.items():
                component *= self.random.dirichlet(np.full(size, skew))[self.joint.values[name]]
            truth += self.random.uniform(0.2, 1.0) * component
        self.truth = truth * (total / truth.sum())

    def measure(self, attrs, query="identity", stddev=1.0, noise=None, shift=0.0):
        """Adds a measurement; `noise` is the noise really drawn where it is not `stddev`."""
        attrs = attrs.split(",")
        if isinstance(query, str):
            query = [query] * len(attrs)
        marginal = self.joint.marginal(self.truth, attrs)
        y = query_matrix(query, self.joint.shape(attrs)) @ marginal + shift
        y = y + self.random.normal(0.0, stddev if noise is None else noise, len(y))
        self.problem["measurements"].append(
            {
                "attrs": attrs,
                "query": query,
                "y": [round(float(v), 6) for v in y],
                "stddev": float(stddev),
            }
        )
        return self

    def dense(self, rows, columns, rank=None):
        """A matrix of small numbers of both signs, of the given rank."""
        rank = min(rows, columns) if rank is None else rank
        left = self.random.integers(-2, 3, (rows, rank))
        right = self.random.integers(-2, 3, (rank, columns))
        return {"matrix": (left @ right / 4.0).tolist()}


def pairs(*cells):
    return [list(cell) for cell in cells]


def problems():
    """(name, notes, problem, attribute sets beyond the measured ones, L1 wanted)."""
    r = Recipe(101, {"a": 7, "b": 3}, 60)
    r.measure("a", stddev=8.0)
    yield "single_marginal", "one one-way marginal; b never measured", r, ["b", "a,b"], True

    r = Recipe(102, {"a": 4, "b": 3, "c": 5}, 300)
    r.measure("a", stddev=4.0).measure("c", "prefix", stddev=4.0)
    yield "two_disjoint", "two one-way marginals without a common attribute", r, ["a,c", "b,c"], False

    r = Recipe(103, {"a": 4, "b": 5, "c": 3, "d": 4, "e": 3}, 200)
    for pair in ("a,b", "b,c", "c,d", "d,e"):
        r.measure(pair, stddev=6.0)
    yield "chain", "chain of pairs, noise as large as the cells", r, ["a,c", "a,e", "a,c,e", "b,d"], True

    r = Recipe(104, {"a": 4, "b": 5, "c": 6}, 1000)
    r.measure("a,b", stddev=3.0).measure("b,c", stddev=3.0).measure("a,c", stddev=3.0)
    yield "three_cycle", "all pairs of three attributes", r, ["a,b,c", "b"], False

    r = Recipe(105, {"a": 4, "b": 3, "c": 5, "d": 3}, 400)
    for pair in ("a,b", "b,c", "c,d", "d,a"):
        r.measure(pair, stddev=5.0)
    yield "four_cycle", "a cycle of four pairs: the junction tree needs an extra edge", r, [
        "a,c", "b,d", "a,b,c",
    ], False

    r = Recipe(106, {"a": 3, "b": 4, "c": 3, "d": 2}, 500)
    r.measure("a,b,c", stddev=6.0).measure("a,b", stddev=3.0).measure("b", stddev=1.0)
    r.measure("c,d", stddev=2.0)
    yield "nested", "a triple, a pair in it and an attribute of that, and a pair beside it", r, [
        "a,d", "b,d", "a,c,d",
    ], False

    r = Recipe(107, {"a": 4, "b": 3, "c": 4}, 350)
    r.measure("a,b", stddev=1.0).measure("b,a", stddev=20.0).measure("a,b", stddev=5.0)
    r.measure("c,b", stddev=0.5).measure("b,c", stddev=2.0).measure("c", stddev=10.0)
    yield "repeated_permuted", "the same pairs again and in the other order, stddev 0.5 to 20", r, [
        "a,c", "c,a", "c,b,a",
    ], False

    r = Recipe(108, {"a": 5, "b": 4, "c": 4}, 100, skew=0.3)
    r.measure("a,b", stddev=5.0, shift=-4.0).measure("b,c", stddev=5.0, shift=-4.0)
    r.measure("a,c", stddev=10.0)
    yield "negative_answers", "many answers below zero", r, ["a,b,c", "c"], True

    r = Recipe(109, {"a": 4, "b": 4, "c": 3, "d": 3}, 40)
    r.measure("a,b", stddev=50.0).measure("b,c,d", stddev=50.0).measure("a,d", stddev=50.0)
    yield "noise_drowns_total", "noise of 50 on a total of 40", r, ["a,c", "d"], False

    holes = pairs([0, 1], [0, 2], [2, 0], [3, 3])
    r = Recipe(110, {"a": 4, "b": 4, "c": 3}, 250, zeros=[{"attrs": ["a", "b"], "cells": holes}])
    r.measure("a,b", stddev=4.0).measure("b,c", stddev=4.0)
    yield "zeros_measured", "structural zeros on a measured pair", r, ["a,c", "a,b,c"], False

    holes = pairs([0, 0], [1, 2], [2, 1], [3, 0], [3, 1])
    r = Recipe(111, {"a": 4, "b": 3, "c": 3, "d": 2}, 250, zeros=[{"attrs": ["a", "c"], "cells": holes}])
    r.measure("a,b", stddev=2.0).measure("b,c", stddev=2.0).measure("d", stddev=2.0)
    yield "zeros_unmeasured", "structural zeros on a pair that is not measured", r, [
        "a,c", "c,d", "a,b,c",
    ], False

    r = Recipe(112, {"a": 6, "b": 5, "c": 3}, 300)
    r.measure("a,b", [r.dense(7, 6), r.dense(6, 5)], stddev=6.0)
    r.measure("b,c", [r.dense(5, 5), "identity"], stddev=4.0)
    r.measure("a", [r.dense(8, 6)], stddev=4.0)
    yield "dense_per_attribute", "a matrix with negative entries per attribute", r, [
        "a,c", "b", "a,b,c",
    ], False

    r = Recipe(113, {"a": 4, "b": 3, "c": 3}, 200)
    r.measure("a,b", r.dense(14, 12), stddev=5.0).measure("b,c", stddev=3.0)
    yield "dense_whole_marginal", "one matrix over all cells of a pair", r, ["a,c", "a"], False

    r = Recipe(114, {"a": 5, "b": 4, "c": 4}, 150)
    r.measure("a,b", ["total", "total"], stddev=3.0).measure("a,b", ["identity", "total"], stddev=3.0)
    r.measure("a,b", ["prefix", "total"], stddev=4.0).measure("b,c", ["total", "identity"], stddev=2.0)
    r.measure("b,c", ["prefix", "identity"], stddev=6.0)
    yield "total_queries", "rows of ones: sums over one attribute or over all", r, ["a,c", "b", "a,b,c"], True

    r = Recipe(115, {"a": 5, "b": 4, "c": 3}, 120)
    low = r.dense(6, 20, rank=4)
    r.measure("a,b", low, stddev=3.0).measure("a,b", low, stddev=5.0).measure("c", stddev=3.0)
    yield "low_rank", "20 cells seen through 4 independent queries: entropy decides the rest", r, [
        "a", "b", "a,c",
    ], False

    r = Recipe(116, {"a": 4, "one": 1, "b": 3, "free": 2}, 1)
    r.measure("a,one", stddev=0.05).measure("one,b", stddev=0.1).measure("a,b", stddev=0.1)
    yield "size_one_total_one", "an attribute of size 1, one never measured, total 1", r, [
        "one", "free", "a,free", "one,free",
    ], False

    r = Recipe(117, {"a": 5, "b": 6, "c": 4, "d": 5}, 1e6)
    r.measure("a,b", stddev=30.0).measure("b,c", stddev=30.0).measure("c,d,a", stddev=100.0)
    yield "total_million", "total 1e6, a cycle through a triple", r, ["b,d", "a,b,c"], False

    r = Recipe(118, {"age": 12, "hours": 9, "sex": 2, "income": 5}, 500, skew=0.5)
    r.measure("age,hours", "prefix", stddev=6.0).measure("hours,income", "prefix", stddev=6.0)
    r.measure("age,sex", ["prefix", "identity"], stddev=6.0)
    yield "prefix_prefix", "cumulative sums along both attributes", r, ["age,income", "hours,sex", "income"], False


# ------------------------------------------------------------------------------- the files


def significant(value):
    """Twelve digits: more than the optimum is known to, and short."""
    return float(f"{value:.12g}") + 0.0


def dump(problem):
    """JSON with every list of numbers on a line of its own."""
    numbers = re.compile(r"\[[\s\d.,eE+-]*\]")
    return numbers.sub(lambda found: " ".join(found[0].split()), json.dumps(problem, indent=1)) + "\n"


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    worst = 0.0
    for name, notes, recipe, extra, wants_l1 in problems():
        problem = recipe.problem
        found = solve(problem)
        where = (
            f"optimum on the boundary: {found['unused']} of {found['joint'].cells} joint cells unused"
            if found["unused"]
            else "interior optimum"
        )
        measured = [",".join(m["attrs"]) for m in problem["measurements"]]
        optimum = {"l2_loss": found["l2_loss"]}
        violations = dict(found["violations"])
        if wants_l1:
            optimum["l1_loss"], violations["l1 duality"] = least_l1_loss(problem)
        optimum["marginals"] = {
            key: [significant(v) for v in found["joint"].marginal(found["p"], key.split(","))]
            for key in dict.fromkeys(itertools.chain(measured, extra))
        }
        text = dump({"name": name, "notes": f"{notes}; {where}", **problem, "optimum": optimum})
        (folder / f"{name}.json").write_text(text)
        worst = max(worst, *violations.values())
        shown = ", ".join(f"{key} {value:.1e}" for key, value in violations.items())
        print(f"{name:22} loss {found['l2_loss']:14.8f}  unused {found['unused']:4}/{found['joint'].cells:<4} "
              f"margin {found['margin']:.1e}  {shown}  {len(text) / 1000:.1f} kB")
    print(f"worst violation {worst:.1e}")
    return worst <= LARGEST_VIOLATION


def check(files):
    good = True
    for file in files:
        problem = json.loads(file.read_text())
        optimum, found = problem["optimum"], solve(problem)
        loss = abs(found["l2_loss"] - optimum["l2_loss"]) / max(1e-12, optimum["l2_loss"])
        counts = max(
            float(np.abs(found["joint"].marginal(found["p"], key.split(",")) - table).max())
            for key, table in optimum["marginals"].items()
        )
        l1 = abs(least_l1_loss(problem)[0] / optimum["l1_loss"] - 1) if "l1_loss" in optimum else 0.0
        good &= loss < 1e-6 and l1 < 1e-6 and counts < 1e-2
        print(f"{problem['name']:28} loss differs by {loss:.1e}, L1 by {l1:.1e}, marginals by {counts:.1e} counts, "
              f"worst violation {max(found['violations'].values()):.1e}, unused {found['unused']}")
    return good


if __name__ == "__main__":
    good = write(ARGUMENTS.out) if ARGUMENTS.action == "write" else check(ARGUMENTS.files)
    sys.exit(0 if good else 1)

#!/usr/bin/env python3
"""Our times beside those of mbi 2.0.0, on the same problems, on this machine, in one run.

    python3 scripts/compare_mbi.py                    everything (about half an hour)
    python3 scripts/compare_mbi.py --quick            small versions of all rows (some minutes)
    python3 scripts/compare_mbi.py --only chain       the chain of Figure 2b of the paper
    python3 scripts/compare_mbi.py --only adult       Adult with the paper's 15 triples
    python3 scripts/compare_mbi.py --only survey      mbi's estimators crossed with its oracles on Adult

Needs Python 3.11 or newer on Linux or macOS, and cargo. The first run makes a virtual environment
(--venv, by default .venv/mbi in the project, which git ignores) and installs mbi 2.0.0 from PyPI there,
with the JAX that its own requirements choose.

How it measures.
- Both sides read the same problem file. One row of mbi is one process of its own, and so is each of
  ours; their runs alternate, and the table shows medians. A row whose run by mbi takes longer than
  --patience seconds is run once.
- mbi computes in double precision, as we do. Its time per iteration is the median over blocks of
  iterations that it runs as one compiled call (50 on chains, 10 on Adult), the first block, which
  compiles, left out. One iteration of its default estimator calls the oracle twice (Armijo's rule), one
  of its accelerated ones once; chains have rows for both.
- On chains mbi is handed a junction tree made from a perfect elimination order: its own search for an
  order grows with the cube of d and would need minutes at d = 1000.
- Our time per iteration is the mean over 300 iterations, the first ones and the certificates included.
  Iterations of our default choose and check the length of their steps; those with a fixed constant
  call the oracle once and check nothing, like mbi's accelerated one, and have a row of their own.
- "From process start" means everything: imports, compilation, reading the problem; for us also writing
  the model. Losses are evaluated outside the timed blocks.
- Peak memory is the high-water mark that Linux keeps for the process, read every few milliseconds until
  it ends. (What wait4 reports begins with the memory of this script, from which the process was made.)
- On both sides all cores may be used. The load average is printed: ratios from a busy machine are rough.

Adult: identity measurements with Laplace noise of scale 30 on every cell. The records come from --adult
(a discretised CSV, possibly compressed), else from datasets/adult and its schema, else from a seeded
generator with equally sparse marginals.
"""

import argparse
import contextlib
import csv
import functools
import gzip
import io
import itertools
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from pathlib import Path

STARTED = time.perf_counter()
PROJECT = Path(__file__).resolve().parent.parent
NEEDS = ["mbi==2.0.0"]
CHAIN_LENGTHS = [3, 10, 30, 100, 300, 1000]
SEED = 20190609

ADULT = {
    "age": 85, "workclass": 9, "fnlwgt": 100, "education-num": 16, "marital-status": 7, "occupation": 15,
    "relationship": 6, "race": 5, "sex": 2, "capital-gain": 100, "capital-loss": 100, "hours-per-week": 99,
    "native-country": 42, "income>50K": 2,
}  # fmt: skip
ADULT_TRIPLES = [
    ("occupation", "race", "capital-loss"),
    ("occupation", "sex", "native-country"),
    ("marital-status", "relationship", "income>50K"),
    ("age", "education-num", "sex"),
    ("workclass", "education-num", "occupation"),
    ("marital-status", "occupation", "income>50K"),
    ("race", "native-country", "income>50K"),
    ("occupation", "capital-gain", "income>50K"),
    ("marital-status", "hours-per-week", "income>50K"),
    ("workclass", "race", "capital-gain"),
    ("marital-status", "relationship", "capital-gain"),
    ("workclass", "education-num", "capital-gain"),
    ("education-num", "relationship", "race"),
    ("fnlwgt", "hours-per-week", "income>50K"),
    ("workclass", "sex", "native-country"),
]
ADULT_RECORDS = 48842
LAPLACE_SCALE = 30.0

# Of mbi's combinations (see --only survey): the one it chooses by itself, the one with the fastest
# iteration on Adult (it ends in NaN after some hundred), and the fastest that stays finite.
DEFAULT = ("MirrorDescent", "default")
FASTEST = ("UniversalAcceleratedMethod", "fast")
ACCELERATED = ("UniversalAcceleratedMethod", "default")
SURVEY = list(
    itertools.product(
        ["MirrorDescent", "UniversalAcceleratedMethod", "InteriorGradient", "DualAveraging", "LBFGS"],
        ["default", "shafer_shenoy", "implicit", "fused", "fast"],
    )
)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--venv", type=Path, default=PROJECT / ".venv" / "mbi", help="virtual environment to use")
    parser.add_argument("--only", choices=["chain", "adult", "survey"], action="append", help="rows to run")
    parser.add_argument("--lengths", type=int, nargs="+", help="lengths of the chains, instead of those of the figure")
    parser.add_argument("--quick", action="store_true", help="chains to d = 100, five unmeasured triples, one run each")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each side per row")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds after which a row is not repeated")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which a process is ended")
    parser.add_argument("--binary", type=Path, help="our program, instead of building it with cargo")
    parser.add_argument("--theirs-only", action="store_true", help="leave our side out")
    parser.add_argument("--algorithm", help="our algorithm, instead of our default")
    parser.add_argument("--adult", type=Path, help="discretised CSV of Adult with a header")
    parser.add_argument("--optimum", type=float, help="least loss on Adult, where our side is left out")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def enter_environment(folder):
    """Makes the virtual environment if need be, and runs this script again inside it."""
    if Path(sys.prefix).resolve() == folder.resolve():
        return
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making the virtual environment {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDS], check=True)
    os.execv(python, [str(python), *sys.argv])


# ------------------------------------------------------------------------------- mbi, in a child


class Enough(Exception):
    """Thrown by the callback to leave mbi's loop."""


class Theirs:
    """mbi with one problem: what a child process runs."""

    def __init__(self, task):
        import jax

        jax.config.update("jax_enable_x64", True)
        # Off, as mbi itself advises; there is no folder to cache in anyway.
        jax.config.update("jax_enable_compilation_cache", False)
        import mbi
        import numpy as np

        self.jax, self.mbi, self.np, self.task = jax, mbi, np, task
        problem = json.loads(Path(task["problem"]).read_text())
        self.total = float(problem["total"])
        self.domain = mbi.Domain(list(problem["domain"]), list(problem["domain"].values()))
        self.measurements = [
            mbi.LinearMeasurement(np.array(m["y"]), tuple(m["attrs"]), m["stddev"]) for m in problem["measurements"]
        ]

    def oracle(self):
        """The oracle by its name in mbi; on a chain with the junction tree handed to it."""
        oracles = self.mbi.marginal_oracles
        oracle = {
            "default": None,
            "shafer_shenoy": oracles.message_passing_shafer_shenoy,
            "implicit": oracles.message_passing_implicit,
            "fused": functools.partial(oracles.message_passing_implicit, contraction=oracles.einsum_fused),
            "fast": oracles.message_passing_fast,
        }[self.task["oracle"]]
        if self.task.get("perfect_order"):
            cliques = [m.clique for m in self.measurements]
            tree, _ = self.mbi.junction_tree.make_junction_tree(self.domain, cliques, self.task["perfect_order"])
            oracle = oracle or oracles.default_oracle(cliques, self.domain, has_constraints=False)
            oracle = functools.partial(oracle, jtree=tree)
        return oracle

    def loss(self, marginals):
        np, loss = self.np, 0.0
        for m in self.measurements:
            answers = np.asarray(marginals.project(m.clique).datavector())
            loss += 0.5 * float(np.sum(((answers - m.noisy_measurement) / m.stddev) ** 2))
        return loss

    def iterate(self):
        """Blocks of iterations until `iterations`, `seconds` or `target_loss` is reached."""
        task, per_block = self.task, self.task["block"]
        # How many iterations mbi compiles into one call, 50 unless told.
        self.mbi.estimation.CALLBACK_EVERY = per_block
        blocks, cpu, seen = [], [], {"loss": math.inf, "to_100": None}
        estimator = getattr(self.mbi.estimation, task["estimator"])(marginal_oracle=self.oracle())

        def callback(marginals):
            self.jax.block_until_ready(marginals)
            now = time.perf_counter()
            blocks.append(now - seen["resumed"])
            cpu.append(time.process_time() - seen["cpu"])
            done = len(blocks) * per_block
            if done == 100:
                seen["to_100"] = now - STARTED
            last = done >= task["iterations"] or (len(blocks) > 2 and sum(blocks[1:]) > task.get("seconds", math.inf))
            if last or "target_loss" in task:
                seen["loss"] = self.loss(marginals)
                last |= not math.isfinite(seen["loss"]) or seen["loss"] <= task.get("target_loss", -math.inf)
            if last:
                raise Enough
            seen.update(resumed=time.perf_counter(), cpu=time.process_time())

        seen.update(resumed=time.perf_counter(), cpu=time.process_time())
        with contextlib.suppress(Enough):
            estimator.estimate(self.domain, self.measurements, self.total, iters=10**7, callback_fn=callback)
        steady = statistics.median(blocks[1:]) if len(blocks) > 1 else math.nan
        return {
            "seconds_per_iteration": steady / per_block,
            "seconds_quickest": min(blocks[1:], default=math.nan) / per_block,
            # Less than wall time where the machine is busy, more where several cores work.
            "cpu_seconds_per_iteration": statistics.median(cpu[1:] or cpu) / per_block,
            "iterations": len(blocks) * per_block,
            "loss": seen["loss"],
            "seconds_to_100": seen["to_100"],
            # As if compiled beforehand, and with all that comes before.
            "seconds_steady": sum(blocks[1:]) + steady,
            "seconds_from_start": sum(blocks) + self.before_estimation,
        }

    def use_model(self):
        """A fitted model answers unmeasured marginals and draws records, each twice: cold, then warm."""
        # The fit is not timed, so the quicker oracle does, well before it breaks.
        self.mbi.estimation.CALLBACK_EVERY = self.task["block"]
        estimator = self.mbi.estimation.MirrorDescent(marginal_oracle=self.oracle())
        model = estimator.estimate(self.domain, self.measurements, self.total, iters=self.task["iterations"])
        queries = [tuple(query) for query in self.task["queries"]]
        seconds = {}
        for state in ("cold", "warm"):
            started = time.perf_counter()
            answers = self.mbi.marginal_oracles.bulk_variable_elimination(model.potentials, queries, self.total)
            self.jax.block_until_ready(answers)
            seconds[f"queries_{state}"] = time.perf_counter() - started
            self.np.random.seed(SEED)
            started = time.perf_counter()
            model.synthetic_data(self.task["records"])
            seconds[f"synth_{state}"] = time.perf_counter() - started
        return seconds

    def run(self):
        self.before_estimation = time.perf_counter() - STARTED
        return {"iterate": self.iterate, "use_model": self.use_model}[self.task["do"]]()


# ------------------------------------------------------------------------- processes, both sides


class HighWater(threading.Thread):
    """Watches how much memory a process has had resident at most."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.status, self.bytes, self.ended = Path(f"/proc/{pid}/status"), 0, threading.Event()

    def run(self):
        while not self.ended.wait(0.003):
            with contextlib.suppress(OSError, StopIteration, ValueError):
                lines = self.status.read_text().splitlines()
                mark = next(line for line in lines if line.startswith("VmHWM"))
                self.bytes = 1024 * int(mark.split()[1])


def run_process(command, limit):
    """Runs a command; its output, wall seconds and peak bytes, or None when it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err)
        timer = threading.Timer(limit, process.kill)
        timer.start()
        watch = HighWater(process.pid)
        watch.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            timer.cancel()
            watch.ended.set()
            if process.returncode is None:  # interrupted: leave nothing running
                process.kill()
                process.wait()
        seconds = time.perf_counter() - started
        if process.returncode != 0:
            err.seek(0)
            tail = err.read().decode(errors="replace").strip().splitlines()[-3:]
            reason = f"ended after {limit:.0f} s" if seconds >= limit else f"exit code {process.returncode}"
            print(f"  {Path(command[0]).name}: {reason}: {' / '.join(tail)}", file=sys.stderr)
            return None
        out.seek(0)
        watch.join()
        peak = usage.ru_maxrss if sys.platform == "darwin" else watch.bytes
        found = {"out": out.read().decode(), "wall_seconds": seconds}
        # A process of a few milliseconds is over before anybody looks; ours say their peak themselves.
        return found | ({"peak_bytes": peak} if peak else {})


class Bench:
    """Runs both sides and collects the rows of the table."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.rows = arguments, folder, []
        self.binary = None if arguments.theirs_only else (arguments.binary or self.build())

    @staticmethod
    def build():
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=PROJECT, check=True)
        metadata = subprocess.run(
            ["cargo", "metadata", "--format-version", "1", "--no-deps"],
            cwd=PROJECT, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return Path(json.loads(metadata.stdout)["target_directory"]) / "release" / "pgmbench"

    def ours(self, *words):
        """One run of our program; its JSON, where it prints any, with the process's figures."""
        if self.binary is None:
            return None
        found = run_process([self.binary, *words], self.arguments.limit)
        if found and "--json" in words:
            found = json.loads(found["out"]) | found
        return found

    def estimate(self, problem, iterations, algorithm=None):
        algorithm = algorithm or self.arguments.algorithm
        chosen = ["--algorithm", algorithm] if algorithm else []
        words = ["estimate", problem, "--out", self.folder / "model", "--force", *chosen]
        return self.ours(*words, "--iterations", iterations, "--json")

    def theirs(self, task):
        command = [sys.executable, __file__, "--venv", self.arguments.venv, "--child", json.dumps(task)]
        found = run_process(command, self.arguments.limit)
        found = found and found | json.loads(found["out"].splitlines()[-1])
        if found and "seconds_quickest" in found:
            quickest, cpu = show(found["seconds_quickest"], "ms"), show(found["cpu_seconds_per_iteration"], "ms")
            done = f"{found['iterations']} iterations of {quickest} in the quickest block, {cpu} of CPU time"
            print(f"  mbi: {done}; loss {found['loss']:.2f}; {load()}", file=sys.stderr)
        return found

    def alternate(self, ours, theirs):
        """Runs of both sides in turn, until there are enough or the patience is used up."""
        ours_found, theirs_found = [], []
        for _ in range(self.arguments.repeats):
            ours_found.append(ours())
            theirs_found.append(theirs())
            if theirs_found[-1] is None or theirs_found[-1]["wall_seconds"] > self.arguments.patience:
                break
        return [found for found in ours_found if found], [found for found in theirs_found if found]

    def row(self, what, found, ours, theirs, unit, target=""):
        """Adds a row from (our runs, their runs) and the names of the figures in them."""
        known = [[run[key] for run in runs if run.get(key) is not None] for runs, key in zip(found, (ours, theirs))]
        medians = [statistics.median(values) if values else None for values in known]
        ratio = medians[1] / medians[0] if None not in medians and medians[0] > 0 else None
        runs = f"{len(found[0])} / {len(found[1])}"
        cells = [what, *(show(value, unit) for value in medians), f"{ratio:.1f}" if ratio else "–", target, runs]
        self.rows.append("| " + " | ".join(cells) + " |")
        print(self.rows[-1], flush=True)

    def table(self):
        head = ["| | ours | mbi 2.0.0 | mbi / ours | our target | runs |", "| --- | --- | --- | --- | --- | --- |"]
        return "\n".join(head + self.rows)


def show(value, unit):
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "never"
    scale = {"ms": 1e3, "s": 1.0, "MB": 1e-6}[unit]
    return f"{value * scale:.3g} {unit}" if value * scale < 1000 else f"{value * scale:.0f} {unit}"


def load():
    return "load average " + " ".join(f"{value:.1f}" for value in os.getloadavg()) + f" on {os.cpu_count()} cores"


# -------------------------------------------------------------------------------------- problems


def write_problem(path, name, domain, total, measurements):
    problem = {
        "name": name,
        "domain": domain,
        "total": float(total),
        "measurements": [
            {"attrs": list(attrs), "query": ["identity"] * len(attrs), "y": y.round(6).tolist(), "stddev": stddev}
            for attrs, y, stddev in measurements
        ],
    }
    path.write_text(json.dumps(problem))
    return path


def chain_problem(folder, length, total=100_000.0, scale=30.0):
    """Figure 2b: attributes of size 10, every triple of neighbours measured. A Markov chain of order 2."""
    import numpy as np

    random = np.random.default_rng([SEED, length])
    names = [f"x{i:04}" for i in range(length)]
    pair, measurements = random.dirichlet(np.ones(100)).reshape(10, 10), []
    for first in range(length - 2):
        triple = pair[:, :, None] * random.dirichlet(np.full(10, 0.5), (10, 10))
        y = triple.ravel() * total + random.laplace(0.0, scale, 1000)
        measurements.append((names[first : first + 3], y, scale * math.sqrt(2)))
        pair = triple.sum(axis=0)
    path = folder / f"chain{length}_{total:.0f}.json"
    return write_problem(path, path.stem, {name: 10 for name in names}, total, measurements), names


def adult_records(path):
    """Columns of codes and where they came from."""
    import numpy as np

    schema = PROJECT / "datasets" / "adult" / "schema.toml"
    if path is not None:
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        header, *rows = csv.reader(io.StringIO(text.decode()))
        table = np.array(rows, dtype=int)
        return {name: table[:, header.index(name)] for name in ADULT}, str(path.name)
    if schema.exists():
        return discretised(schema), "datasets/adult"
    # Records near 400 centres of very unequal weight, each attribute redrawn from a skewed
    # distribution one time in ten.
    random = np.random.default_rng(SEED)
    weights = 1.0 / np.arange(1, 401)
    centre = random.choice(400, ADULT_RECORDS, p=weights / weights.sum())
    columns = {}
    for name, size in ADULT.items():
        skewed = random.dirichlet(np.full(size, 0.2))
        column = random.choice(size, 400, p=skewed)[centre]
        redrawn = random.random(ADULT_RECORDS) < 0.1
        columns[name] = np.where(redrawn, random.choice(size, ADULT_RECORDS, p=skewed), column)
    return columns, "a seeded generator, not the real data"


def discretised(schema_path):
    """The records of datasets/adult in the codes of its schema."""
    import tomllib

    import numpy as np

    schema = tomllib.loads(schema_path.read_text())
    table = schema["table"]
    rows = []
    for file in table["files"]:
        lines = gzip.decompress((schema_path.parent / file["name"]).read_bytes()).decode().splitlines()
        lines = [line for line in lines if line.strip() and line not in table.get("ignore_lines", [])]
        rows += csv.reader(lines, skipinitialspace=True)
    columns = {}
    for attribute in schema["attribute"]:
        source = table["columns"].index(attribute.get("column", attribute["name"]))
        words = [row[source].strip().removesuffix(attribute.get("strip_suffix", "")) for row in rows]
        if attribute["kind"] == "numeric":
            low, width = attribute["low"], (attribute["high"] + 1 - attribute["low"]) / attribute["bins"]
            codes = np.floor((np.array(words, dtype=float) - low) / width).astype(int)
            columns[attribute["name"]] = np.clip(codes, 0, attribute["bins"] - 1)
        else:
            code = {value: i for i, value in enumerate(attribute["values"])}
            columns[attribute["name"]] = np.array([code[word] for word in words])
    return {name: columns[name] for name in ADULT}


def adult_problem(folder, path):
    import numpy as np

    columns, origin = adult_records(path)
    random, measurements = np.random.default_rng(SEED), []
    for triple in ADULT_TRIPLES:
        shape = [ADULT[name] for name in triple]
        cells = np.ravel_multi_index([columns[name] for name in triple], shape)
        y = np.bincount(cells, minlength=math.prod(shape)) + random.laplace(0.0, LAPLACE_SCALE, math.prod(shape))
        measurements.append((triple, y, LAPLACE_SCALE * math.sqrt(2)))
    return write_problem(folder / "adult.json", "adult", ADULT, ADULT_RECORDS, measurements), origin


def unmeasured_triples(count):
    """Triples that no measurement covers, of at most 50,000 cells."""
    import numpy as np

    measured = {frozenset(triple) for triple in ADULT_TRIPLES}
    candidates = [
        triple
        for triple in itertools.combinations(ADULT, 3)
        if frozenset(triple) not in measured and math.prod(ADULT[name] for name in triple) <= 50_000
    ]
    chosen = np.random.default_rng(SEED).choice(len(candidates), count, replace=False)
    return [candidates[i] for i in sorted(chosen)]


# ------------------------------------------------------------------------------------------ rows


def chain(bench):
    lengths = bench.arguments.lengths or [d for d in CHAIN_LENGTHS if d <= 100 or not bench.arguments.quick]
    for length in lengths:
        problem, names = chain_problem(bench.folder, length)
        task = {
            "do": "iterate", "problem": str(problem), "iterations": 1000, "seconds": 10.0, "block": 50,
            "perfect_order": names,
        }  # fmt: skip
        target = "4 ms on one core, 2 ms on two" if length == 1000 else ""
        label = f"chain d = {length}"

        def beside(ours, estimator, oracle, problem=problem):
            mbi = task | {"estimator": estimator, "oracle": oracle, "problem": str(problem)}
            return bench.alternate(ours, lambda: bench.theirs(mbi))

        def ours():
            found, alike = bench.estimate(problem, 300), bench.estimate(problem, 300, "accelerated")
            return found and alike and found | {"alike": alike["seconds_per_iteration"]}

        def row(what, found, ours="seconds_per_iteration"):
            bench.row(f"{label}, one iteration{what}", found, ours, "seconds_per_iteration", "ms", target)

        found = beside(lambda: bench.estimate(problem, 300), *DEFAULT)
        row(f", mbi's default ({DEFAULT[0]})", found)
        found = beside(ours, *ACCELERATED)
        row(f", its accelerated method ({ACCELERATED[0]})", found)
        row(", that and ours with a fixed constant", found, "alike")
        if length == 1000:
            short = [bench.estimate(problem, 100) for _ in found[0]]
            both = ([run for run in short if run], found[1])
            bench.row(f"{label}, process start to 100 iterations", both, "wall_seconds", "seconds_to_100", "s")
            # The paper's: 1000 records, a budget of 1 for all triples, an estimate at a corner of the polytope.
            noisy, _ = chain_problem(bench.folder, length, 1000.0, 2.0 * length)
            drowned = beside(lambda: bench.estimate(noisy, 300), *ACCELERATED, problem=noisy)
            row(f", 1000 records and noise of thousands ({ACCELERATED[0]})", drowned)
        bench.row(f"{label}, peak memory", found, "peak_bytes", "peak_bytes", "MB")


def adult(bench):
    problem, origin = adult_problem(bench.folder, bench.arguments.adult)
    print(f"Adult: {origin}", file=sys.stderr)
    base = {"do": "iterate", "problem": str(problem), "block": 10, "seconds": 10.0, "iterations": 400}
    for what, (estimator, oracle) in (("mbi's default", DEFAULT), ("mbi's fastest oracle", FASTEST)):
        task = base | {"estimator": estimator, "oracle": oracle}
        found = bench.alternate(lambda: bench.estimate(problem, 300), lambda: bench.theirs(task))
        label = f"Adult, one iteration, {what} ({estimator}, {oracle})"
        bench.row(label, found, "seconds_per_iteration", "seconds_per_iteration", "ms", "3 ms on one core, 2 ms on two")
        if oracle == "default":
            bench.row("Adult, peak memory of the estimation", found, "peak_bytes", "peak_bytes", "MB")
    adult_to_optimum(bench, problem, base)
    adult_model(bench, problem)


def adult_to_optimum(bench, problem, base):
    optimum, iterations = bench.arguments.optimum, None
    if bench.binary is not None:
        certified = bench.estimate(problem, 5000)
        if certified is None:
            return
        optimum = certified["loss"]
        print(f"Adult: least loss {optimum:.3f}, at most {certified['gap']:.3g} above the optimum", file=sys.stderr)
        iterations = least_iterations(lambda n: bench.estimate(problem, n)["loss"] <= 1.001 * optimum)
    if optimum is None:
        print("Adult, time to 0.1 %: no optimum known; left out", file=sys.stderr)
        return
    estimator, oracle = ACCELERATED
    task = base | {
        "estimator": estimator, "oracle": oracle, "iterations": 3000, "seconds": bench.arguments.limit,
        "target_loss": 1.001 * optimum,
    }  # fmt: skip
    found = bench.alternate(
        lambda: bench.estimate(problem, iterations) if iterations else None,
        lambda: at_target(bench.theirs(task), task["target_loss"]),
    )
    label = f"Adult, to 0.1 % above the optimum ({estimator}, {oracle})"
    bench.row(f"{label}, without set-up", found, "seconds", "seconds_steady", "s", "1.5 s")
    bench.row(f"{label}, from process start", found, "wall_seconds", "seconds_from_start", "s")
    counts = [round(statistics.median(run["iterations"] for run in runs)) if runs else None for runs in found]
    print(f"Adult: iterations to 0.1 %: ours {counts[0]}, mbi {counts[1]}", file=sys.stderr)


def at_target(found, target_loss):
    """A run that did not arrive took for ever."""
    if found and not found["loss"] <= target_loss:
        found |= {"seconds_steady": math.inf, "seconds_from_start": math.inf}
    return found


def least_iterations(reaches, step=50):
    """The least multiple of `step` that is enough, for a predicate that stays true once it is."""
    high = step
    while not reaches(high):
        high *= 2
        if high > 50_000:
            return None
    low = high // 2 if high > step else 0
    while high - low > step:
        middle = (low + high) // 2 // step * step
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def adult_model(bench, problem):
    queries = unmeasured_triples(5 if bench.arguments.quick else 50)
    bench.estimate(problem, 300)
    model, marginals = bench.folder / "model", [f"--marginal={','.join(query)}" for query in queries]
    task = {
        "do": "use_model", "problem": str(problem), "oracle": "fast", "block": 10, "iterations": 100,
        "queries": queries, "records": ADULT_RECORDS,
    }  # fmt: skip

    def ours():
        asked = bench.ours("query", model, *marginals, "--format", "json")
        records = ["--records", ADULT_RECORDS, "--seed", SEED, "--out", bench.folder / "records.csv", "--force"]
        drawn = bench.ours("synth", model, *records)
        return asked and drawn and {
            "queries": asked["wall_seconds"],
            "synth": drawn["wall_seconds"],
            "peak_bytes": max(asked["peak_bytes"], drawn["peak_bytes"]),
        }

    found = bench.alternate(ours, lambda: bench.theirs(task))
    for state in ("cold", "warm"):
        bench.row(f"Adult, {len(queries)} unmeasured triples, mbi {state}", found, "queries", f"queries_{state}", "s")
    for state in ("cold", "warm"):
        bench.row(f"Adult, {ADULT_RECORDS} records, mbi {state}", found, "synth", f"synth_{state}", "s")
    bench.row("Adult, peak memory of queries and records", found, "peak_bytes", "peak_bytes", "MB")


def survey(bench):
    """mbi's combinations on Adult, each for about ten seconds: milliseconds and whether it stays finite."""
    problem, _ = adult_problem(bench.folder, bench.arguments.adult)
    for estimator, oracle in SURVEY:
        task = {
            "do": "iterate", "problem": str(problem), "estimator": estimator, "oracle": oracle,
            "block": 10, "iterations": 1000, "seconds": 10.0,
        }  # fmt: skip
        found = bench.theirs(task)
        found = ([], [found] if found else [])
        bench.row(f"mbi on Adult, one iteration, {estimator}, {oracle}", found, None, "seconds_per_iteration", "ms")


def main(arguments):
    # A request to end is an exception here, so that a running child is ended with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    wanted = arguments.only or ["chain", "adult"]
    if arguments.quick:
        arguments.repeats = 1
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, Path(folder))
        before = load()
        for name, rows in (("chain", chain), ("adult", adult), ("survey", survey)):
            if name in wanted:
                rows(bench)
        text = f"{bench.table()}\n\nBefore: {before}. After: {load()}.\n"
    print(f"\n{text}")
    if arguments.out:
        arguments.out.write_text(text)


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    enter_environment(ARGUMENTS.venv)
    if ARGUMENTS.child:
        print(json.dumps(Theirs(json.loads(ARGUMENTS.child)).run()))
    else:
        main(ARGUMENTS)

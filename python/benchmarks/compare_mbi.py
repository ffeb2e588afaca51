#!/usr/bin/env python3
"""The package's times next to those of mbi 2.0.0: the same calls, one machine, one run.

    python python/benchmarks/compare_mbi.py             all rows
    python python/benchmarks/compare_mbi.py --quick     fewer iterations and marginals
    python python/benchmarks/compare_mbi.py --only adult --repeats 5

Both packages must be installed: `pip install ./python mbi==2.0.0`. Every side of a row is a process
of its own, and processes of both sides alternate.

- "estimate" is `MirrorDescent().estimate(domain, measurements, total)`: all 1000 iterations of mbi,
  and ours until its loss is at most the one that mbi ended with, which a callback looks at every 50
  iterations. "default call" is ours with the same arguments as mbi: 1000 iterations, which end with
  a smaller loss and its certificate.
- "cold" counts from the start of the process: imports, compilation, reading the problem. "warm" is
  the median of later calls in the same process, after compilation.
- "marginals" are all 469 of one, two and three of Adult's 14 attributes, answered by the fitted
  model: `bulk_variable_elimination` of mbi, `project_many` of ours.
- "overhead" is the time of the Python call beyond the seconds that the engine reports for itself.
- mbi computes in double precision, as we do. Both sides may use all cores. CPU time is the sum over
  threads: on a busy machine it is the better number, and both are printed.

Problems are those of scripts/compare_mbi.py: Adult's 15 triples, and the chain of Figure 2b of the
paper with 100 attributes.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STARTED, STARTED_CPU = time.perf_counter(), time.process_time()
PROJECT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(PROJECT / "scripts"))
TARGETS = {"cold": 100.0, "warm": 20.0, "marginals": 20.0}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer iterations and marginals")
    parser.add_argument(
        "--only", choices=["adult", "chain", "marginals"], action="append", help="rows to run"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="our processes per row; mbi runs once"
    )
    parser.add_argument("--calls", type=int, default=3, help="warm calls per process")
    parser.add_argument(
        "--limit", type=float, default=3600.0, help="seconds after which a process is ended"
    )
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a target is missed")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


# ----------------------------------------------------------------------------- one side, a process


class Clock:
    """Wall and CPU seconds of calls."""

    def __init__(self, before=(None, None)):
        self.before = before

    def __enter__(self):
        if self.before[0] is None:
            self.before = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall = time.perf_counter() - self.before[0]
        self.cpu = time.process_time() - self.before[1]


def run_child(task):
    """Loads one package and one problem; prints times as JSON."""
    with Clock((STARTED, STARTED_CPU)) as cold:
        if task["side"] == "mbi":
            os.environ["JAX_ENABLE_X64"] = "1"
        package = __import__(task["side"])
        import numpy as np

        problem = json.loads(Path(task["problem"]).read_text())
        domain = package.Domain.fromdict(problem["domain"])
        measurements = [
            package.LinearMeasurement(np.array(m["y"]), tuple(m["attrs"]), m["stddev"])
            for m in problem["measurements"]
        ]

        target, options = task.get("target_loss"), {}
        if target is not None:
            options["callback_fn"] = lambda marginals: stop_at(target, marginals, measurements)

        def estimate():
            model = package.estimation.MirrorDescent().estimate(
                domain, measurements, problem["total"], iters=task["iterations"], **options
            )
            return model, np.asarray(model.project(measurements[0].clique).values)

        model, _ = estimate()
    found = {"cold": [cold.wall, cold.cpu], "loss": loss(model, measurements)}
    if task["do"] == "estimate":
        warm, overhead = [], []
        for _ in range(task["calls"]):
            with Clock() as clock:
                model, _ = estimate()
            warm.append([clock.wall, clock.cpu])
            if task["side"] == "pgmbench":
                overhead.append(clock.wall / model.fit.seconds - 1)
        found |= {"warm": warm, "overhead": overhead, "gap": getattr(model, "gap", None)}
    else:
        found["marginals"] = marginals(task, model)
    print(json.dumps(found))


def stop_at(target, marginals, measurements):
    if loss(marginals, measurements) <= target:
        raise StopIteration


def loss(model, measurements):
    import numpy as np

    return sum(
        0.5
        * float(
            np.sum(
                (
                    (np.asarray(model.project(m.clique).datavector()) - m.noisy_measurement)
                    / m.stddev
                )
                ** 2
            )
        )
        for m in measurements
    )


def marginals(task, model):
    """Seconds of all marginals, first and second time."""
    queries, times = [tuple(query) for query in task["queries"]], []
    for _ in range(2):
        with Clock() as clock:
            if task["side"] == "mbi":
                import jax
                from mbi import marginal_oracles

                answers = marginal_oracles.bulk_variable_elimination(
                    model.potentials, queries, model.total
                )
                jax.block_until_ready(answers)
            else:
                model.project_many(queries)
        times.append([clock.wall, clock.cpu])
    return times


# ------------------------------------------------------------------------------------- both sides


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.rows, self.missed = arguments, folder, [], False
        self.iterations = 100 if arguments.quick else 1000

    def child(self, side, task):
        task = task | {"side": side, "iterations": self.iterations, "calls": self.arguments.calls}
        command = [sys.executable, __file__, "--child", json.dumps(task)]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=self.arguments.limit
        )
        if done.returncode != 0:
            sys.exit(f"{side}: {done.stderr.strip()[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def ours(self, task):
        return [self.child("pgmbench", task) for _ in range(self.arguments.repeats)]

    def row(self, what, ours, theirs, target):
        """A row from lists of (wall, CPU) seconds."""
        ours, theirs = (
            [statistics.median(column) for column in zip(*times)] for times in (ours, theirs)
        )
        wall, cpu = theirs[0] / ours[0], theirs[1] / ours[1]
        reached = "" if target is None else "yes" if wall >= target else "no"
        self.missed |= reached == "no"
        cells = [
            what,
            f"{show(ours[0])} ({show(ours[1])})",
            f"{show(theirs[0])} ({show(theirs[1])})",
            f"{wall:.0f} ({cpu:.0f})",
            "" if target is None else f"{target:.0f}",
            reached,
        ]
        self.say("| " + " | ".join(cells) + " |")

    def say(self, line):
        self.rows.append(line)
        print(line, flush=True)

    def estimate(self, label, problem):
        task = {"do": "estimate", "problem": str(problem)}
        theirs = self.child("mbi", task)
        ours = self.ours(task | {"target_loss": theirs["loss"]})
        default = self.ours(task)
        warm = [call for run in ours for call in run["warm"]]
        self.row(f"{label}, estimate, warm", warm, theirs["warm"], TARGETS["warm"])
        cold = [run["cold"] for run in ours]
        self.row(f"{label}, estimate, cold", cold, [theirs["cold"]], TARGETS["cold"])
        warm = [call for run in default for call in run["warm"]]
        self.row(f"{label}, default call, warm", warm, theirs["warm"], None)
        self.missed |= ours[0]["loss"] > theirs["loss"]
        above = f"at most {default[0]['gap']:.2g} above the least"
        note = f"{label}: losses {ours[0]['loss']:.3f} and mbi's {theirs['loss']:.3f}; "
        note += f"default call {default[0]['loss']:.3f}, {above}"
        if label == "Adult":
            overhead = statistics.median(value for run in default for value in run["overhead"])
            self.missed |= overhead >= 0.05
            note += f"; overhead of Python {100 * overhead:.1f} % (target: below 5 %)"
        self.notes.append(note)
        print(note, flush=True)

    def run(self):
        import compare_mbi as problems

        self.notes = []
        wanted = self.arguments.only or ["adult", "chain", "marginals"]
        self.say("| | ours: wall (CPU) | mbi 2.0.0: wall (CPU) | ratio | target | reached |")
        self.say("| --- | --- | --- | --- | --- | --- |")
        adult, _ = problems.adult_problem(self.folder, None)
        if "adult" in wanted:
            self.estimate("Adult", adult)
        if "chain" in wanted:
            self.estimate("chain of 100", problems.chain_problem(self.folder, 100)[0])
        if "marginals" in wanted:
            sizes = (1, 2) if self.arguments.quick else (1, 2, 3)
            queries = [
                query for size in sizes for query in itertools.combinations(problems.ADULT, size)
            ]
            self.iterations = 100  # of the model that answers
            task = {"do": "marginals", "problem": str(adult), "queries": queries}
            ours, theirs = self.ours(task), self.child("mbi", task)
            for state, name in enumerate(("cold", "warm")):
                times = [run["marginals"][state] for run in ours], [theirs["marginals"][state]]
                self.row(f"Adult, {len(queries)} marginals, {name}", *times, TARGETS["marginals"])


def show(seconds):
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def load():
    return (
        "load average "
        + " ".join(f"{value:.1f}" for value in os.getloadavg())
        + f" on {os.cpu_count()} cores"
    )


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        bench, before = Bench(arguments, Path(folder)), load()
        bench.run()
        text = "\n".join([*bench.rows, "", *bench.notes, "", f"Before: {before}. After: {load()}."])
    print(text.splitlines()[-1])
    if arguments.out:
        arguments.out.write_text(text + "\n")
    return 1 if bench.missed and arguments.strict else 0


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    if ARGUMENTS.child:
        run_child(json.loads(ARGUMENTS.child))
    else:
        sys.exit(main(ARGUMENTS))

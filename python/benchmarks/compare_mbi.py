#!/usr/bin/env python3
"""The package's times next to those of mbi 2.0.0: the same calls, one machine, one run.

    python python/benchmarks/compare_mbi.py             all targets, in less than 12 minutes
    python python/benchmarks/compare_mbi.py --only adult --repeats 5
    python python/benchmarks/compare_mbi.py --strict --out table.md

Where pgmbench or mbi cannot be imported, the first run makes a virtual environment (--venv), which
takes some minutes more, and continues there; remove the folder to renew it. Every side of a row is
a process of its own, the only one at that time.

- "estimate" is `MirrorDescent().estimate(domain, measurements, total)`: all 1000 iterations of mbi,
  and ours until its loss is at most the one that mbi ended with, which a callback looks at every 50
  iterations. "default call" is ours with the same arguments as mbi: 1000 iterations, which end with
  a smaller loss and its certificate.
- "cold" counts from the start of the process: imports, compilation, reading the problem. "warm" is
  the median of later calls in the same process, after compilation.
- "marginals" are all 469 of one, two and three of Adult's 14 attributes, answered by the fitted
  model: `bulk_variable_elimination` of mbi, `project_many` of ours.
- A step of mbi that takes longer than --limit seconds, or what is left of --minutes, is stopped.
  Its row says "at least", and a target that this does not show is "not shown", as are those of the
  steps after it. Ours then has no
  loss to reach and runs to its end. mbi makes no further warm call after a minute of them.
- A step of mbi that the system ends because memory runs out counts as stopped then.
- "overhead" is the time of the Python call beyond the seconds that the engine reports for itself.
- "arrays" hands a problem of 10,000,000 measured cells to the engine, without JSON. The arrays of
  the measurements are the caller's; the one copy is the engine's own table.
- mbi computes in double precision, as we do. Both sides may use all cores. CPU time is the sum over
  threads: on a busy machine it is the better number, and both are printed.

Problems are those of scripts/compare_mbi.py: Adult's 15 triples, and the chain of Figure 2b of the
paper with 100 attributes.
"""

import argparse
import importlib.util
import itertools
import json
import os
import queue
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from pathlib import Path

STARTED, STARTED_CPU = time.perf_counter(), time.process_time()
PROJECT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(PROJECT / "scripts"))
TARGETS = {"cold": 100.0, "warm": 20.0, "marginals": 20.0}
MAX_OVERHEAD = 0.05
# Further warm calls are made until so much time has passed, and time that is left to our side.
WARM_SECONDS, RESERVE = 60.0, 60.0
LARGE = {"a": 200, "b": 250, "c": 200}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", choices=["adult", "chain", "arrays"], action="append", help="rows to run"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="our processes per row; mbi runs once"
    )
    parser.add_argument("--calls", type=int, default=3, help="warm calls per process")
    parser.add_argument(
        "--limit", type=float, default=150.0, help="seconds after which a step of mbi is stopped"
    )
    parser.add_argument("--minutes", type=float, default=11.0, help="of all rows together")
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a target is missed")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    parser.add_argument(
        "--venv", type=Path, default=PROJECT / ".venv" / "compare", help="virtual environment"
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def continue_where_both_are(folder):
    """Runs this program in an environment with both packages, if this one does not have them."""
    if all(importlib.util.find_spec(name) for name in ("pgmbench", "mbi")):
        return
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if Path(sys.executable) == python:
        sys.exit(f"{folder} lacks pgmbench or mbi; remove it, so that it is made again")
    if not python.exists():
        print(f"making {folder}, which takes some minutes", flush=True)
        venv.create(folder, with_pip=True)
        packages = [str(PROJECT / "python"), "mbi==2.0.0"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    sys.exit(subprocess.run([python, *sys.argv], check=False).returncode)


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
        self.times = time.perf_counter() - self.before[0], time.process_time() - self.before[1]


def tell(**found):
    """One step is done: a line for the parent."""
    print(json.dumps(found), flush=True)


def run_child(task):
    """Loads one package and one problem; prints the times of each step as JSON."""
    if task["do"] == "arrays":
        return arrays()
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
                domain, measurements, problem["total"], iters=1000, **options
            )
            return model, np.asarray(model.project(measurements[0].clique).values)

        model, _ = estimate()
    tell(cold=cold.times, loss=loss(model, measurements), gap=getattr(model, "gap", None))
    warm = time.perf_counter()
    for _ in range(task["calls"]):
        if time.perf_counter() - warm > WARM_SECONDS:
            break
        with Clock() as clock:
            model, _ = estimate()
        overhead = clock.times[0] / model.fit.seconds - 1 if task["side"] == "pgmbench" else None
        tell(warm=clock.times, overhead=overhead)
    queries = [tuple(query) for query in task.get("queries", ())]
    for name in ("marginals_cold", "marginals_warm") if queries else ():
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
        tell(**{name: clock.times})


def stop_at(target, marginals, measurements):
    if loss(marginals, measurements) <= target:
        raise StopIteration


def loss(model, measurements):
    import numpy as np

    def residual(m):
        answers = np.asarray(model.project(m.clique).datavector())
        return (answers - m.noisy_measurement) / m.stddev

    return sum(0.5 * float(np.sum(residual(m) ** 2)) for m in measurements)


def arrays():
    """A problem of 10,000,000 measured cells, from arrays to the engine and to a model."""
    import numpy as np
    import pgmbench

    domain = pgmbench.Domain.fromdict(LARGE)
    answers = np.random.default_rng(0).normal(20.0, 5.0, domain.size())
    noisy = pgmbench.LinearMeasurement(answers, tuple(LARGE), 5.0)
    shared = bool(np.shares_memory(noisy.noisy_measurement, answers))
    before = resident_bytes()
    with Clock() as handing:
        taken = pgmbench.queries.measure_all(domain, [noisy])
    grown = resident_bytes() - before
    del taken
    with Clock() as estimating:
        pgmbench.estimation.MirrorDescent().estimate(domain, [noisy], iters=10)
    tell(
        shared=shared, bytes=answers.nbytes, grown=grown, handing=handing.times[0],
        estimating=estimating.times[0],
    )  # fmt: skip


def resident_bytes():
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE")


# ------------------------------------------------------------------------------------- both sides


# In this order.
STEPS = ("cold", "warm", "marginals_cold", "marginals_warm")


class Side:
    """The steps of one process or of several, and after how many seconds one was stopped."""

    def __init__(self):
        self.steps, self.stopped, self.killed = {}, None, False

    def add(self, line):
        for name, value in json.loads(line).items():
            self.steps.setdefault(name, []).append(value)

    def median(self, name):
        """Median wall and CPU seconds of a step; None if it was not reached."""
        found = self.steps.get(name)
        return found and [statistics.median(column) for column in zip(*found)]

    def stopped_in(self):
        """The step that was stopped; those after it were not reached."""
        return None if self.stopped is None else next(s for s in STEPS if s not in self.steps)


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.lines, self.missed = arguments, folder, [], []
        self.deadline = STARTED + 60.0 * arguments.minutes - RESERVE

    def step_limit(self):
        """Seconds that the next step of mbi may take."""
        return max(1.0, min(self.arguments.limit, self.deadline - time.perf_counter()))

    def run_process(self, side, task, into=None):
        """Runs one side. A step of mbi that takes longer than its limit is the last."""
        into, limit = into or Side(), None
        task = task | {"side": side, "calls": self.arguments.calls}
        command = [sys.executable, __file__, "--child", json.dumps(task)]
        with tempfile.TemporaryFile("w+") as errors:
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
            lines = queue.Queue()

            def read():
                for line in child.stdout:
                    lines.put(line)
                lines.put(None)

            threading.Thread(target=read, daemon=True).start()
            try:
                while True:
                    began = time.perf_counter()
                    limit = self.step_limit() if side == "mbi" else None
                    if (line := lines.get(timeout=limit)) is None:
                        break
                    into.add(line)
            except queue.Empty:
                into.stopped = limit
            finally:
                if into.stopped is not None:
                    child.kill()
                code = child.wait()
            if code == -signal.SIGKILL and side == "mbi" and into.stopped is None:
                # Not by us: the system ends processes when memory runs out.
                into.stopped, into.killed = time.perf_counter() - began, True
            elif code != 0 and into.stopped is None:
                errors.seek(0)
                sys.exit(f"{side}: {errors.read().strip()[-2000:]}")
        return into

    def ours(self, task):
        side = Side()
        for _ in range(self.arguments.repeats):
            self.run_process("pgmbench", task, into=side)
        return side

    def row(self, what, step, ours, theirs, target=None):
        """A row of one step's times."""
        mine, other = ours.median(step), theirs.median(step)
        if other is None and theirs.stopped is None:
            return
        if other is None and theirs.stopped_in() != step:
            wall, shown, ratio, missed = 0.0, "not reached", "", "not shown"
        elif other is None:
            wall = theirs.stopped / mine[0]
            how = "out of memory" if theirs.killed else "stopped"
            shown = f"{how} after {theirs.stopped:.0f} s"
            ratio = f"at least {wall:.0f}"
            missed = "not shown"
        else:
            wall, shown = other[0] / mine[0], f"{show(other[0])} ({show(other[1])})"
            ratio, missed = f"{wall:.0f} ({other[1] / max(mine[1], 1e-9):.0f})", "no"
        reached = "" if target is None else "yes" if wall >= target else missed
        if reached in ("no", "not shown"):
            self.missed.append(what)
        goal = "" if target is None else f"{target:.0f}"
        mine = f"{show(mine[0])} ({show(mine[1])})"
        self.say(f"| {what} | {mine} | {shown} | {ratio} | {goal} | {reached} |")

    def check(self, what, holds):
        """A line for a target that is not a ratio."""
        if not holds:
            self.missed.append(what)
        self.say(f"{what}: {'reached' if holds else 'MISSED'}")

    def say(self, line):
        self.lines.append(line)
        print(line, flush=True)

    def compare(self, label, problem, queries=()):
        task = {"do": "estimate", "problem": str(problem)}
        theirs = self.run_process("mbi", task | {"queries": queries})
        default = self.ours(task | {"queries": queries})
        target = theirs.steps.get("loss", [None])[0]
        # Without a loss to reach, ours runs to its end.
        ours = default if target is None else self.ours(task | {"target_loss": target})
        self.say("\n| | ours: wall (CPU) | mbi 2.0.0: wall (CPU) | ratio | target | reached |")
        self.say("| --- | --- | --- | --- | --- | --- |")
        self.row(f"{label}, estimate, warm", "warm", ours, theirs, TARGETS["warm"])
        self.row(f"{label}, estimate, cold", "cold", ours, theirs, TARGETS["cold"])
        self.row(f"{label}, default call, warm", "warm", default, theirs)
        for state in ("cold", "warm") if queries else ():
            what = f"{label}, {len(queries)} marginals, {state}"
            self.row(what, f"marginals_{state}", default, theirs, TARGETS["marginals"])
        loss, gap = default.steps["loss"][0], default.steps["gap"][0]
        above = f"at most {gap:.2g} above the least"
        self.say(f"\n{label}: default call ends with a loss of {loss:.3f}, {above}.")
        if target is not None:
            found = max(ours.steps["loss"])
            self.check(f"Loss {found:.3f} at most mbi's {target:.3f}", found <= target)
        return default

    def run(self):
        import compare_mbi as problems

        wanted = self.arguments.only or ["adult", "chain", "arrays"]
        if "adult" in wanted:
            sizes = (1, 2, 3)
            queries = [list(q) for n in sizes for q in itertools.combinations(problems.ADULT, n)]
            adult, _ = problems.adult_problem(self.folder, None)
            found = self.compare("Adult", adult, queries)
            overhead = statistics.median(found.steps["overhead"])
            self.check(
                f"Overhead of Python {100 * overhead:.1f} %, below {100 * MAX_OVERHEAD:.0f} %",
                overhead < MAX_OVERHEAD,
            )
        if "chain" in wanted:
            self.compare("chain of 100", problems.chain_problem(self.folder, 100)[0])
        if "arrays" in wanted:
            self.arrays()

    def arrays(self):
        steps = self.run_process("pgmbench", {"do": "arrays"}).steps
        shared, size, grown, handing, estimating = (
            steps[name][0] for name in ("shared", "bytes", "grown", "handing", "estimating")
        )
        self.say("")
        self.check(
            f"10,000,000 measured cells ({size / 1e6:.0f} MB) without a copy in Python and without "
            f"JSON; the engine has its own table after {show(handing)} and "
            f"{grown / 1e6:.0f} MB",
            shared and not grown > 1.1 * size,
        )
        self.say(f"Estimating them, 10 iterations: {show(estimating)}.")


def show(seconds):
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def load():
    averages = " ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"load average {averages} on {os.cpu_count()} cores"


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        bench, before = Bench(arguments, Path(folder)), load()
        bench.run()
        missed = "; ".join(bench.missed) or "none"
        bench.say(f"\nTargets missed or not shown: {missed}.")
        bench.say(f"{time.perf_counter() - STARTED:.0f} s. Before: {before}. After: {load()}.")
        if arguments.out:
            arguments.out.write_text("\n".join(bench.lines).lstrip() + "\n")
    return 1 if bench.missed and arguments.strict else 0


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    if ARGUMENTS.child:
        run_child(json.loads(ARGUMENTS.child))
    else:
        continue_where_both_are(ARGUMENTS.venv)
        sys.exit(main(ARGUMENTS))

#!/usr/bin/env python3
"""The loop of AIM on Adult: our CPU time next to that of the same loop on mbi 2.0.0.

    python3 scripts/compare_aim.py                  five rounds of theirs, all of ours
    python3 scripts/compare_aim.py --rounds 20      more rounds of theirs

The authors' aim.py is not a part of the package on PyPI. This script has a loop of its own on mbi's
public interface, with the published constants, the same candidates and the same order of work: select,
measure, estimate with a warm start. It is not the authors' code, and its noise differs from ours.

Theirs is measured over the first rounds, in which models are smallest, and ours over a complete run, so
the ratio of CPU seconds per round is a lower bound. Ours is `pgmbench run` with one trial, without the
start of the program and the reading of the data, but with the final estimate and the evaluation; theirs
is without imports and the reading of the data. Needs Python 3.11 and a release build; the first run
installs mbi 2.0.0 into .venv/mbi. The load average is printed: on a busy machine CPU seconds are rough,
too.
"""

import argparse
import csv
import itertools
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import compare_mbi

PROJECT = Path(__file__).resolve().parent.parent

CONFIG = """
name = "compare-aim"
trials = 1
epsilon = {epsilon}
delta = 1e-9
neighbours = "add-remove"
datasets = [{{ name = "adult", without = ["education"] }}]

[workload]
every = 3
prefix = []

[[mechanism]]
name = "aim"
arms = ["pgm"]
"""


def cpu(who=resource.RUSAGE_SELF):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def ours(program, epsilon):
    """Rounds, CPU seconds and wall seconds of a complete run."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "compare-aim.toml"
        config.write_text(CONFIG.format(epsilon=epsilon))
        began, used = time.perf_counter(), cpu(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "run", config.name, "--timing"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        seconds, used = time.perf_counter() - began, cpu(resource.RUSAGE_CHILDREN) - used
        rows = list(csv.DictReader((Path(folder) / "results/compare-aim/trials.csv").open()))
        if rows[0]["status"] != "done":
            sys.exit(f"our run ended as {rows[0]['status']}: {rows[0]['message']}")
        return int(rows[0]["rounds"]), used, seconds, float(rows[0]["workload_error"])


def theirs(epsilon, rounds, iterations):
    """The first rounds on mbi; prints a line of JSON per round."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import mbi
    import numpy as np

    rng = np.random.default_rng(0)
    domain = mbi.Domain(tuple(compare_mbi.ADULT), tuple(compare_mbi.ADULT.values()))
    records, _ = compare_mbi.adult_records(None)
    data = mbi.Dataset(records, domain)
    began, used = time.perf_counter(), cpu()
    triples = list(itertools.combinations(domain.attributes, 3))
    mentions = {name: sum(name in triple for triple in triples) for name in domain.attributes}
    candidates = [c for size in (1, 2, 3) for c in itertools.combinations(domain.attributes, size)]
    weight = {c: sum(mentions[name] for name in c) for c in candidates}
    exact = {c: np.asarray(data.project(c).datavector()) for c in candidates}
    rho = zcdp_rho(epsilon, 1e-9)
    planned = 16 * len(domain.attributes)
    sigma, select = np.sqrt(planned / (1.8 * rho)), np.sqrt(0.8 * rho / planned)
    measured = []

    def measure(clique):
        noisy = exact[clique] + rng.normal(0, sigma, exact[clique].size)
        measured.append(mbi.LinearMeasurement(noisy, clique, sigma))

    def estimate(model):
        fit = mbi.estimation.MirrorDescent()
        return fit.estimate(domain, measured, warm_start=model, iters=iterations)

    for name in domain.attributes:
        measure((name,))
    model, spent = estimate(None), len(measured) * 0.5 / sigma**2
    for number in range(1, rounds + 1):
        spent += select**2 / 8 + 0.5 / sigma**2
        limit = 80 * spent / rho
        cliques = list(model.cliques)
        inside = set(mbi.clique_utils.downward_closure(cliques))
        allowed = [
            c for c in candidates
            if c in inside or mbi.junction_tree.hypothetical_model_size(domain, cliques + [c]) <= limit
        ]  # fmt: skip
        noise = np.sqrt(2 / np.pi) * sigma
        score = {}
        for c in allowed:
            error = np.abs(exact[c] - np.asarray(model.project(c).datavector())).sum()
            score[c] = weight[c] * (error - noise * exact[c].size)
        scores = np.array([score[c] for c in allowed])
        logits = select * scores / (2 * max(weight[c] for c in allowed))
        chosen = allowed[np.argmax(logits + rng.gumbel(size=len(allowed)))]
        measure(chosen)
        before = np.asarray(model.project(chosen).datavector())
        model = estimate(model)
        after = np.asarray(model.project(chosen).datavector())
        if np.abs(after - before).sum() <= noise * exact[chosen].size:
            sigma, select = sigma / 2, select * 2
        print(json.dumps({"round": number, "chosen": chosen, "cpu": cpu() - used,
                          "seconds": time.perf_counter() - began}), flush=True)  # fmt: skip


def zcdp_rho(epsilon, delta):
    """The largest rho with rho + 2 sqrt(rho ln(1/delta)) <= epsilon; ours is a little larger."""
    log = math.log(1 / delta)
    return (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of theirs")
    parser.add_argument("--iterations", type=int, default=1000, help="iterations of theirs per round")
    parser.add_argument("--program", type=Path, default=PROJECT / "target/release/pgmbench")
    parser.add_argument("--venv", type=Path, default=PROJECT / ".venv/mbi")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    compare_mbi.enter_environment(options.venv)
    if options.inside:
        return theirs(options.epsilon, options.rounds, options.iterations)
    print("load average", *os.getloadavg(), flush=True)
    rounds, used, seconds, error = ours(options.program.resolve(), options.epsilon)
    print(f"ours    {rounds} rounds, {used:.1f} s of CPU, {seconds:.1f} s, workload error {error:.4f}",
          flush=True)
    words = [sys.executable, __file__, "--inside", "--epsilon", str(options.epsilon), "--rounds",
             str(options.rounds), "--iterations", str(options.iterations), "--venv", str(options.venv)]  # fmt: skip
    # Round by round, as a round takes a minute or more.
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            last = json.loads(line)
            names = " x ".join(last["chosen"])
            print(f"theirs  round {last['round']} ({names}): {last['cpu']:.1f} s of CPU, "
                  f"{last['seconds']:.1f} s so far", flush=True)  # fmt: skip
    if child.returncode != 0:
        sys.exit(f"their run ended with {child.returncode}")
    ratio = (last["cpu"] / last["round"]) / (used / rounds)
    print(f"ratio of CPU seconds per round: at least {ratio:.0f}")


if __name__ == "__main__":
    main()

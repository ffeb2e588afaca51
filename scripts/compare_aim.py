#!/usr/bin/env python3
"""The loop of AIM on Adult: our CPU time next to that of the same loop on mbi 2.0.0.

    python3 scripts/compare_aim.py                     all three-way marginals, three rounds of theirs
    python3 scripts/compare_aim.py --triples           the ICML paper's 15 triples: 66 candidates
    python3 scripts/compare_aim.py --limit 3600        an hour for theirs instead of 20 minutes

The authors' aim.py is not a part of the package on PyPI. This script has a loop of its own on mbi's
public interface, with the published constants, the same candidates and the same order of work: select,
measure, estimate with a warm start. It is not the authors' code, and its noise differs from ours.

Both sides run the first K rounds after the estimate from single attributes, which counts too; K is the
number of rounds that theirs finishes within --limit seconds, at most --rounds. The ratio is that of the
CPU seconds until the end of round K, without imports and the reading of the data. mbi compiles a program
for every marginal of every model, so its rounds take minutes on all three-way marginals; the first ones
have the smallest models. Where theirs finishes not even one round, what it used until the limit is a
lower bound of its first round, and the ratio is marked so. Ours goes on to its end, for its total.

Theirs has 1000 iterations per round, the authors' default, and ours 100 of a faster method; --iterations
changes theirs. Ours is the example aim_rounds (cargo build --release --example aim_rounds). Needs Linux and Python 3.11;
the first run installs mbi 2.0.0 into .venv/mbi. The load average is printed: on a busy machine CPU seconds
are rough, too.
"""

import argparse
import contextlib
import itertools
import json
import math
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import compare_mbi

PROJECT = Path(__file__).resolve().parent.parent


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def ours(program, epsilon, triples):
    """A dictionary per estimate of a complete run: round 0, the rounds, the final estimate."""
    words = [program, "--epsilon", str(epsilon), *(["--triples"] if triples else [])]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def theirs(epsilon, rounds, iterations, only_triples):
    """The first rounds on mbi; prints a line of JSON per round, and when it begins to work."""
    import jax

    jax.config.update("jax_enable_x64", True)
    # Off, as mbi itself advises.
    jax.config.update("jax_enable_compilation_cache", False)
    import mbi
    import numpy as np

    rng = np.random.default_rng(0)
    domain = mbi.Domain(tuple(compare_mbi.ADULT), tuple(compare_mbi.ADULT.values()))
    records, _ = compare_mbi.adult_records(None)
    data = mbi.Dataset(records, domain)
    began, used = time.perf_counter(), cpu()
    print(json.dumps({"began": used}), flush=True)
    triples = list(itertools.combinations(domain.attributes, 3))
    if only_triples:
        triples = [domain.canonical(triple) for triple in compare_mbi.ADULT_TRIPLES]
    mentions = {name: sum(name in triple for triple in triples) for name in domain.attributes}
    closure = {c for t in triples for size in (1, 2, 3) for c in itertools.combinations(t, size)}
    candidates = sorted(closure, key=lambda c: (len(c), c))
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

    def report(number, chosen):
        print(json.dumps({"round": number, "chosen": " x ".join(chosen), "cpu": cpu() - used,
                          "seconds": time.perf_counter() - began}), flush=True)  # fmt: skip

    for name in domain.attributes:
        measure((name,))
    model, spent = estimate(None), len(measured) * 0.5 / sigma**2
    report(0, ["single attributes"])
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
        report(number, chosen)


def zcdp_rho(epsilon, delta):
    """The largest rho with rho + 2 sqrt(rho ln(1/delta)) <= epsilon; ours is a little larger."""
    log = math.log(1 / delta)
    return (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2


def cpu_of(process):
    """CPU seconds of a running process and its threads, from /proc."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def run_theirs(options):
    """The rounds that theirs finished within the limit, and the CPU seconds until it was ended."""
    words = [sys.executable, __file__, "--inside", "--epsilon", str(options.epsilon),
             "--rounds", str(options.rounds), "--iterations", str(options.iterations),
             "--venv", str(options.venv), *(["--triples"] if options.triples else [])]  # fmt: skip
    done, before, used = [], 0.0, 0.0
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        waiting = threading.Timer(options.limit, child.terminate)
        watching = threading.Event()

        def watch():
            nonlocal used
            # Ends with the process, whose last numbers stay.
            with contextlib.suppress(OSError):
                while not watching.wait(1.0):
                    used = max(used, cpu_of(child))

        waiting.start()
        threading.Thread(target=watch, daemon=True).start()
        for line in child.stdout:
            last = json.loads(line)
            if "began" in last:
                before = last["began"]
                continue
            done.append(last)
            print(f"theirs  round {last['round']} ({last['chosen']}): {last['cpu']:.1f} s of CPU, "
                  f"{last['seconds']:.1f} s so far", flush=True)  # fmt: skip
        child.wait()
        waiting.cancel()
        watching.set()
    if child.returncode not in (0, -signal.SIGTERM):
        sys.exit(f"their run ended with {child.returncode}")
    return done, used - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of theirs at most")
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds for theirs")
    parser.add_argument("--triples", action="store_true", help="the 15 triples as workload")
    parser.add_argument("--iterations", type=int, default=1000, help="iterations of theirs per round")
    parser.add_argument("--program", type=Path, default=PROJECT / "target/release/examples/aim_rounds")
    parser.add_argument("--venv", type=Path, default=PROJECT / ".venv/mbi")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    compare_mbi.enter_environment(options.venv)
    if options.inside:
        return theirs(options.epsilon, options.rounds, options.iterations, options.triples)
    print("load average", *os.getloadavg(), flush=True)
    own = ours(options.program.resolve(), options.epsilon, options.triples)
    *rounds, last = own
    print(f"ours    {len(rounds)} rounds in all, {rounds[-1]['cpu']:.2f} s of CPU, with the final estimate "
          f"{last['cpu']:.2f} s", flush=True)  # fmt: skip
    done, used = run_theirs(options)
    compared = min(done[-1]["round"] if done else 0, len(rounds) - 1)
    if compared > 0:
        theirs_used, bound, ours_used = done[compared]["cpu"], "", rounds[compared]["cpu"]
    else:
        # The first round was not finished: it takes more than was used.
        theirs_used, bound, ours_used = used, "more than ", rounds[1]["cpu"]
    which = f"rounds 1 to {compared}" if compared > 1 else "round 1"
    print(f"compared: the estimate from single attributes and {which}")
    print(f"ours {ours_used:.2f} s of CPU, theirs {bound}{theirs_used:.1f} s: "
          f"{bound}{theirs_used / max(ours_used, 0.01):.0f} times as much")  # fmt: skip


if __name__ == "__main__":
    main()

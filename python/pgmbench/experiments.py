"""Experiments: what the estimator changes, from a configuration to a figure.

results = pgmbench.run("configs/fig1.toml", quick=True)
results.to_frame()      # a row per trial and arm
results                 # in a notebook: its figure
"""

from __future__ import annotations

import csv
import html
import importlib
import json
import operator
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _core

__all__ = ["Results", "run"]

Event = tuple[str, str, int]

# The program of the process that runs an experiment.
_CHILD = "import json, sys; from pgmbench.experiments import _main; _main(json.loads(sys.argv[1]))"


def run(
    config: str | os.PathLike[str],
    results: str | os.PathLike[str] = "results",
    *,
    quick: bool = False,
    trials: int | None = None,
    iterations: int | None = None,
    datasets: Sequence[str] = (),
    mechanisms: Sequence[str] = (),
    arms: Sequence[str] = (),
    epsilons: Sequence[float] = (),
    jobs: int | None = None,
    timing: bool = False,
    fresh: bool = False,
    progress: bool = True,
) -> Results:
    """Runs an experiment file and returns its results.

    Every finished arm is stored at once. A run that was interrupted goes on where it was when it
    is started again; what is there already is not run again. The work is done in a process of its
    own, which ends with Ctrl-C.

    Args:
        config: the file, or the name of one in `configs` or of the program, such as "smoke".
        results: results are written to a folder in here, with the experiment's name.
        quick: the small version that the file describes under [quick].
        trials: overrides the number of trials.
        iterations: overrides the number of iterations of every estimate.
        datasets, mechanisms, arms, epsilons: a part of the experiment; default: all.
        jobs: trials at a time; default: one per thread. Numbers do not depend on it.
        timing: one trial at a time, each on all cores.
        fresh: whether to delete the results that are there.
        progress: whether to show a progress bar.
    """
    for name, count in (("trials", trials), ("iterations", iterations), ("jobs", jobs)):
        if count is not None and operator.index(count) < 1:
            raise ValueError(f"{name}: expected a whole number from 1, found {count}")
    arguments = {
        "file": str(_config_file(Path(config))),
        "results": str(results),
        "quick": quick,
        "trials": trials,
        "iterations": iterations,
        "only": [list(datasets), list(mechanisms), list(arms), [float(e) for e in epsilons]],
        "jobs": jobs,
        "timing": timing,
        "fresh": fresh,
    }
    command = [sys.executable, "-c", _CHILD, json.dumps(arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    bar = _bar(progress)
    last: dict[str, Any] = {}
    try:
        assert process.stdout is not None
        for line in process.stdout:
            last = json.loads(line)
            if "event" in last:
                bar(tuple(last["event"]))
        process.wait()
    except BaseException:
        # Rows that had ended are stored, and one that is being written is repaired when the
        # results are opened again.
        process.kill()
        process.wait()
        raise
    finally:
        bar(("end", "", 0))
    if "error" in last:
        raise ValueError(last["error"])
    if "folder" not in last:
        raise RuntimeError(f"the run ended with exit code {process.returncode}")
    return Results(Path(last["folder"]), last["tally"])


def _config_file(config: Path) -> Path:
    """The file itself, or the one of this name in `configs`."""
    if not config.exists():
        named = Path("configs") / config.with_suffix(".toml")
        if named.exists():
            return named
    return config


def _bar(visible: bool) -> Callable[[Event], None]:
    """A progress bar of tqdm, or a line on a terminal."""
    if not visible:
        return lambda event: None
    try:
        tqdm = importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return _line() if sys.stderr.isatty() else lambda event: None
    bar: Any = None

    def show(event: Event) -> None:
        nonlocal bar
        what, text, count = event
        if what == "start":
            bar = tqdm(total=count, unit="arm")
        elif bar is not None and what == "trial":
            bar.set_postfix_str(text)
        elif bar is not None and what == "arm":
            bar.update(count)
        elif bar is not None and what == "end":
            bar.close()

    return show


def _line() -> Callable[[Event], None]:
    total, done = 0, 0

    def show(event: Event) -> None:
        nonlocal total, done
        what, text, count = event
        total += count if what == "start" else 0
        done += count if what == "arm" else 0
        if what == "end":
            print(file=sys.stderr)
        else:
            print(f"\r{done} of {total} arms  {text[:50]:<50}", end="", file=sys.stderr, flush=True)

    return show


@dataclass(frozen=True)
class Results:
    """The results of an experiment, in a folder.

    Attributes:
        folder: where they are: trials.csv, summary.csv, claims.csv, ledger.jsonl, manifest.json,
            figure.svg and figure.png.
        tally: the numbers of arms of the last run that were done, infeasible, out of time, not
            applicable, failed, and there already.
    """

    folder: Path
    tally: dict[str, int] = field(default_factory=dict)

    def to_frame(self, kind: str | None = None) -> Any:
        """A row per trial and arm, as a data frame.

        Args:
            kind: "pandas", "polars" or "dict"; default: the first of them that is installed.
        """
        return self._table("trials.csv", kind)

    def summary(self, kind: str | None = None) -> Any:
        """Means, medians and paired ratios with confidence intervals, as a data frame."""
        return self._table("summary.csv", kind)

    def claims(self, kind: str | None = None) -> Any:
        """The claims of the paper, our numbers and the verdicts, as a data frame."""
        return self._table("claims.csv", kind)

    def ledger(self) -> list[dict[str, Any]]:
        """What each draw of noise cost."""
        with open(self.folder / "ledger.jsonl", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def manifest(self) -> dict[str, Any]:
        """The configuration, checksums of the data, versions and machines."""
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))

    @property
    def figure(self) -> str | None:
        """The figure as SVG; None if the experiment has none."""
        file = self.folder / "figure.svg"
        return file.read_text(encoding="utf-8") if file.exists() else None

    def _table(self, name: str, kind: str | None) -> Any:
        file = self.folder / name
        if not file.exists():
            raise FileNotFoundError(f"{file}: the experiment has not been run")
        for library in ("pandas", "polars"):
            if kind == library or kind is None:
                try:
                    return importlib.import_module(library).read_csv(file)
                except ImportError:
                    if kind == library:
                        raise
        if kind not in (None, "dict"):
            raise ValueError(f'kind: expected "pandas", "polars" or "dict", found {kind!r}')
        with open(file, encoding="utf-8", newline="") as opened:
            head, *rows = csv.reader(opened)
        return {name: [_value(row[at]) for row in rows] for at, name in enumerate(head)}

    def _repr_html_(self) -> str:
        figure = self.figure or "<p>no figure</p>"
        return f"<div><p>{html.escape(str(self.folder))}</p>{figure}</div>"


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None


def _main(arguments: dict[str, Any]) -> None:
    """Runs an experiment in this process and writes an event per line."""

    def write(message: dict[str, Any]) -> None:
        print(json.dumps(message), flush=True)

    def tell(what: str, text: str, count: int) -> None:
        write({"event": [what, text, count]})

    if not hasattr(_core, "run_experiment"):
        write({"error": "this build of pgmbench has no experiments (feature `experiments`)"})
        return
    file, results = arguments.pop("file"), arguments.pop("results")
    arguments["only"] = tuple(arguments["only"])
    try:
        folder, tally = _core.run_experiment(file, results, observer=tell, **arguments)
    except ValueError as error:
        write({"error": str(error)})
        return
    except KeyboardInterrupt:
        # The threads of the run end with the process.
        os._exit(130)
    names = ("done", "infeasible", "timeout", "not_applicable", "failed", "reused")
    write({"folder": str(folder), "tally": dict(zip(names, tally))})

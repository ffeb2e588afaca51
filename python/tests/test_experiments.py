"""Experiments from Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import pgmbench

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.skipif(
    not hasattr(pgmbench._core, "run_experiment"), reason="built without experiments"
)

CONFIG = """
name = "small"
title = "Two arms on Titanic"
trials = 2
seed = 0
epsilon = 1.0
datasets = ["titanic"]
[estimation]
iterations = 50
[[mechanism]]
name = "laplace"
arms = ["own", "pgm"]
"""


@pytest.fixture
def config(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(ROOT)
    file = tmp_path / "small.toml"
    file.write_text(CONFIG)
    return file


def test_an_experiment_runs_once_and_opens_as_a_frame(config, tmp_path):
    results = pgmbench.run(config, tmp_path, progress=False)
    assert results.folder == tmp_path / "small"
    assert results.tally["done"] == 4 and results.tally["reused"] == 0
    frame = results.to_frame()
    assert isinstance(frame, pd.DataFrame) and len(frame) == 4
    assert set(frame["arm"]) == {"own", "pgm"}
    assert len(results.to_frame("dict")["trial"]) == 4
    assert len(results.to_frame("polars")) == 4
    assert len(results.summary()) > 0 and len(results.ledger()) > 0
    assert results.manifest()["experiment"]["name"] == "small"
    assert "<div>" in results._repr_html_()
    again = pgmbench.run(config, tmp_path, trials=3, arms=["pgm"], progress=False)
    assert again.tally["reused"] == 2 and again.tally["done"] == 1


def test_a_mistake_in_a_configuration_is_shown(config, tmp_path):
    config.write_text(CONFIG.replace("trials", "trails"))
    with pytest.raises(ValueError, match="trails"):
        pgmbench.run(config, tmp_path, progress=False)
    with pytest.raises(ValueError, match="nothing.toml"):
        pgmbench.run("nothing.toml", tmp_path, progress=False)
    for name in ("trials", "iterations", "jobs"):
        with pytest.raises(ValueError, match=f"{name}: expected a whole number from 1"):
            pgmbench.run("smoke", tmp_path, progress=False, **{name: 0})  # type: ignore[arg-type]


def test_experiments_of_the_program_run_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("smoke", "smoke.toml"):
        results = pgmbench.run(name, mechanisms=["laplace"], arms=["own"], progress=False)
        assert len(results.to_frame()) == 1
    with pytest.raises(ValueError, match="no file"):
        pgmbench.run("smok", progress=False)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupted_run_keeps_its_rows_and_goes_on(config, tmp_path):
    config.write_text(CONFIG.replace("trials = 2", "trials = 100000"))
    program = (
        f"import pgmbench, sys\npgmbench.run({str(config)!r}, {str(tmp_path)!r}, progress=False)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    rows = tmp_path / "small" / "trials.csv"
    for _ in range(300):
        if rows.exists() and rows.stat().st_size > 2000:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    kept = len(pd.read_csv(rows))
    assert kept > 0
    config.write_text(CONFIG.replace("trials = 2", "trials = 1"))
    assert pgmbench.run(config, tmp_path, progress=False).tally["reused"] == 2
    assert json.loads((tmp_path / "small" / "manifest.json").read_text())["runs"]

"""The README's program runs, and says what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

README = Path(__file__).parent.parent / "README.md"


def test_the_program_of_the_readme_runs(capsys):
    (program,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict = {}
    exec(program, names)
    assert isinstance(names["synthetic"], pd.DataFrame)
    assert list(names["synthetic"].columns) == ["age", "sex", "income"]
    assert names["budget"].remaining is None
    assert abs(len(names["synthetic"]) - 1000) < 100
    assert names["model"].gap < 1e-3
    assert len(capsys.readouterr().out.splitlines()) == 3

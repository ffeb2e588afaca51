"""NAMES.md is complete: it has every public name of mbi 2.0, with mbi's parameters."""

import importlib.metadata

import pytest

pytest.importorskip("mbi")
if not importlib.metadata.version("mbi").startswith("2."):
    pytest.skip("for mbi 2", allow_module_level=True)

from mbi_names import listed_names, public_names


def test_every_public_name_of_mbi_is_listed():
    theirs, listed = public_names("mbi"), listed_names()
    assert set(theirs) - set(listed) == set(), "missing in NAMES.md"
    assert set(listed) - set(theirs) == set(), "not in mbi"
    for key, parameters in theirs.items():
        assert listed[key][0] == parameters, key

"""NAMES.md lists mbi's public names; what it says of each is checked here."""

import pytest
from mbi_names import find, listed_names, signature

NAMES = listed_names()


def rows(verdict):
    return [(*key, value[0]) for key, value in NAMES.items() if value[1] == verdict]


def test_the_page_has_rows():
    assert len(NAMES) > 300 and all(
        remark for _, verdict, remark in NAMES.values() if verdict != "same"
    )


@pytest.mark.parametrize(("module", "name", "parameters"), rows("same"))
def test_same_names_have_the_same_parameters(module, name, parameters):
    found = find("pgmbench", module, name)
    if parameters:
        assert signature(found) == parameters


@pytest.mark.parametrize(("module", "name", "parameters"), rows("differs"))
def test_names_that_differ_are_there(module, name, parameters):
    find("pgmbench", module, name)


@pytest.mark.parametrize(("module", "name", "parameters"), rows("not here"))
def test_names_that_are_not_here_are_not(module, name, parameters):
    with pytest.raises((AttributeError, ImportError)):
        find("pgmbench", module, name)

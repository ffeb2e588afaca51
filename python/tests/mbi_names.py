"""mbi's public interface by inspection, and the page that says which of it is here."""

import functools
import importlib
import inspect
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "NAMES.md"
MODULES = (
    "domain dataset factor clique_utils clique_vector marginal_loss constraint estimation "
    "marginal_oracles junction_tree callbacks markov_random_field approximate_oracles einsum "
    "extensions extensions.message_passing extensions.mixture_of_products "
    "extensions.precompute_marginals extensions.reweighted_dataset extensions.synthetic_data"
).split()
OPERATORS = (
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __float__ __call__ "
    "__getitem__ __setitem__ __contains__ __iter__ __len__ __str__"
).split()


def signature(function):
    """Parameters and defaults as text; empty for what cannot be called."""
    if not callable(function):
        return ""
    words, keywords = [], False
    for parameter in inspect.signature(function).parameters.values():
        word = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(
            parameter.kind, ""
        ) + parameter.name
        if parameter.kind == parameter.KEYWORD_ONLY and not keywords:
            words.append("*")
        keywords |= parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        if parameter.default is not parameter.empty:
            plain = isinstance(parameter.default, (int, float, str, tuple, type(None)))
            word += f"={parameter.default!r}" if plain else "=..."
        if word != "self":
            words.append(word)
    return f"({', '.join(words)})"


def members(package, kind):
    """Public methods, properties and fields of a class, with the package's own base classes."""
    found = {}
    for base in kind.__mro__:
        if base.__module__.split(".")[0] != package:
            continue
        for name, value in vars(base).items():
            if name in OPERATORS or not name.startswith("_"):
                callable_one = callable(value) or isinstance(value, (staticmethod, classmethod))
                found.setdefault(name, signature(getattr(kind, name)) if callable_one else "")
        for name in vars(base).get("__annotations__", {}):
            if not name.startswith("_"):
                found.setdefault(name, "")
    return found


def public_names(package):
    """(module, name) -> signature of everything public that the package defines itself."""
    root, found = importlib.import_module(package), {}
    for name in root.__all__:
        found["", name] = ""
    for module_name in MODULES:
        module = importlib.import_module(f"{package}.{module_name}")
        for name, value in vars(module).items():
            own = getattr(value, "__module__", None) == module.__name__ or isinstance(
                value, functools.partial
            )
            constant = name.isupper() and isinstance(value, int)
            if name.startswith("_") or not (own and callable(value) or constant):
                continue
            found[module_name, name] = signature(value)
            if inspect.isclass(value):
                for member, parameters in members(package, value).items():
                    found[module_name, f"{name}.{member}"] = parameters
    return found


def listed_names():
    """(module, name) -> (signature, verdict, remark) of the rows of NAMES.md."""
    found, module = {}, ""
    for line in PAGE.read_text().splitlines():
        if heading := re.fullmatch(r"## `mbi\.?([\w.]*)`.*", line):
            module = heading[1]
        elif row := re.fullmatch(
            r"\| `([\w.]+)(\(.*\))?` \| (same|differs|not here)(?:: (.*))? \|", line
        ):
            found[module, row[1]] = (row[2] or "", row[3], row[4] or "")
    return found


def find(package, module, name):
    """The object, or None for a field without a default; raises if it is not there."""
    value = importlib.import_module(f"{package}.{module}" if module else package)
    for part in name.split("."):
        if not hasattr(value, part) and inspect.isclass(value) and part in members(package, value):
            return None
        value = getattr(value, part)
    return value

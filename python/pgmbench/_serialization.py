"""Files: arrays in NumPy's npz format, and their structure as JSON. Nothing is pickled."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import IO, Any, Union

import numpy as np
import numpy.typing as npt

from .clique_vector import CliqueVector
from .constraint import Constraint
from .dataset import Dataset
from .domain import Domain
from .factor import Factor
from .marginal_loss import LinearMeasurement
from .markov_random_field import FitReport, MarkovRandomField
from .queries import DatavectorQuery, KroneckerQuery, MatrixQuery, SlicedQuery, WeightedQuery
from .uncertainty import Evidence

File = Union[str, "os.PathLike[str]", IO[bytes]]

# The fields of each class that a file can hold.
_CLASSES: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "Domain": (Domain, ("attributes", "shape", "labels")),
    "Factor": (Factor, ("domain", "values")),
    "CliqueVector": (CliqueVector, ("domain", "cliques", "tables")),
    "Constraint": (Constraint, ("domain", "valid", "invalid", "mapping")),
    "Dataset": (Dataset._of_codes, ("data", "domain", "weights")),
    "FitReport": (FitReport, ("loss", "gap", "iterations", "reason", "seconds")),
    "Evidence": (Evidence, ("measurements", "total_is_known", "norm", "oracle")),
    "LinearMeasurement": (LinearMeasurement, ("noisy_measurement", "clique", "stddev", "query")),
    "DatavectorQuery": (DatavectorQuery, ("use_for_total_estimation",)),
    "KroneckerQuery": (KroneckerQuery, ("factors",)),
    "MatrixQuery": (MatrixQuery, ("matrix",)),
    "SlicedQuery": (SlicedQuery, ("start",)),
    "WeightedQuery": (WeightedQuery, ("weights",)),
}


def save(obj: Any, file: File) -> None:
    """Writes models, measurements, data, and lists, tuples and dictionaries of them.

    Args:
        obj: what to write.
        file: a path or a binary file.
    """
    arrays: dict[str, npt.NDArray[Any]] = {}
    structure = json.dumps({"format": "pgmbench 1", "value": _encode(obj, arrays)})
    arrays["structure"] = np.frombuffer(structure.encode(), dtype=np.uint8)
    if isinstance(file, (str, os.PathLike)):
        # NumPy would add a suffix to a name.
        with open(file, "wb") as opened:
            np.savez(opened, **arrays)  # type: ignore[arg-type]
    else:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def load(file: File) -> Any:
    """Reads what `save` wrote.

    Args:
        file: a path or a binary file.
    """
    try:
        opened = np.load(file, allow_pickle=False)
    except (ValueError, EOFError):
        # NumPy takes any other file for a pickle, or for one that ends early.
        opened = None
    if not isinstance(opened, np.lib.npyio.NpzFile):
        raise ValueError("this file was not written by pgmbench.save")
    with opened as archive:
        if "structure" not in archive:
            raise ValueError("this file was not written by pgmbench.save")
        structure = json.loads(bytes(archive["structure"]).decode())
        if structure.get("format") != "pgmbench 1":
            raise ValueError(f"unknown format {structure.get('format')!r}; expected pgmbench 1")
        return _decode(structure["value"], archive)


def _encode(value: Any, arrays: dict[str, npt.NDArray[Any]]) -> Any:
    def inner(part: Any) -> Any:
        return _encode(part, arrays)

    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        # JSON has no infinities.
        return value if np.isfinite(value) else {"number": repr(value)}
    if isinstance(value, list):
        return [inner(part) for part in value]
    if isinstance(value, tuple):
        return {"tuple": [inner(part) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[inner(key), inner(part)] for key, part in value.items()]}
    if isinstance(value, MarkovRandomField):
        written = {"model": [inner(part) for part in (*value.to_tuple(), value.fit)]}
        if value.evidence is not None:
            # Not the measurements, which may be larger than the model, or functions.
            written["evidence"] = inner(replace(value.evidence, measurements=None))
        return written
    name = type(value).__name__
    if name in _CLASSES:
        fields = _CLASSES[name][1]
        return {"class": name, "fields": [inner(getattr(value, field)) for field in fields]}
    if value is Factor.datavector:
        return inner(DatavectorQuery())
    if isinstance(value, np.generic):
        return inner(value.item())
    if callable(value):
        raise TypeError(
            f"a query that is a function cannot be written: {value!r}; use a MatrixQuery"
        )
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"cannot write a value of type {type(value)}")
    key = f"array{len(arrays)}"
    arrays[key] = array
    return {"array": key}


def _decode(value: Any, archive: Any) -> Any:
    def inner(part: Any) -> Any:
        return _decode(part, archive)

    if isinstance(value, list):
        return [inner(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return float(value["number"])
    if "array" in value:
        return archive[value["array"]]
    if "tuple" in value:
        return tuple(inner(part) for part in value["tuple"])
    if "dict" in value:
        return {inner(key): inner(part) for key, part in value["dict"]}
    if "model" in value:
        *parts, fit = (inner(part) for part in value["model"])
        return MarkovRandomField(*parts, fit=fit, evidence=inner(value.get("evidence")))
    make, _ = _CLASSES[value["class"]]
    return make(*(inner(part) for part in value["fields"]))

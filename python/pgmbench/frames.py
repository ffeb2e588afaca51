"""Frames of other libraries, by duck typing: pandas, polars, Arrow, NumPy, dictionaries."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .domain import Attribute, Domain

Column = npt.NDArray[Any]

# A column of real numbers with more values than this is taken for a continuous one.
MAX_REAL_VALUES = 1000


@dataclass(frozen=True)
class Schema:
    """How records look as a frame.

    Attributes:
        kind: "pandas", "polars", "arrow", "numpy" or "dict".
        types: the type of each column in the terms of the library.
    """

    kind: str
    types: dict[Attribute, Any]

    def project(self, names: Iterable[Attribute]) -> Schema:
        """The schema of some columns."""
        return Schema(self.kind, {name: self.types[name] for name in names})


def kind_of(frame: Any) -> str | None:
    """The kind of a frame, or None."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pandas":
        return "pandas"
    if library == "polars":
        return "polars"
    if library == "pyarrow":
        return "arrow"
    if isinstance(frame, np.ndarray):
        return "numpy"
    if isinstance(frame, Mapping):
        return "dict"
    return None


def _check_names(frame: Any, kind: str | None) -> None:
    """Of two columns with one name, only one could be read."""
    names: list[Any] | None = None
    if kind == "pandas":
        names = list(getattr(frame, "columns", ())) if frame.ndim == 2 else None
    elif kind == "arrow":
        names = list(frame.schema.names) if hasattr(frame, "schema") else None
    elif kind == "polars":
        names = [] if hasattr(type(frame), "collect_schema") else None
    else:
        return
    if names is None:
        raise TypeError(f"expected a table with named columns, found {type(frame)}")
    repeated = sorted({str(name) for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"there are several columns with the name {repeated[0]!r}")


def columns_of(frame: Any, domain: Domain | None = None) -> dict[Attribute, Column]:
    """The columns of a frame as arrays of objects or numbers; missing values are None or NaN."""
    kind = kind_of(frame)
    _check_names(frame, kind)
    if kind == "polars":
        frame = frame.collect() if hasattr(frame, "collect") else frame
        return {name: frame.get_column(name).to_numpy() for name in frame.columns}
    if kind == "arrow":
        return {
            name: frame.column(index).to_numpy(zero_copy_only=False)
            if not hasattr(frame.column(index), "chunks")
            else frame.column(index).to_numpy()
            for index, name in enumerate(frame.schema.names)
        }
    if kind == "pandas":
        return {name: np.asarray(frame[name]) for name in frame.columns}
    if kind == "numpy":
        if frame.dtype.names is not None:
            return {name: frame[name] for name in frame.dtype.names}
        if frame.ndim != 2 or domain is None or frame.shape[1] != len(domain):
            raise ValueError(
                "an array needs a domain and one column per attribute, or named fields"
            )
        return {name: frame[:, index] for index, name in enumerate(domain.attributes)}
    if kind == "dict":
        return {name: np.asarray(values) for name, values in frame.items()}
    if hasattr(frame, "__arrow_c_stream__"):
        return columns_of(importlib.import_module("pyarrow").table(frame))
    raise TypeError(
        "expected a pandas, polars or Arrow table, an array with named fields, or a dictionary of "
        f"arrays; found {type(frame)}"
    )


def _types(frame: Any, kind: str, columns: Mapping[Attribute, Column]) -> dict[Attribute, Any]:
    if kind == "pandas":
        return {name: frame[name].dtype for name in columns}
    if kind == "polars":
        return dict(zip(columns, frame.collect_schema().dtypes()))
    if kind == "arrow":
        return {name: frame.schema.field(name).type for name in columns}
    return {name: values.dtype for name, values in columns.items()}


def _is_missing(values: Column) -> npt.NDArray[np.bool_]:
    """Where a column has None, NaN, NaT or NA."""
    if values.dtype.kind in "biuSU":
        return np.zeros(values.shape, dtype=bool)
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    return np.fromiter((_one_missing(value) for value in values), dtype=bool, count=len(values))


def _one_missing(value: Any) -> bool:
    if value is None:
        return True
    same = value == value
    # pandas' NA compares as NA, NaN as unequal to itself.
    return not (isinstance(same, (bool, np.bool_)) and bool(same)) and not isinstance(value, str)


def _labels(name: Attribute, values: Column) -> tuple[Any, ...]:
    """The values that occur, ascending, and None at the end if some are missing."""
    missing = _is_missing(values)
    present = values[~missing]
    try:
        found = np.unique(present).tolist()
    except TypeError:
        found = sorted(set(present.tolist()), key=lambda value: (str(type(value)), str(value)))
    if values.dtype.kind == "f":
        if len(found) > MAX_REAL_VALUES:
            raise ValueError(
                f"column {name!r} has {len(found)} different real numbers; group them first, for "
                "example with pandas.cut"
            )
    if values.dtype.kind in "mM":
        found = list(np.unique(present))
    return (*found, None) if missing.any() else tuple(found)


def domain_of(frame: Any) -> Domain:
    """The domain of the values of a frame; see `Domain.from_frame`."""
    columns = columns_of(frame)
    kind = kind_of(frame) or "arrow"
    if kind_of(frame) is None:
        frame = importlib.import_module("pyarrow").table(frame)
    types = _types(frame, kind, columns)
    labels: list[tuple[Any, ...]] = []
    for name, values in columns.items():
        categories = _categories(types[name])
        if categories is not None:
            missing = (None,) if _is_missing(values).any() else ()
            labels.append((*categories, *missing))
        else:
            labels.append(_labels(name, values))
        if not labels[-1]:
            raise ValueError(f"column {name!r} has no values")
    return Domain(columns, [len(each) for each in labels], labels, Schema(kind, types))


def _categories(dtype: Any) -> list[Any] | None:
    """The categories of a categorical type that lists them."""
    categories = getattr(dtype, "categories", None)
    if categories is None or type(dtype).__name__ == "Categorical":
        return None
    return list(categories.to_list() if hasattr(categories, "to_list") else categories)


def encode(name: Attribute, values: Column, labels: tuple[Any, ...]) -> Column:
    """The positions of values among the labels."""
    codes = {label: code for code, label in enumerate(labels) if not _one_missing(label)}
    missing_code = next((code for code, label in enumerate(labels) if _one_missing(label)), None)
    missing = _is_missing(values)
    result = np.empty(len(values), dtype=np.min_scalar_type(max(len(labels) - 1, 0)))
    if missing.any():
        if missing_code is None:
            raise ValueError(f"column {name!r} has missing values, but its labels have none")
        result[missing] = missing_code
    present = values[~missing]
    try:
        distinct, inverse = np.unique(present, return_inverse=True)
        table = np.array([codes[value] for value in distinct.tolist()] or [0])
        if present.dtype.kind in "mM":
            table = np.array([codes[value] for value in distinct] or [0])
        result[~missing] = table[inverse]
    except TypeError:
        result[~missing] = [codes[value] for value in present.tolist()]
    except KeyError as error:
        raise ValueError(
            f"column {name!r} has the value {error.args[0]!r}, which is not in its domain"
        ) from None
    return result


def decode(codes: Column, labels: tuple[Any, ...]) -> Column:
    """The labels at these positions."""
    values = np.empty(len(labels), dtype=object)
    values[:] = labels
    return values[np.asarray(codes, dtype=np.intp)]


def build(data: Mapping[Attribute, Column], domain: Domain, kind: str | None = None) -> Any:
    """A frame of columns of codes: values are labels where the domain has them.

    Args:
        data: codes per attribute.
        domain: the domain of the codes.
        kind: "pandas", "polars", "arrow", "numpy" or "dict"; default: what the domain was made of.
    """
    schema: Schema | None = domain._schema
    kind = kind or (schema.kind if schema is not None else "dict")
    types = schema.types if schema is not None and schema.kind == kind else {}
    labels = domain.labels_config
    values: dict[Attribute, Any] = {}
    for name in domain.attributes:
        values[name] = data[name] if labels is None else decode(data[name], labels[name])
    if kind == "pandas":
        pandas = importlib.import_module("pandas")
        series = {
            name: pandas.Series(column, dtype=types.get(name, None)).infer_objects()
            for name, column in values.items()
        }
        return pandas.DataFrame(series)
    if kind == "polars":
        polars = importlib.import_module("polars")
        return polars.DataFrame(
            [
                polars.Series(str(name), list(column), dtype=types.get(name))
                for name, column in values.items()
            ]
        )
    if kind == "arrow":
        arrow = importlib.import_module("pyarrow")
        return arrow.table(
            {
                str(name): arrow.array(list(column), type=types.get(name))
                for name, column in values.items()
            }
        )
    typed = {
        name: column.astype(types[name]) if name in types else np.array(column.tolist())
        for name, column in values.items()
    }
    if kind == "numpy":
        records = np.empty(
            len(next(iter(typed.values()))),
            dtype=[(str(name), column.dtype) for name, column in typed.items()],
        )
        for name, column in typed.items():
            records[str(name)] = column
        return records
    if kind == "dict":
        return typed
    raise ValueError(
        f'kind: expected "pandas", "polars", "arrow", "numpy" or "dict", found {kind!r}'
    )

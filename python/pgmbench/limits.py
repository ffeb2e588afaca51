"""Limits of memory: what callers give, and what a call may allocate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import _core

if TYPE_CHECKING:
    from .domain import Domain

_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def memory_in_bytes(limit: int | float | str | None) -> int | None:
    """A memory limit in bytes: a number, or a text such as "2 GB"."""
    if limit is None:
        return None
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)i?B?\s*", limit, re.IGNORECASE)
        if found is None:
            raise ValueError(
                f'memory_limit: expected bytes or a text such as "2 GB", not {limit!r}'
            )
        return int(float(found[1]) * _BYTES[found[2].upper()])
    if not limit > 0:
        raise ValueError(f"memory_limit: expected a positive number of bytes, found {limit}")
    return int(limit)


def check_table(domain: Domain) -> None:
    """MemoryError if a table over the domain would not fit."""
    check_numbers(f"a table over {len(domain)} attributes needs", domain.size(), 8)


def check_numbers(what: str, count: int, size: int) -> None:
    """MemoryError if so many numbers of `size` bytes would not fit. `what` begins the message."""
    # An integer of Python may be larger than any float.
    _core.check_memory(what, float(min(count * size, 10**300)))

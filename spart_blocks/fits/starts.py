"""Starts of a search from what an earlier one has found, or from its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.fits.free import Free


def starting_at(free: Sequence[Free], values: Mapping[str, float]) -> tuple[Free, ...]:
    """Quantities that start at values by label, within their bounds. Those without start as they
    did."""
    found = []
    for one in free:
        pairs = zip(one.labels, one.start.tolist(), strict=True)
        start = np.array([values.get(label, number) for label, number in pairs])
        found.append(replace(one, start=np.clip(start, one.low, one.high)))
    return tuple(found)


def values_of_file(given: str | Path, what: str, form: str, hint: str) -> dict[str, float]:
    """The values by label in the file of a result. what: "a fit". form: its format. hint: the
    command that writes one. Raises InputError for a file that holds none.
    """
    path = as_path(given, f"the file of {what}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows: Sequence[Any] = content["parameters"] if content["format"] == form else ()
        values = {str(row["name"]): float(row["value"]) for row in rows}
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError, LookupError):
        values = {}
    if not values or not np.isfinite(list(values.values())).all():
        raise InputError(Fault(f"{path} is not the file of {what}", hint=hint))
    return values


def plain(value: float | None) -> float | None:
    """A number as JSON has it; None where there is none."""
    return None if value is None or not np.isfinite(value) else float(value)

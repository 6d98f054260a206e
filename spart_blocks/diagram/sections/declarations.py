"""The `declare:` section of a diagram: unit, bounds and meaning of its parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from pydantic import Field, StrictStr, ValidationError, model_validator

from spart_blocks.base.document import Document, mapping_at
from spart_blocks.base.errors import Fault, did_you_mean
from spart_blocks.diagram.sections.section import Section


class Declaration(Section):
    """What a parameter of `params:` is."""

    unit: StrictStr | None = Field(None, description="unit of its numbers: N m/rad")
    min: float | None = Field(None, description="least value of each of its numbers")
    max: float | None = Field(None, description="largest value of each of its numbers")
    doc: StrictStr | None = Field(None, description="what it means")

    @model_validator(mode="after")
    def _in_order(self) -> Declaration:
        low, high = self.range
        if low > high:
            raise ValueError(f"min is {low:g} and max is {high:g}: no value is between")
        return self

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value; infinite without a bound."""
        return (
            -math.inf if self.min is None else self.min,
            math.inf if self.max is None else self.max,
        )

    @property
    def bounded(self) -> bool:
        """Whether it has a bound."""
        return self.min is not None or self.max is not None

    def problem(self, name: str, value: Any) -> str | None:
        """Why a value of the parameter is out of its bounds; None if it is not, or has no
        numbers."""
        if not self.bounded or isinstance(value, str | bool | dict):
            return None
        try:
            numbers = np.asarray(value, dtype=float).ravel()
        except (TypeError, ValueError):
            return None
        unit = f" {self.unit}" if self.unit else ""
        low, high = self.range
        for wrong, word, bound in ((numbers < low, "below", low), (numbers > high, "above", high)):
            if wrong.any():
                number = float(numbers[wrong][0])
                least = "min" if word == "below" else "max"
                return f"{name} is {number:g}{unit}, {word} its {least}, {bound:g}{unit}"
        return None


Declarations = Mapping[str, Declaration]
NOTHING = Declaration.model_validate({})
"""The declaration of a parameter of which nothing is declared."""


def declarations_of(data: Mapping[str, Any]) -> dict[str, Declaration]:
    """The valid declarations of a file. data: its values as plain data."""
    found = {}
    for name, written in mapping_at(data, "declare").items():
        with suppress(ValidationError):
            found[str(name)] = Declaration.model_validate(written)
    return found


def check_declared(
    section: Declarations, values: Mapping[str, Any], document: Document, faults: list[Fault]
) -> None:
    """Check that each entry is of a parameter of the file, and that its value is within the bounds.
    values: of the parameters, by name."""
    for name, declared in section.items():
        if name not in values:
            text = f"declare: there is no parameter {name[:60]!r}"
            place = document.key_place("declare", name)
            faults.append(Fault(text, place, did_you_mean(name, values)))
            continue
        problem = declared.problem(name, values[name])
        if problem is not None:
            faults.append(Fault(problem, document.place("params", name)))

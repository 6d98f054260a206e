"""Bounds of a value that a search finds, and limits of a value that it asks for."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator

from spart_blocks.base.errors import brief
from spart_blocks.diagram.sections.expectations import Values
from spart_blocks.diagram.sections.section import Section


class Bounds(Section):
    """A value that is searched: where the search starts, and between which bounds it stays."""

    min: Values = Field(None, description="the least value; without it there is none")
    max: Values = Field(None, description="the greatest value; without it there is none")
    start: Values = Field(None, description="where the search starts, by default at its value")
    scale: Literal["linear", "log"] = Field(
        "linear", description="log: a value above zero, of which the logarithm is searched"
    )

    @model_validator(mode="after")
    def _valid(self) -> Bounds:
        given = {"min": self.min, "max": self.max, "start": self.start}
        low, high, start = (None if v is None else np.asarray(v, float) for v in given.values())
        if low is not None and high is not None and (low >= high).any():
            raise ValueError(f"min, {brief(self.min)}, is not below max, {brief(self.max)}")
        if start is not None:
            if low is not None and (start < low).any():
                raise ValueError(f"start, {brief(self.start)}, is below min, {brief(self.min)}")
            if high is not None and (start > high).any():
                raise ValueError(f"start, {brief(self.start)}, is above max, {brief(self.max)}")
        if self.scale == "log":
            for name, value in given.items():
                if value is not None and (np.asarray(value) <= 0).any():
                    raise ValueError(f"{name} is {brief(value)}; with scale log it is above zero")
        return self


def _pair(raw: Any) -> Any:
    """`[0, 1]` stands for these bounds, nothing for none."""
    if raw is None:
        return {}
    if isinstance(raw, list | tuple):
        if len(raw) != 2:
            raise ValueError(f"takes two bounds, [min, max], not {brief(raw)}")
        return {"min": raw[0], "max": raw[1]}
    if not isinstance(raw, dict | BaseModel):
        raise ValueError(f"takes bounds, as [0, 1] or {{min: 0, start: 0.5}}, not {brief(raw)}")
    return raw


_PAIR_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "array", "minItems": 2, "maxItems": 2},
        Bounds.model_json_schema(),
        {"type": "null"},
    ]
}
Bounded = Annotated[Bounds, BeforeValidator(_pair), WithJsonSchema(_PAIR_SCHEMA)]


class Limits(Section):
    """What a value must be."""

    min: Values = Field(None, description="the least value; without it there is none")
    max: Values = Field(None, description="the greatest value; without it there is none")
    equal: Values = Field(None, description="the value itself")

    @model_validator(mode="after")
    def _limited(self) -> Self:
        if self.equal is None and self.min is None and self.max is None:
            raise ValueError("has no min, max or equal")
        if self.equal is not None and not (self.min is None and self.max is None):
            raise ValueError("takes equal alone, or min and max")
        refuse_crossed(self.min, self.max)
        return self


def refuse_crossed(low: Any, high: Any) -> None:
    """Raise ValueError if a least value is above the greatest; None is none."""
    if low is not None and high is not None:
        least, greatest = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        if (least > greatest).any():
            raise ValueError(f"min, {brief(low)}, is above max, {brief(high)}")

"""The `optimize:` section of a diagram: an optimal control problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StrictStr, model_validator
from pydantic import WithJsonSchema as WithSchema

from spart_blocks.base.errors import brief
from spart_blocks.diagram.sections.bounds import Bounded, Bounds, Limits, refuse_crossed
from spart_blocks.diagram.sections.expectations import Positive, Signal, Values
from spart_blocks.diagram.sections.fit_section import Whole
from spart_blocks.diagram.sections.section import Section


def _limits(raw: Any) -> Any:
    """A number or a list stands for what a value equals."""
    if isinstance(raw, dict | BaseModel):
        return raw
    return {"equal": raw}


_NUMBERS = {"anyOf": [{"type": "number"}, {"type": "array"}]}
Limited = Annotated[
    Limits,
    BeforeValidator(_limits),
    WithSchema({"anyOf": [*_NUMBERS["anyOf"], Limits.model_json_schema()]}),
]


def _time(raw: Any) -> Any:
    """A number stands for a fixed time."""
    return {"min": raw, "max": raw} if isinstance(raw, int | float) else raw


class Span(Bounds):
    """A duration, fixed or free between bounds."""

    @model_validator(mode="after")
    def _valid(self) -> Span:
        given = [v for v in (self.min, self.max, self.start) if v is not None]
        if not all(isinstance(v, int | float) and v > 0 for v in given):
            raise ValueError("takes numbers above zero [s]")
        refuse_crossed(self.min, self.max)
        return self

    @property
    def fixed(self) -> bool:
        """Whether there is one value only."""
        return self.min is not None and self.min == self.max


def _span(raw: Any) -> Any:
    raw = _time(raw)
    if isinstance(raw, list | tuple):
        if len(raw) != 2:
            raise ValueError(f"takes a number, two bounds, or {{min:, max:, start:}}, not {raw}")
        return {"min": raw[0], "max": raw[1]}
    return raw


Spanned = Annotated[
    Span,
    BeforeValidator(_span),
    WithSchema({"anyOf": [*_NUMBERS["anyOf"], Span.model_json_schema()]}),
]


class Conditions(Section):
    """What must hold in a motion, or in a part of it."""

    path: dict[StrictStr, Limited] = Field(
        default_factory=dict, description="formulas of signals, and their limits all the time"
    )
    end: dict[StrictStr, Limited] = Field(
        default_factory=dict, description="formulas of signals, and their limits at the end"
    )


class Phase(Conditions):
    """A part of the motion with its own duration and conditions."""

    T: Spanned = Field(description="its duration [s], fixed or between bounds")
    set: dict[StrictStr, Any] = Field(
        default_factory=dict, description="values of parameters in this phase"
    )
    controls: dict[StrictStr, Bounded] = Field(
        default_factory=dict, description="bounds of controls in this phase, where they differ"
    )


class MeshSection(Section):
    """How the motion is divided."""

    intervals: Whole = Field(16, le=5000, description="intervals of a phase at the start")
    degree: Annotated[int, Field(strict=True, ge=2, le=9)] = Field(
        3, description="of the polynomials in each interval"
    )
    tolerance: Positive = Field(
        1e-6, description="largest error of an interval, relative to the size of a state"
    )
    refinements: Annotated[int, Field(strict=True, ge=0, le=50)] = Field(
        12, description="most times that intervals are divided"
    )
    most: Whole = Field(2000, le=20_000, description="most intervals of a phase")


class GuessSection(Section):
    """Where the search starts."""

    by: Literal["run", "line"] = Field(
        "run", description="run: the diagram's motion with the controls at their starts; "
        "line: straight lines from the initial states to those of `states`"
    )  # fmt: skip
    states: dict[StrictStr, Values] = Field(
        default_factory=dict, description="states at the end of the lines"
    )


def _guess(raw: Any) -> Any:
    """A word stands for the kind; states are for lines."""
    if isinstance(raw, str):
        return {"by": raw}
    if isinstance(raw, Mapping) and raw.get("states"):
        return {"by": "line", **raw}
    return raw


class InformationSection(Section):
    """What measurements of the motion are to tell."""

    parameters: Annotated[list[StrictStr], Field(min_length=1)] = Field(
        description="what is to be estimated, as parameters of fit: are named"
    )
    signals: Annotated[dict[Signal, Values], Field(min_length=1)] = Field(
        description="measured signals, each with the standard deviation of its noise"
    )
    rate: Positive = Field(100.0, description="samples a second")

    @model_validator(mode="after")
    def _valid(self) -> InformationSection:
        for signal, sd in self.signals.items():
            if sd is None or not (np.asarray(sd, float) > 0).all():
                text = f"{signal}: its noise is {brief(sd)}; a standard deviation is above zero"
                raise ValueError(text)
        return self


class OptimizeSection(Conditions):
    """An optimal control problem of a diagram."""

    minimize: StrictStr | None = Field(None, description="the metric that is made least")
    maximize: StrictStr | None = Field(None, description="the metric that is made greatest")
    controls: dict[StrictStr, Bounded] = Field(
        default_factory=dict,
        description="parameters that become functions of time, as the value of a CONSTANT, "
        "each with its bounds",
    )
    parameters: dict[StrictStr, Bounded] = Field(
        default_factory=dict, description="parameters and initial states that are chosen"
    )
    T: Spanned | None = Field(
        None, description="the duration [s], fixed or between bounds; by default that of the run"
    )
    constraints: dict[StrictStr, Limited] = Field(
        default_factory=dict, description="metrics of the whole motion, and their limits"
    )
    information: InformationSection | None = Field(
        None,
        description="what measurements are to tell: `information` is then a metric, the logarithm "
        "of the determinant of the Fisher information",
    )
    phases: dict[StrictStr, Phase] = Field(
        default_factory=dict, description="parts of the motion, in their order"
    )
    mesh: MeshSection = Field(
        default_factory=lambda: MeshSection.model_validate({}), description="how it is divided"
    )
    guess: Annotated[
        GuessSection,
        BeforeValidator(_guess),
        WithSchema({"anyOf": [{"enum": ["run", "line"]}, GuessSection.model_json_schema()]}),
    ] = Field(
        default_factory=lambda: GuessSection.model_validate({}),
        description="where the search starts",
    )
    iterations: Whole = Field(1000, description="most steps of a search on one mesh")
    exact: StrictBool = Field(
        True, description="whether second derivatives are exact; false for large diagrams"
    )

    @model_validator(mode="after")
    def _valid(self) -> OptimizeSection:
        if self.minimize is not None and self.maximize is not None:
            raise ValueError("has minimize and maximize; it takes one of them")
        if self.phases and self.T is not None:
            raise ValueError("has phases, which have their own T; T stands without phases")
        return self

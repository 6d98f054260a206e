"""The `fit:` section of a diagram: parameters that are estimated from measured signals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from spart_blocks.base.errors import brief
from spart_blocks.diagram.sections.expectations import NotNegative, Positive, Signal, Values
from spart_blocks.diagram.sections.section import Section

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring

Loss = Literal["linear", "soft_l1", "huber", "cauchy", "arctan"]
Whole = Annotated[int, Field(strict=True, ge=1)]


class Bounds(Section):
    """An estimated value: where the search starts, and between which bounds it stays."""

    min: Values = Field(None, description="the least value; without it there is none")
    max: Values = Field(None, description="the greatest value; without it there is none")
    start: Values = Field(None, description="where the search starts, by default at its value")
    scale: Literal["linear", "log"] = Field(
        "linear", description="log: a value above zero, of which the logarithm is estimated"
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


class MeasuredSignal(Section):
    """A signal as a sensor measured it."""

    column: StrictStr = Field(description="its name in the file")
    file: StrictStr | None = Field(None, description="its file, by default the experiment's")
    time: StrictStr | None = Field(None, description="the name of its times in the file")
    sd: Positive | None = Field(
        None, description="standard deviation of the sensor's noise, by default not known"
    )
    weight: Positive = Field(1.0, description="how much its squared errors count")
    bias: Bounded | None = Field(
        None, description="bounds of a constant that the sensor adds, which is estimated"
    )
    delay: Bounded | None = Field(
        None, description="bounds of the time by which the sensor lags [s], which is estimated"
    )


def _column(raw: Any) -> Any:
    return {"column": raw} if isinstance(raw, str) else raw


def _may_be_text(schema: dict[str, Any]) -> None:
    entry = schema["additionalProperties"]
    schema["additionalProperties"] = {"anyOf": [{"type": "string"}, entry]}


class Experiment(Section):
    """Signals measured in one run, and what held in it."""

    file: StrictStr = Field(description="a .csv, .npz or .mat file")
    signals: Annotated[
        dict[Signal, Annotated[MeasuredSignal, BeforeValidator(_column)]],
        Field(min_length=1, json_schema_extra=_may_be_text),
    ] = Field(description="signals of the diagram, each with its name in the file")
    time: StrictStr = Field("t", description="the name of the times [s] in the file")
    offset: float = Field(0.0, description="the run's time at the file's time zero [s]")
    since: NotNegative | None = Field(None, description="samples before this time of the run "
                                      "are left out [s]")  # fmt: skip
    until: Positive | None = Field(None, description="samples after this time are left out [s]")
    set: dict[StrictStr, Any] = Field(
        default_factory=dict, description="values of the file in this run, as --set takes them"
    )
    estimate: dict[StrictStr, Bounded] = Field(
        default_factory=dict, description="parameters that are estimated for this run alone"
    )
    hold_out: StrictBool = Field(
        False, description="whether it is left out of the fit and predicted, to validate it"
    )

    @model_validator(mode="after")
    def _some_time(self) -> Experiment:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError("ends before it begins: since is not before until")
        return self


def _experiments(raw: Any) -> Any:
    """A single experiment may stand alone."""
    if isinstance(raw, Mapping) and isinstance(raw.get("file"), str) and "signals" in raw:
        return {"data": raw}
    return raw


class FitSection(Section):
    """Parameters that are estimated, and the experiments that they are estimated from."""

    parameters: dict[StrictStr, Bounded] = Field(
        default_factory=dict, description="parameters by name, each with its bounds"
    )
    experiments: Annotated[dict[StrictStr, Experiment], BeforeValidator(_experiments)] = Field(
        default_factory=dict,
        description="measured runs by name; a single one may stand without a name",
    )
    loss: Loss = Field("linear", description="linear: least squares; the others heed outliers less")
    outlier: Positive = Field(
        3.0, description="errors above so many standard deviations are outliers, if not linear"
    )
    starts: Whole = Field(1, le=10_000, description="searches from different starts")
    seed: Annotated[int, Field(strict=True, ge=0)] = Field(0, description="selects the starts")
    iterations: Whole = Field(100, description="largest number of steps of a search")
    confidence: Annotated[float, Field(strict=True, gt=0, lt=1)] = Field(
        0.95, description="of the intervals"
    )


def check_fit(section: FitSection, wiring: Wiring) -> None:
    """Check that every measured signal exists."""
    for name, experiment in section.experiments.items():
        for signal in experiment.signals:
            keys = ("fit", "experiments", name, "signals", signal)
            wiring.check_signal(signal, keys, f"fit: {name}", wiring.document.key_place(*keys))

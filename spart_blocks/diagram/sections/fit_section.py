"""The `fit:` section of a diagram: parameters that are estimated from measured signals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictStr, model_validator

from spart_blocks.diagram.sections.bounds import Bounded
from spart_blocks.diagram.sections.expectations import NotNegative, Positive, Signal
from spart_blocks.diagram.sections.section import Section

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring

Loss = Literal["linear", "soft_l1", "huber", "cauchy", "arctan"]
Whole = Annotated[int, Field(strict=True, ge=1)]


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

    file: StrictStr = Field(description="a .csv, .npz, .mat or .mcap file, or a bag of ROS")
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
    prior: Positive | None = Field(
        None,
        description="how far, as a fraction, the file's inertial parameters of links may be wrong; "
        "without it they are searched freely",
    )
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

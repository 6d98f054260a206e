"""What `tune:` asks of loops and transfers by frequency, at operating points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictStr, WithJsonSchema, model_validator

from spart_blocks.diagram.sections.bounds import refuse_crossed
from spart_blocks.diagram.sections.expectations import Positive, Values
from spart_blocks.diagram.sections.section import Section

START = "start"
"""The name of the operating point that each diagram has: its initial state."""


class FigureBounds(Section):
    """What is asked of a figure: bounds, or to be small or large."""

    min: float | None = Field(None, description="the least value")
    max: float | None = Field(None, description="the greatest value")
    minimize: Positive | None = Field(None, description="its weight in the objective, to be small")
    maximize: Positive | None = Field(None, description="its weight in the objective, to be large")

    @model_validator(mode="after")
    def _something(self) -> Self:
        given = self.min, self.max, self.minimize, self.maximize
        if all(one is None for one in given):
            raise ValueError("asks nothing without min, max, minimize or maximize")
        if self.minimize is not None and self.maximize is not None:
            raise ValueError("is to be small and large")
        refuse_crossed(self.min, self.max)
        return self


def _number_is(wanted: str) -> BeforeValidator:
    """A number alone stands for the least or the greatest value."""

    def read(raw: Any) -> Any:
        alone = isinstance(raw, int | float) and not isinstance(raw, bool)
        return {wanted: raw} if alone else raw

    return BeforeValidator(read)


_SCHEMA = WithJsonSchema({"anyOf": [{"type": "number"}, FigureBounds.model_json_schema()]})
Least = Annotated[FigureBounds | None, _number_is("min"), _SCHEMA]
Greatest = Annotated[FigureBounds | None, _number_is("max"), _SCHEMA]


def _names(raw: Any) -> Any:
    return (raw,) if isinstance(raw, str) else raw


_NAMES_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Names = Annotated[tuple[StrictStr, ...], BeforeValidator(_names), WithJsonSchema(_NAMES_SCHEMA)]


class FrequencySection(Section):
    """A loop that is cut, or a system from inputs to outputs, and what is asked of it."""

    loop: Names = Field(
        (), description="signals, or inputs of blocks, at which the loop is cut: ctrl.tau[0]"
    )
    inputs: Names = Field((), alias="from", description="in place of a loop: inputs of a system")
    outputs: Names = Field((), alias="to", description="its outputs")
    open: Names = Field((), description="signals that are cut in this system")
    points: Names = Field((), description="operating points by name, by default all")
    gain_margin_db: Least = Field(None, description="of a loop [dB]: more or less gain")
    phase_margin_deg: Least = Field(None, description="of a loop [deg]")
    delay_margin: Least = Field(None, description="of a loop [s]")
    disk_margin: Least = Field(None, description="of a loop: gain and phase together, 0 to 2")
    sensitivity_peak: Greatest = Field(None, description="of a loop: largest gain of 1/(1 + L)")
    complementary_peak: Greatest = Field(None, description="of a loop: that of L/(1 + L)")
    crossover: Least = Field(None, description="of a loop: its last frequency of gain 1 [rad/s]")
    norm: Greatest = Field(None, description="of a system: its largest gain (H-infinity norm)")
    bandwidth: Least = Field(None, description="of a system: where its gain falls by 3 dB [rad/s]")
    decay: Least = Field(None, description="the slowest pole's decay rate [1/s]")
    damping: Least = Field(None, description="the least damping ratio of a pole")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if bool(self.loop) == bool(self.inputs or self.outputs):
            raise ValueError("is of a loop, or of a system from: to:")
        if not self.loop and not (self.inputs and self.outputs):
            raise ValueError("a system has both from: and to:")
        if self.loop and self.open:
            raise ValueError("a loop is cut where it says; open: is for systems from: to:")
        wrong = [name for name in self.asked() if name not in self.kinds()]
        if wrong:
            kind = "a loop" if self.loop else "a system from: to:"
            raise ValueError(f"{wrong[0]} is no figure of {kind}: it has {', '.join(self.kinds())}")
        if not self.asked():
            raise ValueError(f"asks nothing: name a figure, as {self.kinds()[0]}: 6")
        return self

    def kinds(self) -> tuple[str, ...]:
        """The figures that it has."""
        return OF_LOOPS if self.loop else OF_TRANSFERS

    def asked(self) -> Mapping[str, FigureBounds]:
        """What is asked, by figure."""
        found = {name: getattr(self, name) for name in dict.fromkeys(OF_LOOPS + OF_TRANSFERS)}
        return {name: one for name, one in found.items() if one is not None}

    def signals(self) -> Iterator[str]:
        """The signals and inputs that it names."""
        yield from (*self.loop, *self.inputs, *self.outputs, *self.open)


OF_LOOPS = (
    "gain_margin_db", "phase_margin_deg", "delay_margin", "disk_margin", "sensitivity_peak",
    "complementary_peak", "crossover", "decay", "damping",
)  # fmt: skip
OF_TRANSFERS = ("norm", "bandwidth", "decay", "damping")


class TrimSection(Section):
    """An equilibrium that is found anew for each design."""

    unknowns: Names = Field(description="states and parameters that are found: plant.qm")
    conditions: dict[StrictStr, Values] = Field(
        default_factory=dict, description="signals and their values"
    )
    steady: StrictBool | Names = Field(True, description="the states that are at rest")


class PointSection(Section):
    """An operating point: states by block, a time, or an equilibrium near them."""

    states: dict[StrictStr, Any] = Field(
        default_factory=dict, description="states by block, as initial: of a plant has them"
    )
    t: float | None = Field(None, description="the time that sources see [s]")
    trim: TrimSection | None = Field(None, description="the equilibrium near these states")

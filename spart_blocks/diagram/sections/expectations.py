"""The `expect:` section of a diagram: the claims of a regression test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StrictStr,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import Place
from spart_blocks.diagram.sections.section import Section

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring

Value = float | tuple["Value", ...]
"""A number, or nested tuples of numbers in the shape of a signal."""
MOST = 1e300


def number_or_numbers(raw: Any) -> Value:
    if isinstance(raw, list | tuple) and raw:
        return tuple(number_or_numbers(item) for item in raw)
    if isinstance(raw, int | float) and not isinstance(raw, bool) and abs(raw) <= MOST:
        return float(raw)
    raise ValueError("must be a finite number, or a list of them, one for each element")


def _switch(raw: Any) -> Any:
    """`engines: true`, or nothing after the colon: the section with its defaults."""
    if raw is None or raw is True:
        return {}
    return None if raw is False else raw


def _may_be_switch(schema: dict[str, Any]) -> None:
    schema["anyOf"].append({"type": "boolean"})


VALUE_SCHEMA = {
    "anyOf": [{"type": "number"}, {"type": "array", "items": {}, "minItems": 1}],
}
Values = Annotated[Any, BeforeValidator(number_or_numbers), WithJsonSchema(VALUE_SCHEMA)]
Signal = Annotated[StrictStr, StringConstraints(strip_whitespace=True, min_length=1)]
Positive = Annotated[float, Field(strict=True, gt=0)]
NotNegative = Annotated[float, Field(strict=True, ge=0)]
Switch = BeforeValidator(_switch)


class BaselineSection(Section):
    """Signals that are to be as they were recorded, in a file beside the diagram."""

    signals: tuple[Signal, ...] = Field(
        (),
        description="signals to record; by default those of scopes and of run.log",
    )
    rtol: NotNegative = Field(
        1e-4, description="tolerance relative to the largest magnitude of each element"
    )
    atol: NotNegative = Field(1e-6, description="absolute tolerance, in the signal's unit")
    samples: Annotated[int, Field(strict=True, ge=2, le=100_000)] = Field(
        50, description="about how many samples to record"
    )
    file: StrictStr | None = Field(
        None, description="the file of the baseline (.csv), by default baselines/ and this name"
    )


class _Claim(Section):
    signal: Signal = Field(description="block, block.port or block.port[0:2]")

    def names(self) -> Iterator[tuple[str, str]]:
        """The entries that name signals."""
        yield "signal", self.signal


class SettlesClaim(_Claim):
    """The signal is within a distance of a value from some time on."""

    to: Values = Field(description="the value, for all elements or for each")
    within: Positive = Field(description="the largest distance from it")
    by: NotNegative = Field(description="from this time on [s]")
    until: NotNegative | None = Field(None, description="up to this time [s], by default the end")

    @model_validator(mode="after")
    def _some_time(self) -> SettlesClaim:
        if self.until is not None and self.by > self.until:
            raise ValueError("ends before it begins: by is later than until")
        return self


class StaysWithinClaim(_Claim):
    """The signal is never below one value nor above another."""

    low: Values = Field(None, description="the least value")
    high: Values = Field(None, description="the greatest value")
    since: NotNegative | None = Field(None, alias="from", description="from this time on [s]")
    until: NotNegative | None = Field(None, description="up to this time [s]")

    @model_validator(mode="after")
    def _one_bound(self) -> StaysWithinClaim:
        if self.low is None and self.high is None:
            raise ValueError("needs low or high")
        if isinstance(self.low, float) and isinstance(self.high, float) and self.low > self.high:
            raise ValueError(f"low, {self.low:g}, is above high, {self.high:g}")
        if self.since is not None and self.until is not None and self.since > self.until:
            raise ValueError("ends before it begins: from is later than until")
        return self


class NeverExceedsClaim(_Claim):
    """The magnitude of the signal is never above a limit."""

    limit: Values = Field(description="the largest magnitude, for all elements or for each")


class ConservedClaim(_Claim):
    """Each element's largest and smallest values are close."""

    within: NotNegative = Field(description="the largest difference between two samples")


class MonotoneClaim(_Claim):
    """The signal only rises, or only falls."""

    direction: Literal["rising", "falling"] = Field(description="which way it goes")
    within: NotNegative = Field(0.0, description="how far it may go back")


class FinalClaim(_Claim):
    """The last sample of the signal."""

    value: Values = Field(description="the value, for all elements or for each")
    within: Positive = Field(description="the largest distance from it")


class _AnswerClaim(_Claim):
    to: Signal = Field(description="the reference whose last step the signal follows")

    def names(self) -> Iterator[tuple[str, str]]:
        yield from super().names()
        yield "to", self.to


class RiseTimeClaim(_AnswerClaim):
    """The signal rises fast from 10 to 90 % of a step of its reference."""

    limit: Values = Field(description="the longest rise time [s]")


class SettlingTimeClaim(_AnswerClaim):
    """The signal is soon within 2 % of a step of its reference, for good."""

    limit: Values = Field(description="the longest settling time [s]")


class OvershootClaim(_AnswerClaim):
    """The signal exceeds the end of a step of its reference by little."""

    limit: Values = Field(description="the largest overshoot [% of the step]")


class EnginesClaim(Section):
    """Both engines give the same results, as `spart check` compares them."""

    T: Positive | None = Field(None, description="end time of the comparison [s], run.T else")
    within: Positive = Field(1e-7, description="largest relative difference")


class SpeedClaim(Section):
    """The run is fast; a miss is a warning unless --timing asks for more."""

    times_real_time: Positive = Field(description="simulated seconds in a second")


class AuditClaim(Section):
    """How constant the balances of audited plants are."""

    within: Positive = Field(description="relative to what each balance is the difference of")


class SuccessClaim(Section):
    """Of the runs of the section `sweep:`, enough pass: they do not fail, and fulfil the claims
    about signals."""

    at_least: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(
        description="the least probability of success"
    )
    confidence: Annotated[float, Field(strict=True, gt=0, lt=1)] = Field(
        0.95, description="of the lower bound that must reach it"
    )
    each: Annotated[bool, Field(strict=True)] = Field(
        False, description="whether the runs of each variant and fault must reach it"
    )


class ExpectSection(Section):
    """What the runs of a diagram must show."""

    baseline: Annotated[BaselineSection | None, Switch] = Field(
        None, description="recorded signals to compare with", json_schema_extra=_may_be_switch
    )
    settles: tuple[SettlesClaim, ...] = Field((), description="stays near a value from a time on")
    stays_within: tuple[StaysWithinClaim, ...] = Field((), description="stays between values")
    never_exceeds: tuple[NeverExceedsClaim, ...] = Field((), description="bounded in magnitude")
    conserved: tuple[ConservedClaim, ...] = Field((), description="stays what it was")
    monotone: tuple[MonotoneClaim, ...] = Field((), description="only rises, or only falls")
    final: tuple[FinalClaim, ...] = Field((), description="the value at the end")
    rise_time: tuple[RiseTimeClaim, ...] = Field((), description="rises fast to its reference")
    settling_time: tuple[SettlingTimeClaim, ...] = Field((), description="settles soon at it")
    overshoot: tuple[OvershootClaim, ...] = Field((), description="exceeds it by little")
    engines: Annotated[EnginesClaim | None, Switch] = Field(
        None, description="both engines agree", json_schema_extra=_may_be_switch
    )
    speed: SpeedClaim | None = Field(None, description="how fast it runs; a miss only warns")
    audit: AuditClaim | None = Field(None, description="tolerance of plants with audit: true")
    success: SuccessClaim | None = Field(
        None, description="enough runs of the section sweep: pass; runs the sweep"
    )
    each_variant: Annotated[bool, Field(strict=True)] = Field(
        False, description="hold every choice of every slot to this, one at a time"
    )

    def claims(self) -> Iterator[tuple[Keys, _Claim]]:
        """The claims about signals, each with its path within the section."""
        for kind in CLAIMS:
            for number, claim in enumerate(getattr(self, kind)):
                yield (kind, number), claim

    def paths(self) -> Iterator[Keys]:
        """The paths of the claims and of single entries, such as the baseline."""
        yield from (keys for keys, _ in self.claims())
        yield from ((name,) for name in ONCE if getattr(self, name) is not None)

    def signals(self) -> Iterator[tuple[Keys, str]]:
        """Every signal that is named, each with its path within the section."""
        for number, name in enumerate(self.baseline.signals if self.baseline else ()):
            yield ("baseline", "signals", number), name
        for keys, claim in self.claims():
            yield from (((*keys, entry), name) for entry, name in claim.names())


@dataclass(frozen=True)
class Expectations:
    """The `expect:` section of a file: the diagram's name, the section, the file of its
    baseline, if it has one, and where each claim is written, by its path in the section."""

    name: str
    section: ExpectSection
    baseline: Path | None
    places: Mapping[Keys, Place]


CLAIMS: dict[str, type[_Claim]] = {
    "settles": SettlesClaim,
    "stays_within": StaysWithinClaim,
    "never_exceeds": NeverExceedsClaim,
    "conserved": ConservedClaim,
    "monotone": MonotoneClaim,
    "final": FinalClaim,
    "rise_time": RiseTimeClaim,
    "settling_time": SettlingTimeClaim,
    "overshoot": OvershootClaim,
}
"""The kinds of claims about a signal."""

OF_ANSWERS = ("rise_time", "settling_time", "overshoot")
"""The kinds of claims about how a signal follows a step of another."""

ONCE: dict[str, type[Section]] = {
    "baseline": BaselineSection,
    "engines": EnginesClaim,
    "speed": SpeedClaim,
    "audit": AuditClaim,
    "success": SuccessClaim,
}
"""The kinds of claims of which there is one at most."""

NOT_OF_A_RUN = ("baseline", "engines", "speed", "audit")
"""The entries that no single run of a sweep decides."""


def check_expect(section: ExpectSection, wiring: Wiring) -> None:
    """Check that every signal of the section exists."""
    for keys, text in section.signals():
        wiring.check_signal(text, ("expect", *keys), "expect")

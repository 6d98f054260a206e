"""Conditions on which a subsystem runs, as they are written: enabled, triggered, reset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from spart_blocks.base.errors import Fault, InputError, brief, near_names
from spart_blocks.block_support.ports import input_ports, output_ports
from spart_blocks.diagram.sections.section import Section

CONDITIONS = ("enabled", "triggered", "reset")
Values = dict[StrictStr, Any]


class _Condition(Section):
    by: StrictStr = Field(description="the input that decides it; a vector by any of its entries")


class EnabledSection(_Condition):
    """A subsystem that runs only while an input is above zero."""

    states: Literal["held", "reset"] = Field(
        "held", description="what its states are when it is enabled again"
    )
    outputs: Literal["held"] | Values = Field(
        "held", description="held while it is disabled, or the values of some of them then"
    )
    initial: Values = Field(
        default_factory=dict, description="held outputs before it first runs, by default zeros"
    )


class TriggeredSection(_Condition):
    """A subsystem that runs once at each edge of an input through zero."""

    edge: Literal["rising", "falling", "either"] = Field("rising", description="which edges count")
    initial: Values = Field(
        default_factory=dict, description="outputs before it first runs, by default zeros"
    )


class ResetSection(_Condition):
    """A subsystem whose states return to their start at edges of an input through zero."""

    edge: Literal["rising", "falling", "either", "level"] = Field(
        "rising", description="which edges count; level: they stay there while it is above zero"
    )


class Conditional(BaseModel):
    """What has conditions: a subsystem, or a file used as one."""

    enabled: EnabledSection | None = Field(
        default=None, description="it runs only while an input is above zero"
    )
    triggered: TriggeredSection | None = Field(
        default=None, description="it runs once at each edge of an input"
    )
    reset: ResetSection | None = Field(
        default=None, description="an input returns its states to the start"
    )


class Conditions(Conditional):
    """The conditions of a subsystem that is built."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __bool__(self) -> bool:
        return any(getattr(self, name) is not None for name in CONDITIONS)

    @property
    def given(self) -> Mapping[str, Any]:
        """The values that its outputs have while it is disabled."""
        outputs = self.enabled.outputs if self.enabled else "held"
        return {} if isinstance(outputs, str) else outputs

    @property
    def initial(self) -> Mapping[str, Any]:
        """The values of held outputs before it first runs."""
        return {
            **(self.enabled.initial if self.enabled else {}),
            **(self.triggered.initial if self.triggered else {}),
        }


def conditions_of(block: Any) -> Conditions:
    """The conditions of a SUBSYSTEM block; empty (and false) if it has none."""
    found: Conditions = block.__dict__.get("conditions", NONE)
    return found


NONE = Conditions()


def merges(block: Any) -> bool:
    """Whether a block is a MERGE, which passes on the output of whichever subsystem runs."""
    return "inputs_merged" in vars(block)


def conditional(
    block: Any,
    *,
    enabled: Mapping[str, Any] | None = None,
    triggered: Mapping[str, Any] | None = None,
    reset: Mapping[str, Any] | None = None,
) -> Any:
    """Give bdsim's SUBSYSTEM block conditions, as `enabled:`, `triggered:` and `reset:` of a
    subsystem in a file have them: `conditional(block, enabled={"by": "on"})`. Ports go by their
    names or numbers. Returns the block. Raises InputError where a condition is wrong.
    """
    name = f"the conditions of {block.name}"
    try:
        made = Conditions.model_validate(
            {"enabled": enabled, "triggered": triggered, "reset": reset}
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(key) for key in first["loc"])
        raise InputError(f"{name}: {where}: {first['msg']}") from None
    inputs = [port.name for port in input_ports(block)]
    outputs = [port.name for port in output_ports(block)]
    faults = [fault for _, fault in wrong_names(made, inputs, outputs)]
    faults += [fault for _, fault in wrong_values(made)]
    if faults:
        raise InputError([Fault(f"{name}: {fault.message}", hint=fault.hint) for fault in faults])
    block.__dict__["conditions"] = made
    return block


def trigger_clock() -> Any:
    """A clock for sampled blocks of a triggered subsystem, built in Python: its ticks are the edges
    of the trigger. Its period is 1 s, so that INTEGRATOR_S adds its input once at each edge."""
    from bdsim.components import Clock, clocklist

    clock = Clock(1.0, name="trigger")
    clocklist[:] = [other for other in clocklist if other is not clock]
    clock.of_trigger = True
    return clock


Keys = tuple[str, ...]


def wrong_names(
    conditions: Conditional, inputs: list[str], outputs: list[str]
) -> Iterator[tuple[Keys, Fault]]:
    """The faults of conditions that name unknown ports, each with its path."""
    for name in CONDITIONS:
        section = getattr(conditions, name)
        if section is None:
            continue
        if section.by not in inputs:
            listed = ", ".join(inputs) or "none"
            text = f"{name}: by names no input {section.by[:60]!r}: there are {listed}"
            yield (name, "by"), Fault(text, hint=near_names(section.by, inputs))
        for key in ("outputs", "initial"):
            values = getattr(section, key, {})
            for port in () if isinstance(values, str) else values:
                if port not in outputs:
                    listed = ", ".join(outputs) or "none"
                    text = f"{name}: {key} names no output {port[:60]!r}: there are {listed}"
                    yield (name, key, port), Fault(text, hint=near_names(port, outputs))
    given = conditions.enabled.outputs if conditions.enabled else "held"
    for port in () if isinstance(given, str) else given:
        if port in conditions.enabled.initial if conditions.enabled else ():
            text = f"enabled: {port} has a value in outputs, so that it takes none in initial"
            yield ("enabled", "initial", port), Fault(text)
    if conditions.enabled and conditions.triggered and conditions.enabled.initial:
        text = "enabled: a subsystem that is triggered has its initial there"
        yield ("enabled", "initial"), Fault(text, hint="write it under triggered")


def wrong_values(conditions: Conditions) -> Iterator[tuple[Keys, Fault]]:
    """The faults of output values that are not numbers, each with its path."""
    for name in ("enabled", "triggered"):
        section = getattr(conditions, name)
        for key in ("outputs", "initial"):
            values = getattr(section, key, {})
            for port, value in () if isinstance(values, str) else values.items():
                if numbers(value) is None:
                    text = f"{name}: {key} of {port} must be finite numbers, not {brief(value)}"
                    yield (name, key, port), Fault(text)


def numbers(value: Any) -> Any:
    """A value as an array of finite floats; None if it is not one."""
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None
    plain = np.asarray(value).dtype.kind in "iuf"
    return found if plain and np.isfinite(found).all() else None

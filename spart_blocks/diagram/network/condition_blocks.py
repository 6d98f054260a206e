"""The blocks that conditional subsystems bring with them: the conditions as modes, which change
where they are located in time, and the outputs that are held.

A mode changes in two rounds of switches at one time. In the first the condition notes it; in the
second all that depends on it, which precedes it among the blocks, acts on it, and then the
condition itself goes on. So all act on the signals of one instant.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock, SampledBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.ports import Port, Shape, port_arguments
from spart_blocks.blocks import Declared, PortSpec
from spart_blocks.formulas.crossings import bare, beyond, has_edge, zero_or_one
from spart_blocks.formulas.phases import OFF, ON, STARTS, STEPS, STOPS, is_on, is_phase


def is_true(condition: Any) -> Any:
    """Whether any entry of a condition's signal is above zero."""
    return np.max(condition) > 0


class _Condition(Declared, ContinuousBlock):
    """A condition with a phase, the first entry of its state."""

    told: ClassVar[tuple[str, ...]] = ()
    """What an event is called that leads to each phase."""
    phases: ClassVar[tuple[float, ...]]

    def __init__(self, start: list[float], inputs: int, **blockargs: Any) -> None:
        ports = self.resolve_ports(more=((Port("around"),) * (inputs - 1), ()))
        super().__init__(nstates=len(start), x0=start, **ports, **blockargs)

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.zeros(len(x))

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        raise NotImplementedError

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random phase, side of the signal, count and time of the first look."""
        count = float(rng.integers(4))
        near = [rng.choice(self.phases), rng.choice([0.0, 0.5, 1.0]), count, rng.normal()]
        return np.array(near[: len(x)])

    def around(self, inputs: list[Any]) -> Any:
        """Whether what is around it is on."""
        return is_on(inputs[1]) if len(inputs) > 1 else True


class Enabling(_Condition):
    """Whether a subsystem is enabled: while any entry of u is above zero, and what is around it is
    on."""

    nin = 1
    nout = 2
    takes = (PortSpec("u", "any", "", "enables while any entry is above zero"),)
    gives = (
        PortSpec("enabled", "", "", "1 while it is enabled, otherwise 0"),
        PortSpec("phase", "", "", "0 disabled, 2 enabled, 1 and 3 as it becomes so"),
    )
    told: ClassVar[tuple[str, ...]] = ("", "enabled", "", "disabled")
    phases = (OFF, STARTS, ON, STOPS)

    def __init__(self, inputs: int = 1, **blockargs: Any) -> None:
        super().__init__([OFF], inputs, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [bare(zero_or_one(is_on(x[0]))), x[0]]

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        u = np.where(self.around(inputs), np.max(inputs[0]), -1.0)
        passing = np.logical_or(is_phase(x[0], STARTS), is_phase(x[0], STOPS))
        return [np.where(passing, 1.0, beyond(u, is_on(x[0])))]

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        after = np.where(is_phase(x[0], STOPS), OFF, x[0] + 1.0)
        return np.array([np.where(self.watch(t, inputs, x)[0] > 0, after, x[0])])


class _Edges(_Condition):
    """A condition that begins at edges of u through zero. Its state is the phase, the side that
    u was on: 1 above zero, 0 not, 0.5 before the first look, the number of edges, and the time of
    the first look. There is no edge then: ticks at the start of a run bring u to its side."""

    def __init__(self, edge: str = "rising", inputs: int = 1, **blockargs: Any) -> None:
        self.edge = edge
        super().__init__([OFF, 0.5, 0.0, 0.0], inputs, **blockargs)

    def around(self, inputs: list[Any]) -> Any:
        """Whether what is around it is on, and stays so: an edge at the instant at which that is
        disabled has no effect."""
        if len(inputs) < 2:
            return True
        return np.logical_and(is_on(inputs[1]), np.logical_not(is_phase(inputs[1], STOPS)))

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        u = one_number(inputs[0])
        value = np.where(is_phase(2 * x[1], 1.0), 1.0, beyond(u, x[1] > 0.5))
        return [np.where(np.abs(x[0]) > 0.5, 1.0, value)]

    def side(self, t: float, x: Array) -> Any:
        """The side that u was on, 0.5 as long as that is not known."""
        return np.where(t > x[3], x[1], 0.5)

    def looked(self, t: float, x: Array) -> Any:
        """The time of the first look."""
        return np.where(is_phase(2 * x[1], 1.0), t, x[3])

    def begins(self, t: float, inputs: list[Any], x: Array) -> Any:
        """Whether u has the edge, and whether it is above zero."""
        above = one_number(inputs[0]) > 0
        hit = has_edge(self.edge, self.side(t, x), above)
        return np.logical_and(hit, self.around(inputs)), above


class Trigger(_Edges):
    """Edges of u that run a subsystem once, while what is around it is on, and their number."""

    nin = 1
    nout = 3
    takes = (PortSpec("u", "", "", "runs the subsystem at its edges through zero"),)
    gives = (
        PortSpec("triggers", "", "", "the number of edges so far"),
        PortSpec("phase", "", "", "0 between edges; at an edge 3 and then 4"),
        PortSpec("above", "", "", "1 if u was above zero, 0 if not, 0.5 at the start"),
    )
    told: ClassVar[tuple[str, ...]] = ("", "", "", "triggered")
    phases = (OFF, STOPS, STEPS)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [x[2], x[0], bare(self.side(t, x))]

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        begins, above = self.begins(t, inputs, x)
        running = x[0] > 0.5
        after = np.where(is_phase(x[0], STOPS), STEPS, OFF)
        hit = np.logical_and(begins, np.logical_not(running))
        return np.array(
            [
                np.where(running, after, np.where(hit, STOPS, OFF)),
                np.where(running, x[1], zero_or_one(above)),
                x[2] + zero_or_one(hit),
                self.looked(t, x),
            ]
        )


class Reset(_Edges):
    """Edges of u that return states to their start, or with `level` the time while u is above zero,
    in which they stay there; and the number of resets."""

    nin = 1
    nout = 3
    takes = (PortSpec("u", "", "", "resets at its edges through zero"),)
    gives = (
        PortSpec("resets", "", "", "the number of resets so far"),
        PortSpec("phase", "", "", "0 running, 1 at a reset, 2 while states are kept at the start"),
        PortSpec("above", "", "", "1 if u was above zero, 0 if not, 0.5 at the start"),
    )
    told: ClassVar[tuple[str, ...]] = ("", "reset")
    phases = (OFF, STARTS, ON)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        above = zero_or_one(x[0] > 0.5) if self.edge == "level" else self.side(t, x)
        return [x[2], x[0], bare(above)]

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        (value,) = super().watch(t, inputs, x)
        if self.edge != "level":
            return [value]
        u = np.where(self.around(inputs), one_number(inputs[0]), -1.0)
        return [np.where(is_phase(x[0], STARTS), 1.0, beyond(u, x[0] > 0.5))]

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        if self.edge == "level":
            above = np.logical_and(one_number(inputs[0]) > 0, self.around(inputs))
            hit = np.logical_and(x[0] < 0.5, above)
            after = np.where(is_phase(x[0], STARTS), ON, np.where(above, x[0], OFF))
            return np.array([np.where(hit, STARTS, after), x[1], x[2] + zero_or_one(hit), x[3]])
        begins, above = self.begins(t, inputs, x)
        hit = np.logical_and(begins, x[0] < 0.5)
        side = np.where(x[0] > 0.5, x[1], zero_or_one(above))
        after = np.where(hit, STARTS, OFF)
        return np.array([after, side, x[2] + zero_or_one(hit), self.looked(t, x)])


def one_number(u: Any) -> Any:
    """The signal of a trigger as a number."""
    if np.size(u) != 1:
        raise ValueError(f"a trigger is one number, its signal has shape {np.shape(u)}")
    return np.ravel(u)[0] if np.ndim(u) else u


class _Sized(FunctionBlock):
    """A function of numbered inputs."""

    nin = 1
    nout = 1

    def __init__(self, inputs: int, outputs: int = 1, **blockargs: Any) -> None:
        self.in_ports, self.out_ports = _ports(inputs), _ports(outputs)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)


class EnabledNow(_Sized):
    """1 if a subsystem is enabled by its condition as it is now, for blocks at ticks: the
    condition, and what is around it."""

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        true = is_true(inputs[0])
        return [bare(zero_or_one(np.logical_and(true, inputs[1] > 0.5) if inputs[1:] else true))]


class PassedOn(_Sized):
    """Its input: an output of a subsystem whose size is not known yet."""

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [inputs[0]]


class OutputGiven(_Sized):
    """An output of a subsystem that has a given value while that is disabled. The second input is
    its phase, or with `now` whether it is enabled now."""

    tunable = ("value",)

    def __init__(self, value: Any, now: bool, **blockargs: Any) -> None:
        self.value, self.now = value, now
        super().__init__(2, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        on = inputs[1] > 0.5 if self.now else is_on(inputs[1])
        return [bare(np.where(on, inputs[0], self.value))]


class OutputHeld(ContinuousBlock):
    """An output of a subsystem that is held while that is disabled: its state. Inputs: the signal,
    the phase of the condition, and, where that is sampled, whether it is true now."""

    nin = 2
    nout = 1
    told: ClassVar[tuple[str, ...]] = ()

    def __init__(self, shape: Shape, initial: Any, inputs: int, **blockargs: Any) -> None:
        self.signal_shape = shape
        self.in_ports, self.out_ports = _ports(inputs), (Port("0"),)
        start = np.broadcast_to(initial, shape).ravel()
        arguments = port_arguments(self.in_ports, self.out_ports)
        super().__init__(
            nstates=start.size, x0=start.copy(), feedthrough=True, **arguments, **blockargs
        )

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        u, phase, *now = inputs
        on = np.logical_or(is_on(phase), now[0] > 0.5) if now else is_on(phase)
        return [bare(np.where(on, u, _of(x, self.signal_shape)))]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.zeros(len(x))

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [np.where(is_phase(inputs[1], STOPS), 1.0, -1.0)]

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        return np.where(is_phase(inputs[1], STOPS), np.ravel(inputs[0]), x)


class OutputSampled(SampledBlock):
    """An output of a subsystem that is sampled as a whole: at a tick the signal if the subsystem
    runs, else what it was at the tick before. Inputs: the signal, and whether it runs now."""

    nin = 2
    nout = 1

    def __init__(self, clock: Any, shape: Shape, initial: Any, **blockargs: Any) -> None:
        self.signal_shape = shape
        self.in_ports, self.out_ports = _ports(2), (Port("0"),)
        start = np.broadcast_to(initial, shape).ravel()
        arguments = port_arguments(self.in_ports, self.out_ports)
        super().__init__(clock=clock, x0=start.copy(), **arguments, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [_of(x, self.signal_shape)]

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        return np.where(inputs[1] > 0.5, np.ravel(inputs[0]), x)


class EdgeNow(Declared, SampledBlock):
    """1 at a tick at which u has the edge that triggers a subsystem, while what is around it is
    on."""

    nin = 2
    nout = 1
    takes = (
        PortSpec("u", "", "", "runs the subsystem at its edges through zero"),
        PortSpec("above", "", "", "1 if u was above zero, 0 if not, 0.5 at the start"),
    )
    gives = (PortSpec("triggers", "", "", "1 at an edge, otherwise 0"),)

    def __init__(self, clock: Any, edge: str, inputs: int = 2, **blockargs: Any) -> None:
        self.edge = edge
        ports = self.resolve_ports(more=((Port("around"),) * (inputs - 2), ()))
        super().__init__(clock=clock, x0=[], feedthrough=True, **ports, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        u, above, *around = inputs
        hit = has_edge(self.edge, above, one_number(u) > 0)
        return [bare(zero_or_one(np.logical_and(hit, around[0] > 0.5) if around else hit))]

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        return x


class ResetsNow(_Sized):
    """At a tick the number of resets, with one that is at the tick itself, and whether states are
    kept at their start; both are held to the next tick. Inputs: the signal, the number of resets so
    far, the side of zero that the signal was on, and whether what is around it is on."""

    def __init__(self, edge: str, inputs: int, **blockargs: Any) -> None:
        self.edge = edge
        super().__init__(inputs, 2, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        u, count, before, *around = inputs
        on = around[0] > 0.5 if around else True
        above = np.logical_and(one_number(u) > 0, on)
        level = self.edge == "level"
        hit = np.logical_and(has_edge("rising" if level else self.edge, before, above), on)
        return [bare(count + zero_or_one(hit)), bare(zero_or_one(above)) if level else 0.0]


class ResetsBefore(SampledBlock):
    """The number of resets at the tick before."""

    nin = 1
    nout = 1
    delays = True
    holds_itself = True  # at a tick it is what it was, then what it becomes

    def __init__(self, clock: Any, **blockargs: Any) -> None:
        self.in_ports, self.out_ports = _ports(1), _ports(1)
        arguments = port_arguments(self.in_ports, self.out_ports)
        super().__init__(clock=clock, x0=[0.0], **arguments, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [x[0]]

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        return np.array([inputs[0]])


class ResetAtTick(_Sized):
    """The phase of a reset for sampled blocks: STARTS at a tick if there was a reset since the last
    one, ON while states are kept at their start. Inputs: the outputs of ResetsNow, and that of
    ResetsBefore."""

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        now, kept, before = inputs
        return [bare(np.where(kept > 0.5, ON, np.where(now > before + 0.5, STARTS, OFF)))]


def _ports(count: int) -> tuple[Port, ...]:
    return tuple(Port(str(k)) for k in range(count))


def _of(x: Any, shape: Shape) -> Any:
    """A state as a signal of a shape."""
    return np.reshape(x, shape) if shape else x[0]

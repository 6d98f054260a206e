"""The native engine: evaluates the functions of a program.

It needs no blocks. If the interpreter of the diagram is given too, the blocks report the causes of
failures, the functions of EVENT blocks are called, and sinks such as PRINT act.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.base.rows import parted
from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.diagram.network.display import Display
from spart_blocks.program import Program
from spart_blocks.program.linearised import Linearised, can_linearise, linearised
from spart_blocks.program.program import Handover
from spart_blocks.program.tracing.switching import Crossing, SwitchTimes
from spart_blocks.run.engines.engine import Engine, Floats, Pick, not_finite, shown

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.network.nodes import Node
    from spart_blocks.diagram.sections.run_options import RunOptions
    from spart_blocks.program.c.machine_code import MachineCode

Reference = Callable[[], Engine]

_MOST_DERIVED = 64


class Called:
    """A CasADi Function of (t, x, xd, p) on float vectors, called through its buffers: no
    copies in Python, 2 us a call. The buffers must live as long as the function is called.

    code: its machine code, where that pays.
    """

    def __init__(self, function: Any, p: Floats, code: MachineCode | None = None) -> None:
        self.function = function
        self.arguments = [np.zeros(function.numel_in(k)) for k in range(function.n_in())]
        self.result = np.zeros(function.numel_out(0))
        self.arguments[3][:] = p
        if code is not None:
            self.evaluate = code.bind(self.arguments, [self.result], None)
            return
        self.buffer, self.evaluate = function.buffer()
        for k, argument in enumerate(self.arguments):
            self.buffer.set_arg(k, memoryview(argument.data))
        self.buffer.set_res(0, memoryview(self.result.data))

    def __call__(self, t: float, x: Floats, xd: Floats, *more: Floats) -> Floats:
        """A new vector of results. more: arguments after p."""
        arguments = self.arguments
        arguments[0][0], arguments[1][:], arguments[2][:] = t, x, xd
        for argument, value in zip(arguments[4:], more, strict=True):
            argument[:] = value
        self.evaluate()
        return self.result.copy()


def _called(name: str) -> cached_property[Called]:
    """A property of an engine: the function of its program with this name."""
    return cached_property(lambda engine: Called(getattr(engine.program, name), engine.program.p))


class Native(Engine):
    """The engine of a program.

    reference: returns the interpreter of the same diagram, when it is needed.
    """

    name = "native"
    traced = True

    def __init__(self, program: Program, reference: Reference | None = None) -> None:
        self.program, self._reference = program, reference and cache(reference)
        self.title, self.run = program.name, program.run
        self.clocks, self.drifting = program.clocks, bool(program.drifting)
        self.damped = program.damped
        self.continuous = {slot.name: slot.part for slot in program.states}
        self.sampled = {slot.name: slot.part for slot in program.discrete}
        self.holds = program.holds
        self.slot = {slot.name: slot for slot in program.signals}
        self.jacobian = self._jacobian
        self._derived: dict[Any, Any] = {}

    @cached_property
    def display(self) -> Display:
        return self.program.display

    def with_parameters(self, p: Floats) -> Native:
        """An engine of the same program with other parameters p (np,). Both share the derived
        functions.
        """
        return self._alike(replace(self.program, p=p))

    def with_run(self, run: RunOptions) -> Native:
        """An engine of the same program with other run options, none of which is part of the
        program. Both share the derived functions.
        """
        return self._alike(replace(self.program, run=run))

    def _alike(self, program: Program) -> Native:
        other = Native(program)
        other._reference, other._derived = self._reference, self._derived
        return other

    def derived(self, key: Any, make: Callable[[], Any]) -> Any:
        """A function derived from those of the program, made at its first use. It must not depend
        on parameter values.
        """
        derived = self._derived
        if key not in derived:
            while len(derived) >= _MOST_DERIVED:  # patterns of samples can differ in every run
                del derived[next(iter(derived))]
            derived[key] = make()
        return derived[key]

    def of(self, program: Program) -> Native:
        """An engine of another program of the same blocks."""
        return Native(program, self._reference)

    # --- the functions, each made when first called ------------------------------------

    _rates = _called("rates")
    _held = _called("held")
    _outputs = _called("outputs")
    _watched = _called("watched")
    _project = _called("project")
    _reach = _called("reach")
    _switched = _called("switched")

    @cached_property
    def _ticks(self) -> dict[str, Called]:
        return {name: Called(f, self.program.p) for name, f in self.program.updates.items()}

    @cached_property
    def _handovers(self) -> list[tuple[Handover, Called]]:
        return [(one, Called(one.renewed, self.program.p)) for one in self.program.handovers]

    @property
    def can_linearise(self) -> bool:
        """Whether the derivatives of the rates are short enough to be written."""
        found: bool = self.derived("can linearise", lambda: can_linearise(self.program))
        return found

    @cached_property
    def _linearised(self) -> tuple[Linearised, Called]:
        found: Linearised = self.derived("linearised", lambda: linearised(self.program))
        return found, Called(found.function, self.program.p)

    def linearised(self, t: float, x: Floats, xd: Floats) -> tuple[Floats, Floats] | None:
        if not self.can_linearise:
            return None
        found, function = self._linearised
        start = () if self.program.held is None else (x,)
        return found.parted(function(t, x, xd, *start))

    @cached_property
    def _slope(self) -> Called:
        return Called(self.derived("jacobian", self._slope_function), self.program.p)

    def _slope_function(self) -> Any:
        arguments = self.program.rates.sx_in()
        slope = ca.densify(ca.jacobian(self.program.rates(*arguments), arguments[1]))
        return ca.Function("jacobian", arguments, [slope])

    # --- the equations -------------------------------------------------------------------

    def _jacobian(self, t: float, x: Floats, xd: Floats) -> Floats:
        # CasADi stores matrices by columns.
        return self._slope(t, x, xd).reshape(len(x), len(x)).T

    def initial(self) -> tuple[Floats, Floats]:
        return self.program.x0.copy(), self._xd0.copy()

    @cached_property
    def _xd0(self) -> Floats:
        return self.program.xd0

    def rates(self, t: float, x: Floats, xd: Floats) -> Floats:
        """dx/dt, finite or not."""
        return self._rates(t, x, xd)

    def derivative(self, t: float, x: Floats, xd: Floats, start: Floats | None = None) -> Floats:
        if self.program.held is None or start is None:
            xdot = self._rates(t, x, xd)
        else:
            xdot = self._held(t, x, xd, start)
        if np.isfinite(xdot).all():
            return xdot
        self.explain(t, x, xd)
        name = not_finite(self.continuous, xdot)
        raise RunError("the derivative of its state is not finite", block=name, time=t)

    def moved(self, clock: Clock, t: float, x: Floats, xd: Floats) -> Floats:
        """The discrete states after one clock has ticked alone; they may not be finite."""
        for one, renewed in self._handovers:
            if one.clock == clock.name:
                xd = renewed(t, x, xd)
        return self._ticks[clock.name](t, x, xd)

    def tick(self, t: float, x: Floats, xd: Floats, due: Sequence[Clock]) -> Floats:
        before = xd
        names = {clock.name for clock in due}
        for one, renewed in self._handovers:
            if one.clock in names:
                xd = renewed(t, x, xd)
        after = xd.copy()
        for clock in due:
            moved = self._ticks[clock.name](t, x, xd)
            for name in clock.blocks:
                after[self.sampled[name]] = moved[self.sampled[name]]
        if not np.isfinite(after).all():
            if self._reference is not None:
                self._reference().tick(t, x, before, due)
            self.explain(t, x, before)
            block = not_finite(self.sampled, after)
            raise RunError("its next state is not finite", block=block, time=t)
        return after

    def filled(self, t: float, x: Floats, xd: Floats) -> Floats:
        filled: Floats = self.program.filled(t, x, xd, self.program.p)
        return filled

    def project(self, t: float, x: Floats) -> Floats:
        return x if self.program.project is None else self._project(t, x, self._xd0)

    def reach(self, t: float, x: Floats) -> float:
        return np.inf if self.program.reach is None else float(self._reach(t, x, self._xd0)[0])

    def project_all(self, t: Floats, x: Floats) -> Floats:
        project = self.program.project
        if project is None or not len(t):
            return x
        rows: Floats = np.array(project(t[None], x.T, self.program.xd0, self.program.p)).T
        return rows

    @property
    def fixed(self) -> Sequence[str]:
        return self.program.fixed

    def advance(self, t: float, h: float, x: Floats, xd: Floats) -> Mapping[str, Floats]:
        if self.program.advance is None:
            return {}
        after = np.array(self.program.advance(t, x, xd, self.program.p, h), dtype=float).ravel()
        return {name: after[self.continuous[name]] for name in self.program.stepped}

    # --- signals -------------------------------------------------------------------------

    def signals(self) -> Iterable[str]:
        return self.slot

    def outputs(self, t: float, x: Floats, xd: Floats) -> Floats:
        """All signals in one vector."""
        return self._outputs(t, x, xd)

    def picked(self, names: Sequence[str]) -> Pick:
        slots = [self.slot[name] for name in names]

        def pick(t: float, x: Floats, xd: Floats) -> list[Floats]:
            y = self._outputs(t, x, xd)
            if not np.isfinite(y).all():
                self.explain(t, x, xd)
            return [y[slot.part].reshape(slot.shape) for slot in slots]

        return pick

    def over(self, names: Sequence[str], t: Floats, x: Floats, xd: Floats) -> list[Floats]:
        unknown = [name for name in names if name not in self.slot]
        if unknown:
            raise KeyError(unknown[0])
        if not names:
            return []
        selected = self._selected(tuple(names))
        return self.parted(names, np.array(selected(t[None], x.T, xd.T, self.program.p)).T)

    def alone(self, names: Sequence[str]) -> Pick:
        if not names:
            return lambda t, x, xd: []
        call = Called(self._selected(tuple(names)), self.program.p)
        shapes = [self.slot[name].shape for name in names]
        ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
        parts = [slice(end - math.prod(s), end) for end, s in zip(ends, shapes, strict=True)]

        def pick(t: float, x: Floats, xd: Floats) -> list[Floats]:
            y = call(t, x, xd)
            return [y[part].reshape(s) for part, s in zip(parts, shapes, strict=True)]

        return pick

    def parted(self, names: Sequence[str], y: Floats) -> list[Floats]:
        """Split rows y, which hold the named signals side by side, into one array (N, ...) for
        each.
        """
        return parted(y, [self.slot[name].shape for name in names])

    def _selected(self, names: tuple[str, ...]) -> Any:
        """A function for these signals alone. CasADi evaluates it for every column of its
        arguments.
        """
        return self.derived(names, lambda: self.program.selected(names))

    def explain(self, t: float, x: Floats, xd: Floats) -> None:
        if self._reference is not None:
            self._reference().explain(t, x, xd)
        self.refuse_states(t, x, xd)
        y = self._outputs(t, x, xd)
        for slot in self.program.signals:  # in an order of evaluation
            value = y[slot.part]
            if not np.isfinite(value).all():
                text = f"its output is not finite ({shown(value.reshape(slot.shape))})"
                raise RunError(text, block=slot.name, time=t)
        name = not_finite(self.continuous, self._rates(t, x, xd))
        if name is not None:
            raise RunError("the derivative of its state is not finite", block=name, time=t)

    def check_shapes(self, t: float, x: Floats, xd: Floats) -> None:
        """Check that values are finite; the shapes were checked when the diagram was traced."""
        self.derivative(t, x, xd)

    def width(self, names: Sequence[str]) -> int:
        return sum(math.prod(self.slot[name].shape) for name in names)

    def act(self, t: float, x: Floats, xd: Floats) -> None:
        self._blocks("the blocks that act while it runs").act(t, x, xd)

    def made_of(self) -> tuple[Diagram, Sequence[Node]]:
        return self._blocks("the blocks that move robots").made_of()

    def plant_state(self, block: str) -> Any:
        if block in self.program.plants or self._reference is None:
            return self.program.plants.get(block)
        return self._reference().plant_state(block)

    def _blocks(self, what: str) -> Engine:
        if self._reference is None:
            raise InputError(
                Fault(f"a program alone has not {what}", hint="simulate its diagram instead")
            )
        return self._reference()

    # --- events ----------------------------------------------------------------------------

    @property
    def crossings(self) -> Sequence[Crossing]:
        return self.program.crossings

    def seeing(self, signals: Collection[str]) -> Native:
        crossings = self.crossings
        unseen = tuple(k for k, one in enumerate(crossings) if not one.is_seen(signals))
        if not unseen:
            return self
        less = self.derived(("seeing", unseen), lambda: self.program.seeing(signals))
        program = replace(self.program, crossings=less.crossings, watched=less.watched)
        blocks = self._reference
        other = Native(program, None if blocks is None else lambda: blocks().seeing(signals))
        other._derived = self._derived
        return other

    def watch(self, t: float, x: Floats, xd: Floats) -> Floats:
        return self._watched(t, x, xd)

    def reset(self, k: int, t: float, x: Floats, xd: Floats) -> tuple[Floats, Floats]:
        block = self.crossings[k].block
        if self.crossings[k].kind == "mode":
            part, after = self.continuous[block], x.copy()
            after[part] = self._switched(t, x, xd)[part]
            return after, xd
        traced = self.program.resets.get(self.crossings[k].event)
        if traced is None:
            return self._blocks(f"the function of {block}").reset(k, t, x, xd)
        after = np.array(traced(t, x, xd, self.program.p), dtype=float).ravel()
        return after[: len(x)], after[len(x) :]

    def failure(self, k: int, t: float, x: Floats, xd: Floats) -> RunError:
        if self._reference is not None:
            return self._reference().failure(k, t, x, xd)
        return RunError(self.crossings[k].text, time=t)

    def switches(self) -> Iterable[SwitchTimes]:
        until = self.program.declared_until
        if until is not None and until < self.run.T:
            raise InputError(
                Fault(
                    f"T is {self.run.T:g} s, and blocks of this program have declared when they "
                    f"switch up to {until:g} s",
                    hint="trace the diagram with a T as long as that of the run",
                )
            )
        return self.program.switches()

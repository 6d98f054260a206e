"""A program: a diagram as functions of time, states and parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.base.paths import split_index
from spart_blocks.diagram.build.origins import Origins
from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.diagram.network.display import Display
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.program.exact_values import exact_values
from spart_blocks.program.slots import Places, Target, given_names, parameter_target, slot_of
from spart_blocks.program.slots import Slot as Slot
from spart_blocks.program.tracing.holds import HeldOutput
from spart_blocks.program.tracing.switching import Crossing, SwitchTimes

START = "x0"
"""The parameter of a block that is its initial state: 'plant.x0'."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Handover:
    """Held outputs of sampled blocks that are renewed together, before any state is updated.

    clock: name of their clock. slots: names of the discrete states. renewed: Function (t, x, xd,
    p) -> xd.
    """

    clock: str
    slots: tuple[str, ...]
    renewed: Any


@dataclass(frozen=True, repr=False)
class Program:
    """The result of tracing a diagram. Immutable, can be pickled.

    states, discrete, parameters, signals: layouts of x, xd, p and of the vector of all signals,
    which is in the order of evaluation. p: nominal values. start: for each block the parameter
    that is its initial state, by default 'block.x0'. origins: for each path of the file, the
    arguments of blocks that are parameters with its value. plants: for blocks whose initial state
    has entries such as qm, the layout of the state. random: for random blocks, the number of
    leading entries of the state that are random sequences (base/random_numbers.py). run, display:
    default run options, and the signals to show.

    The functions are CasADi Functions of (t, x, xd, p) unless stated otherwise, with dense columns
    as results. rates: xdot. held: (t, x, xd, p, x_start) -> xdot, in which limits act by the state
    at the start of a step, so that there is no bend within a step; None without limits. outputs:
    all signals. updates: for each clock by name, xd after its tick; other states are kept. holds:
    outputs of sampled blocks that are held between ticks. handovers: empty unless a held output is
    read by a block on another clock; then they are applied first, in their order, for all due
    clocks, and the updates change the other states only. watched: zero-crossing values. resets:
    for each EVENT block whose function could be traced, (x, xd) after its event in one column.
    switched: x after all blocks with modes have switched; None without such blocks. restarted: (x,
    xd) as blocks correct states that an EVENT has set, or None; of the check alone. edges: p ->
    (first, period) of the known times at which the blocks `switching` switch. declared_until: time
    [s] up to which users' blocks have declared such times; None without such blocks. project: x
    projected onto its constraints (unit quaternions, limits of integrators, closed loops), or
    None. drifting: blocks whose states leave their constraints (closed loops) in steps and dense
    output, without their outputs correcting it; a run projects every step and sample. damped:
    blocks that continue through poses in which their loops lose rank. reach: longest step [s] from
    x that passes over no event, or None. advance: (t, x, xd, p, h) -> x at t + h by one-step maps
    of blocks, or None without such blocks; `stepped` are the names of these blocks, `fixed` those
    that no solver with error control may integrate.
    """

    name: str
    run: RunOptions
    display: Display
    states: tuple[Slot, ...]
    discrete: tuple[Slot, ...]
    parameters: tuple[Slot, ...]
    signals: tuple[Slot, ...]
    clocks: tuple[Clock, ...]
    crossings: tuple[Crossing, ...]
    switching: tuple[str, ...]
    declared_until: float | None
    stepped: tuple[str, ...]
    fixed: tuple[str, ...]
    p: Floats
    start: Mapping[str, str]
    origins: Origins
    plants: Mapping[str, Any]
    rates: Any
    held: Any
    outputs: Any
    updates: Mapping[str, Any]
    holds: tuple[HeldOutput, ...]
    handovers: tuple[Handover, ...]
    watched: Any
    resets: Mapping[str, Any]
    switched: Any
    restarted: Any
    edges: Any
    project: Any
    advance: Any
    random: Mapping[str, int]
    drifting: tuple[str, ...]
    damped: tuple[str, ...]
    reach: Any

    def __post_init__(self) -> None:
        p = np.array(self.p, dtype=float)
        p.flags.writeable = False
        object.__setattr__(self, "p", p)
        for name in ("start", "random", "origins", "plants", "updates", "resets"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        values = [getattr(self, field.name) for field in fields(self)]
        return Program, tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)

    def __repr__(self) -> str:
        counts = (
            f"{len(self.x0)} states",
            f"{len(self.xd0)} discrete states",
            f"{len(self.signals)} signals",
            f"{len(self.parameters)} parameters",
            f"{len(self.clocks)} clocks",
        )
        return f"<program {self.name}: {', '.join(c for c in counts if not c.startswith('0 '))}>"

    @cached_property
    def given(self) -> Mapping[str, tuple[str, ...]]:
        """For names of the file's `params:` that are not parameters themselves, the parameters
        that have their values.
        """
        return given_names(self.origins, self.parameters)

    @property
    def x0(self) -> Floats:
        """The initial continuous states, from p."""
        return self.starts(self.p)[0]

    @property
    def xd0(self) -> Floats:
        """The initial discrete states, from p. Held outputs are zero before their first tick,
        unless they depend on a state only.
        """
        return self.starts(self.p)[1]

    def starts(self, p: Floats) -> tuple[Floats, Floats]:
        """The initial continuous and discrete states (..., n) with parameters p (..., np)."""
        places = {slot.name: slot.part for slot in self.parameters}
        found = []
        for slots in (self.states, self.discrete):
            states = np.zeros((*p.shape[:-1], slots[-1].part.stop if slots else 0))
            for slot in slots:
                if slot.name in self.start:
                    states[..., slot.part] = p[..., places[self.start[slot.name]]]
            states.flags.writeable = False
            found.append(states)
        return found[0], found[1]

    def switches(self, p: Floats | None = None) -> list[SwitchTimes]:
        """The known times at which signals switch. p: parameters, by default the nominal ones."""
        if not self.switching:
            return []
        values = exact_values(self.edges, self.p if p is None else p)
        series = zip(self.switching, values[::2], values[1::2], strict=True)
        return [SwitchTimes(*one) for one in series]

    def parameter(self, name: str) -> Floats:
        """The nominal value of a parameter such as 'ctrl.kp', of 'kp' of the file's `params:`, or
        of elements, 'kp[0]'.
        """
        return np.asarray(self.p[self.parameter_places(name)[0]])

    def with_parameters(self, values: Mapping[str, Any]) -> Program:
        """The same program with other values of the named parameters.

        values: by parameter, 'ctrl.kp'; or by a name of the file's `params:`, 'kp', for all
        parameters with its value; 'kp[0]' or 'kp[0:2]' for elements. A scalar fills a vector.
        Raises InputError for an unknown name or another shape.
        """
        p = self.p.copy()
        for name, value in values.items():
            try:
                new = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise InputError(f"parameter {name} takes numbers, not {value!r}") from None
            if not np.isfinite(new).all():
                raise InputError(f"parameter {name} takes finite numbers, not {value!r}")
            for places in self.parameter_places(name):
                if new.shape not in ((), places.shape):
                    raise InputError(f"parameter {name} has shape {places.shape}, not {new.shape}")
                p[places] = new
        return replace(self, p=p)

    def target(self, name: str) -> Target | None:
        """The entries of p of a parameter by its name, as for `parameter_places`; None for an
        unknown name or element.
        """
        return parameter_target(name, self.parameters, self.given)

    def parameter_places(self, name: str) -> tuple[Places, ...]:
        """The indices in p of a parameter 'ctrl.kp', or of each that has the value of 'kp' of the
        file's `params:`; or of their elements, in the shape that the name selects: 'kp[0:2]'.
        Raises InputError for an unknown name, and for an invalid index.
        """
        found = self.target(name)
        if found is None:
            known = {*(slot.name for slot in self.parameters), *self.given}
            base = split_index(name)[0]
            text = f"there is no parameter {base!r}"
            raise InputError(Fault(text, hint=did_you_mean(base, known)))
        return found.places

    def at_ticks(self, function: Any) -> Any:
        """A Function (t, x, xd, p) -> column evaluated as at ticks of all clocks: held outputs are
        renewed first.
        """
        if not self.holds:
            return function
        return with_renewed(self.renewed, function)

    def ticked(self, clock: str) -> Any:
        """The Function (t, x, xd, p) -> xd after a tick of one clock, at an instant at which all
        clocks tick.
        """
        return self.at_ticks(self.updates[clock]) if self.handovers else self.updates[clock]

    def filled(self, t: Any, x: Any, xd: Any, p: Any) -> Any:
        """xd with all held outputs computed as at a tick of their clocks now; the states of blocks
        are kept.
        """
        now, after = self.renewed(t, x, xd, p), np.array(xd, dtype=float)
        parts = {slot.name: slot.part for slot in self.discrete}
        for one in (one for one in self.holds if one.is_added):
            after[parts[one.name]] = np.ravel(np.array(now[parts[one.name]], dtype=float))
        return after

    def renewed(self, t: Any, x: Any, xd: Any, p: Any) -> Any:
        """xd with held outputs renewed as at a tick of all clocks."""
        for handover in self.handovers:
            xd = handover.renewed(t, x, xd, p)
        if self.handovers:
            return xd
        parts = {slot.name: slot.part for slot in self.discrete}
        after = ca.SX(xd) if isinstance(xd, ca.SX) else ca.DM(xd)
        for clock in {one.clock for one in self.holds}:
            moved = self.updates[clock](t, x, xd, p)
            for one in (one for one in self.holds if one.clock == clock):
                after[parts[one.name]] = moved[parts[one.name]]
        return after

    def seeing(self, signals: Collection[str]) -> Program:
        """The same program without the bends that can be seen neither between ticks nor in these
        signals, by full name, which are all that is recorded or measured.
        """
        rows = [k for k, crossing in enumerate(self.crossings) if crossing.is_seen(signals)]
        if len(rows) == len(self.crossings):
            return self
        arguments = self.watched.sx_in()
        column = ca.cse(ca.densify(self.watched(*arguments)[rows])) if rows else ca.SX(0, 1)
        watched = ca.Function("watched", arguments, [column], self.watched.name_in(), ["g"])
        return replace(self, crossings=tuple(self.crossings[k] for k in rows), watched=watched)

    def selected(self, names: Iterable[str], name: str = "selected") -> Any:
        """The CasADi Function (t, x, xd, p) -> the named signals in one column."""
        arguments = self.outputs.sx_in()
        whole = self.outputs(*arguments)
        parts = [whole[slot_of(self.signals, n)[0].part] for n in names]
        column = ca.densify(ca.vertcat(*parts)) if parts else ca.SX(0, 1)
        return ca.Function(name, arguments, [column], ["t", "x", "xd", "p"], ["y"])

    def jacobian(
        self, output: str, wrt: str, *, t: float = 0.0, x: Any = None, xd: Any = None, p: Any = None
    ) -> Floats:
        """The exact derivative of an output at a point, by automatic differentiation.

        output: 'xdot' or a signal such as 'plant.qm'. wrt: 'x' or 'xd' (all states), 't', the name
        of a block with a state, or a parameter such as 'ctrl.kp'. t [s], x, xd, p: the point, by
        default the initial one. Returns an array with the shape of the output followed by that of
        wrt. Raises InputError for an unknown name. Where the output jumps or has a kink (a
        comparison, a limit), this is the derivative on the side of the point.
        """
        if output == "xdot":
            function, rows, shape = self.rates, slice(None), self.x0.shape
        else:
            slot, _ = slot_of(self.signals, output, others=("xdot",))
            function, rows, shape = self.outputs, slot.part, slot.shape
        argument, columns, width = self._argument(wrt)
        arguments = function.sx_in()
        column = function(*arguments)[rows]
        derivative = ca.Function(
            "jacobian", arguments, [ca.densify(ca.jacobian(column, arguments[argument][columns]))]
        )
        given = {"x": (x, self.x0), "xd": (xd, self.xd0), "p": (p, self.p)}
        point = [_vector(name, *pair) for name, pair in given.items()]
        value = derivative(t, *point)
        return np.array(value, dtype=float).reshape(shape + width)

    def _argument(self, wrt: str) -> tuple[int, slice, tuple[int, ...]]:
        """For a name: the index of the functions' argument, the entries of it, and their shape."""
        whole: dict[str, tuple[int, slice, tuple[int, ...]]] = {
            "t": (0, slice(None), ()),
            "x": (1, slice(None), self.x0.shape),
            "xd": (2, slice(None), self.xd0.shape),
        }
        for number, slots in ((1, self.states), (2, self.discrete), (3, self.parameters)):
            for slot in slots:
                whole.setdefault(slot.name, (number, slot.part, slot.shape))
        if wrt not in whole:
            raise InputError(Fault(f"no state or parameter {wrt!r}", hint=did_you_mean(wrt, whole)))
        return whole[wrt]


def with_renewed(renewed: Callable[..., Any], function: Any) -> Any:
    """The Function (t, x, xd, p) of a function of this kind for the xd that `renewed` gives."""
    t, x, xd, p = arguments = function.sx_in()
    column = ca.cse(ca.densify(function(t, x, renewed(t, x, xd, p), p)))
    return ca.Function(
        function.name(), arguments, [column], function.name_in(), function.name_out()
    )


def _vector(name: str, given: Any, default: Floats) -> Floats:
    if given is None:
        return default
    vector: Floats = np.asarray(given, dtype=float)
    if vector.shape != default.shape:
        raise InputError(f"{name} has shape {vector.shape}, takes {default.shape}")
    return vector

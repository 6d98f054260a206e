"""State machines: in continuous time, and on a clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import ARGUMENTS, PARAMS, fixed
from spart_blocks.block_support.ports import Port, port_arguments
from spart_blocks.formulas.crossings import bare
from spart_blocks.formulas.values import as_number, input_names, parameter_values, refuse_taken
from spart_blocks.state_machines import steps
from spart_blocks.state_machines.chart import ELAPSED, Chart, doubts
from spart_blocks.state_machines.layout import STATE, StateLayout, region_names
from spart_blocks.state_machines.reading import read_chart, variable_values

_OWN = {
    STATE: "is the output with the number of the active state",
    ELAPSED: "is the time since a state was entered",
}
_TAKES = (PortSpec("u", "any", "", "or an input for each of `arguments`, by its name"),)
_GIVES = (
    PortSpec(
        "state",
        "",
        "",
        "number of the active state without substates, from 1 on; then that of each parallel "
        "state, by its name, and `outputs`",
    ),
)


class State_Machine(Declared, ContinuousBlock):
    """A chart of hierarchical states, whose transitions are located in time.

    A transition is taken where its condition `when` becomes true, once the state `from` has been
    active for `after` [s], and at once if both hold when that state is entered. Transitions of
    outer states come first, then those written first. The states are left from the innermost (their
    `exit` acts), then `do` acts, then states are entered from the outermost (`entry`) and their
    `initial` substates, or, with `history: true`, the substate that was active last. Actions assign
    formulas, numbers or lists of them to `outputs` and `variables`, in the order written. Under
    `during` a formula defines a variable while the state is active; then the variable keeps its
    last value. Formulas are those of FCN, of inputs, params, variables, t, and `elapsed`, the time
    [s] since the state was entered. docs/state_machines.md has examples.

    With `parallel: true` all substates are active together. They are entered and visited in the
    order written, and left in reverse; each takes one transition at most in a visit. An output by
    its name has the number of its own active state, 0 while it is not active. In formulas
    `active(NAME)` is 1 while a state is active.

    The outputs do not depend on the inputs directly unless a formula under `during` reads one.
    Semantics as in Stateflow: D. Harel, "Statecharts", Sci. Comput. Program. 8, 1987.

    :arg states: the states by name; each may have entry, during, exit, states, initial, parallel,
        history
    :arg transitions: each with from (a state, or a list of them), to, when, after [s], do
    :arg initial: the state that is entered first; may be left out if there is only one
    :arg outputs: the outputs besides `state`, with their initial values
    :arg variables: local variables, with their initial values
    :arg parallel: whether the outermost states are all active together
    """

    nin = 1
    nout = 1
    takes = _TAKES
    gives = _GIVES
    states = fixed("mapping")
    transitions = fixed("list of mappings", "", None, entries={"after": "s"})
    initial = fixed("str", "", None)
    arguments = ARGUMENTS
    outputs = fixed("mapping", "", None)
    variables = fixed("mapping", "", None)
    params = PARAMS
    parallel = fixed("bool", "", False)

    def build(self, **given: Any) -> dict[str, Any]:
        chart, self._values = _chart(**given, continuous=True)
        self.chart, self.layout = chart, StateLayout.of(chart, starts=_acts_at_start(chart))
        acting = [action for state in chart.states for action in state.during]
        reads = {name for action in acting for name in action.reads}
        self.watched_kinds = ("mode",) * (len(chart.transitions) + self.layout.starts)
        return {
            "nstates": self.layout.size,
            "x0": self.layout.initial(),
            "feedthrough": bool(reads & set(chart.inputs)),
            **_ports(self, chart),
        }

    def finish(self) -> None:
        _finish(self, self._values)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        now, _ = self._now(t, inputs, x)
        return _outputs(self.chart, now)

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.zeros(self.layout.size)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        now, known = self._now(t, inputs, x)
        with np.errstate(all="ignore"):
            values = [steps.margin(self.chart, tr, now, known) for tr in self.chart.transitions]
            if self.layout.starts:
                values.append(0.5 - x[0])
            return [*values, *steps.crossings(self.chart, now, known)]

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        now, known = self._stored(t, x), _known(self, t, inputs)
        starting = now.leaves[0] < 0.5 if self.layout.starts else False
        with np.errstate(all="ignore"):
            after = steps.switched(self.chart, now, known, starting)
        parts = zip(after.entered, after.ages, self.layout.times(x), strict=True)
        since = [np.where(entered, t - age, before) for entered, age, before in parts]
        return self.layout.packed(after, since)

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random active state, with times and variables near those of x."""
        return self.layout.nearby(x, spread, rng)

    def restart(self, x: Array) -> Any:
        return self.layout.consistent(x)

    def _stored(self, t: float, x: Array) -> steps.Configuration:
        return self.layout.unpacked(x, [t - since for since in self.layout.times(x)])

    def _now(self, t: float, inputs: list[Any], x: Array) -> tuple[steps.Configuration, Any]:
        """The configuration, with the formulas under `during` in the variables, and the values that
        formulas may read."""
        now = self._stored(t, x)
        known = steps.with_active(self.chart, now, _known(self, t, inputs))
        with np.errstate(all="ignore"):  # mainly of states that are not active
            return steps.during(self.chart, now, known), known


class State_Machine_S(Declared, SampledBlock):
    """A chart of hierarchical states that works at the ticks of a clock, as in a computer.

    As STATE_MACHINE, but conditions are checked at the ticks, and `during` assigns at each tick at
    which its state stays active, so that `during: {n: "n + 1"}` counts. At a tick the states are
    visited from the outermost: the first transition that can be taken is; a state that takes none
    does what is under `during`. By default there is one transition at a tick, as in Stateflow, and
    of parallel states one in each; `super_step` allows more. The first tick enters the initial
    states. The outputs at a tick are those after it, so that they depend directly on the inputs.

    :arg states: the states by name; each may have entry, during, exit, states, initial, parallel,
        history
    :arg transitions: each with from (a state, or a list of them), to, when, after [s], do
    :arg initial: the state that is entered first; may be left out if there is only one
    :arg outputs: the outputs besides `state`, with their initial values
    :arg variables: local variables, with their initial values
    :arg super_step: most transitions at one tick, in each parallel state
    :arg parallel: whether the outermost states are all active together
    """

    nin = 1
    nout = 1
    takes = _TAKES
    gives = _GIVES
    states = fixed("mapping")
    transitions = fixed("list of mappings", "", None, entries={"after": "s"})
    initial = fixed("str", "", None)
    arguments = ARGUMENTS
    outputs = fixed("mapping", "", None)
    variables = fixed("mapping", "", None)
    params = PARAMS
    super_step = fixed("int", "", 1, least=1, most=20)
    parallel = fixed("bool", "", False)

    def build(self, clock: Any, super_step: int, **given: Any) -> dict[str, Any]:
        self.super_step, self._period = super_step, clock.T
        chart, self._values = _chart(**given, continuous=False)
        self.chart, self.layout = chart, StateLayout.of(chart, starts=True)
        return {"ndstates": self.layout.size, "x0": self.layout.initial(), **_ports(self, chart)}

    def finish(self) -> None:
        _finish(self, self._values)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return _outputs(self.chart, self.layout.unpacked(x, self.layout.times(x)))

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        after = self._after(t, inputs, x)
        pairs = zip(after.entered, self.layout.times(x), strict=True)
        ticks = [np.where(entered, 0.0, before + 1.0) for entered, before in pairs]
        return self.layout.packed(after, ticks)

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random active state for some ticks, with variables near those of x."""
        near = self.layout.nearby(x, spread, rng)
        near[list(self.layout.clocks)] = rng.integers(8, size=self.chart.levels)
        return near

    def _after(self, t: float, inputs: list[Any], x: Array) -> steps.Configuration:
        """The configuration after a tick."""
        ticks = self.layout.times(x)  # since the state was entered
        now = self.layout.unpacked(x, [(count + 1.0) * self._period for count in ticks])
        with np.errstate(all="ignore"):
            return steps.ticked(self.chart, now, _known(self, t, inputs), self.super_step)


def _chart(
    states: Any,
    transitions: Any,
    initial: Any,
    parallel: Any,
    arguments: Any,
    outputs: Any,
    variables: Any,
    params: Any,
    continuous: bool,
) -> tuple[Chart, dict[str, Any]]:
    """The chart of a block's parameters, and the values of its params."""
    names = ("u",) if arguments is None else input_names(arguments, "arguments")
    given = variable_values(outputs, "outputs")
    local = variable_values(variables, "variables")
    taken = [*names, *given, *local]
    for what, found in (("arguments", names), ("outputs", given), ("variables", local)):
        for name in found:
            why = _OWN.get(name) or ("is there twice" if taken.count(name) > 1 else None)
            if why is not None:
                raise InputError(Fault(f"{what}.{name} {why}", hint="take another name"))
    values = parameter_values(params, taken)
    refuse_taken((name for name in values if name in _OWN), "params")
    chart = read_chart(
        states,
        transitions,
        initial,
        parallel,
        inputs=names,
        outputs=tuple(given),
        variables={**given, **local},
        params=values,
        continuous=continuous,
    )
    return chart, values


def _acts_at_start(chart: Chart) -> bool:
    """Whether there is anything to do when the initial states are entered."""
    return any(chart.states[index].entry for index in chart.entered_first())


def _ports(block: Any, chart: Chart) -> dict[str, Any]:
    block.in_ports = tuple(Port(name) for name in chart.inputs)
    block.out_ports = (
        *(
            Port(name, (), levels=region.leaves)
            for name, region in zip(region_names(chart), chart.regions, strict=True)
        ),
        *(Port(name, np.shape(chart.variables[name])) for name in chart.outputs),
    )
    own = {*vars(block), "nin", "nout"}  # set before bdsim's constructor looks at names
    for what, names in (("arguments", chart.inputs), ("outputs", chart.outputs)):
        for name in own.intersection(names):
            text = f"{what}.{name} is an attribute of the block"
            raise InputError(Fault(text, hint="take another name"))
    return port_arguments(block.in_ports, block.out_ports)


def _finish(block: Any, values: Mapping[str, Any]) -> None:
    """What bdsim's constructor would replace. An input may have the name of an attribute, and bdsim
    makes a wire of what is assigned to it."""
    refuse_taken((name for name in values if hasattr(block, name)), "params")
    own = {"doubts": doubts(block.chart), "tunable": tuple(values)}
    vars(block).update(values, **own, _state_names=block.layout.names)


def _known(block: Any, t: Any, inputs: list[Any]) -> dict[str, Any]:
    """The values of inputs, parameters and time by name."""
    known = dict(zip(block.chart.inputs, inputs, strict=True))
    known |= {name: block.__dict__[name] for name in block.tunable} | {"t": t}
    return {name: as_number(value) for name, value in known.items()}


def _outputs(chart: Chart, now: steps.Configuration) -> list[Any]:
    """The numbers of the active leaves, of the first ones before the start, and the outputs."""
    numbers = [
        bare(np.where(now.leaves[0] < 0.5, float(first), leaf))
        for first, leaf in zip(chart.first_leaves, now.leaves, strict=True)
    ]
    return [*numbers, *(now.variables[name] for name in chart.outputs)]

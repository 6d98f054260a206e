"""State machines: in continuous time, and on a clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.of_formulas import WithParams
from spart_blocks.block_support.parameters import ARGUMENTS, PARAMS, fixed
from spart_blocks.block_support.ports import Port
from spart_blocks.formulas.crossings import bare
from spart_blocks.formulas.values import input_names, parameter_values, refuse_taken
from spart_blocks.state_machines import steps
from spart_blocks.state_machines.chart import ELAPSED, Chart, doubts
from spart_blocks.state_machines.layout import STATE, StateLayout, region_names
from spart_blocks.state_machines.reading import read_chart, variable_values

_OWN = {
    STATE: "is the output with the number of the active state",
    ELAPSED: "is the time since a state was entered",
}
_GIVES = (
    PortSpec(
        "state",
        "",
        "",
        "number of the active state without substates, from 1 on; then that of each parallel "
        "state, by its name, and `outputs`",
    ),
)


class _Machine(WithParams):
    """What STATE_MACHINE and STATE_MACHINE_S share: the parameters, the ports and the chart.

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

    chart: Chart
    layout: StateLayout
    takes = (PortSpec("u", "any", "", "or an input for each of `arguments`, by its name"),)
    gives = _GIVES
    states = fixed("mapping")
    transitions = fixed("list of mappings", "", None, entries={"after": "s"})
    initial = fixed("str", "", None)
    arguments = ARGUMENTS
    outputs = fixed("mapping", "", None)
    variables = fixed("mapping", "", None)
    params = PARAMS
    parallel = fixed("bool", "", False, late=True)

    def take(self, given: dict[str, Any], continuous: bool) -> dict[str, Any]:
        """Read the chart and set the ports; returns the arguments of bdsim's constructor."""
        arguments, outputs, variables, params = (
            given.pop(name) for name in ("arguments", "outputs", "variables", "params")
        )
        names = ("u",) if arguments is None else input_names(arguments, "arguments")
        shown = variable_values(outputs, "outputs")
        local = variable_values(variables, "variables")
        taken = [*names, *shown, *local]
        for what, found in (("arguments", names), ("outputs", shown), ("variables", local)):
            for name in found:
                why = _OWN.get(name) or ("is there twice" if taken.count(name) > 1 else None)
                if why is not None:
                    raise InputError(Fault(f"{what}.{name} {why}", hint="take another name"))
        self._params = parameter_values(params, taken)
        refuse_taken((name for name in self._params if name in _OWN), "params")
        self.chart = read_chart(
            **given,
            inputs=names,
            outputs=tuple(shown),
            variables={**shown, **local},
            params=self._params,
            continuous=continuous,
        )
        starts = not continuous or _acts_at_start(self.chart)
        self.layout = StateLayout.of(self.chart, starts=starts)
        return {"x0": self.layout.initial(), **self._ports(self.chart)}

    def _ports(self, chart: Chart) -> dict[str, Any]:
        states = zip(region_names(chart), chart.regions, strict=True)
        given = self.set_ports(
            (Port(name) for name in chart.inputs),
            (
                *(Port(name, (), levels=region.leaves) for name, region in states),
                *(Port(name, np.shape(chart.variables[name])) for name in chart.outputs),
            ),
        )
        own = {*vars(self), "nin", "nout"} - {"T"}  # set before bdsim's constructor looks at names
        for what, names in (("arguments", chart.inputs), ("outputs", chart.outputs)):
            for name in own.intersection(names):
                text = f"{what}.{name} is an attribute of the block"
                raise InputError(Fault(text, hint="take another name"))
        return given

    def finish(self) -> None:
        # What bdsim's constructor would replace. An input may have the name of an attribute, and
        # bdsim makes a wire of what is assigned to it.
        super().finish()
        own = {"doubts": doubts(self.chart), "tunable": tuple(self._params)}
        vars(self).update(own, _state_names=self.layout.names)

    def shown(self, now: steps.Configuration) -> list[Any]:
        """The numbers of the active leaves, of the first ones before the start, and the outputs."""
        numbers = [
            bare(np.where(now.leaves[0] < 0.5, float(first), leaf))
            for first, leaf in zip(self.chart.first_leaves, now.leaves, strict=True)
        ]
        return [*numbers, *(now.variables[name] for name in self.chart.outputs)]


class State_Machine(_Machine, ContinuousBlock):
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

    """

    def build(self, **given: Any) -> dict[str, Any]:
        found, chart = self.take(given, continuous=True), self.chart
        acting = [action for state in chart.states for action in state.during]
        reads = {name for action in acting for name in action.reads}
        self.watched_kinds = ("mode",) * (len(chart.transitions) + self.layout.starts)
        return {"feedthrough": bool(reads & set(chart.inputs)), **found}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        now, _ = self._now(t, inputs, x)
        return self.shown(now)

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
        now, known = self._stored(t, x), self._values(t, inputs)
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
        known = steps.with_active(self.chart, now, self._values(t, inputs))
        with np.errstate(all="ignore"):  # mainly of states that are not active
            return steps.during(self.chart, now, known), known


class State_Machine_S(_Machine, SampledBlock):
    """A chart of hierarchical states that works at the ticks of a clock, as in a computer.

    As STATE_MACHINE, but conditions are checked at the ticks, and `during` assigns at each tick at
    which its state stays active, so that `during: {n: "n + 1"}` counts. At a tick the states are
    visited from the outermost: the first transition that can be taken is; a state that takes none
    does what is under `during`. By default there is one transition at a tick, as in Stateflow, and
    of parallel states one in each; `super_step` allows more. The first tick enters the initial
    states. The outputs at a tick are those after it, so that they depend directly on the inputs.

    :arg super_step: most transitions at one tick, in each parallel state
    """

    super_step = fixed("int", "", 1, least=1, most=20)

    def build(self, super_step: int, **given: Any) -> dict[str, Any]:
        self.super_step, self._period = super_step, self.T
        return self.take(given, continuous=False)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return self.shown(self.layout.unpacked(x, self.layout.times(x)))

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
            return steps.ticked(self.chart, now, self._values(t, inputs), self.super_step)


def _acts_at_start(chart: Chart) -> bool:
    """Whether there is anything to do when the initial states are entered."""
    return any(chart.states[index].entry for index in chart.entered_first())

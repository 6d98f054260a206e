"""States with rates and jumps, by formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.of_formulas import WithParams
from spart_blocks.block_support.parameters import PARAMS, fixed
from spart_blocks.block_support.ports import Port
from spart_blocks.block_support.values import numbers
from spart_blocks.formulas.crossings import bare
from spart_blocks.formulas.guards import Guard, read_guard
from spart_blocks.formulas.reader import Formula, read_formula
from spart_blocks.formulas.values import input_names, parameter_values

MOST_JUMPS = 100


class Hybrid_System(WithParams, ContinuousBlock):
    """States with rates by formulas, which jump where conditions become true.

    Each state is a number and an output. Its rate is a formula of the states, of the arguments, of
    time and of params, as in FCN. A jump is {when: y < 0, set: {v: -e*v}}: at the instant at which
    the condition becomes true, located as other zero-crossings, all states that it sets get their
    new values at once; formulas read those from before. Several jumps at one instant act in their
    order. A jump or a switch that makes other conditions true sets off their jumps at this instant,
    each once. A condition that holds at the start is no jump.

    Jumps may accumulate (Zeno behaviour), as those of a ball that loses speed at each bounce: with
    `run: {sliding: filippov}` it comes to rest there, otherwise the run ends with an error.

    Source: R. Goebel, R. Sanfelice and A. Teel, "Hybrid dynamical systems", IEEE Control Systems
    29 (2009): flow map, jump set and jump map.

    :arg states: names of the states
    :arg f: a formula for the rate of each state
    :arg x0: the states at the start, a number or one for each
    :arg jumps: each with `when`, a condition, and `set`, formulas by the names of states
    :arg arguments: names of the inputs, none by default
    """

    nin = 0  # and one for each of `arguments`, by its name
    nout = 1
    gives = (PortSpec("x", "", "", "an output for each of `states`, by its name"),)
    states = fixed("list of str")
    f = fixed("str or list of str")
    x0 = fixed("float or n", "", 0.0)
    jumps = fixed("list of mappings", "", ())
    arguments = fixed("list of str", "", None)
    params = PARAMS
    told = ()

    def build(
        self, states: Any, f: Any, x0: Any, jumps: Any, arguments: Any, params: Any
    ) -> dict[str, Any]:
        self._states = input_names(states, "states")
        given = () if arguments is None else input_names(arguments, "arguments")
        names = (*self._states, *given)
        if len({*names}) < len(names):
            input_names(names, "states and arguments")
        self._params = parameter_values(params, names)
        self.tunable = tuple(self._params)
        known = {*names, *self._params}
        texts = [f] if isinstance(f, str) else f
        if not isinstance(texts, (list, tuple)) or len(texts) != len(self._states):
            text = f"f is a formula for each of {', '.join(self._states)}, not {brief(f)}"
            raise InputError(text)
        self._rates = [read_formula(text, known) for text in texts]
        self._jumps = [_jump(jump, known, self._states) for jump in _listed(jumps)]
        self.watched_kinds = ("event",) * len(self._jumps)
        size = (len(self._states),)
        start = numbers(np.broadcast_to(x0, size) if np.ndim(x0) == 0 else x0, "x0", size)
        ports = self.set_ports(map(Port, given), (Port(name, ()) for name in self._states))
        return {"x0": start, **ports}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [x[k] for k in range(len(self._states))]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        known = self._known(t, inputs, x)
        return np.array([_number(rate, known) for rate in self._rates])

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        known = self._known(t, inputs, x)
        with np.errstate(all="ignore"):
            bends = [value for rate in self._rates for value in rate.crossings(known)]
            return [*(guard.value(known) for guard, _ in self._jumps), *bends]

    def jump(self, t: float, number: int, inputs: list[Any], x: Array) -> Any:
        """The states after a jump, numbered from 0."""
        known = self._known(t, inputs, x)
        _, becomes = self._jumps[number]
        return np.array(
            [
                _number(becomes[name], known) if name in becomes else x[k]
                for k, name in enumerate(self._states)
            ]
        )

    def _known(self, t: Any, inputs: list[Any], x: Any) -> dict[str, Any]:
        return self._values(t, inputs) | {name: x[k] for k, name in enumerate(self._states)}


def _number(formula: Formula, known: Mapping[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        value = formula.value(known)
    if np.size(value) != 1:
        raise ValueError(f"formula {brief(formula.text)} gives {np.shape(value)}, not a number")
    return bare(np.reshape(value, ())) if np.ndim(value) else value


def _listed(jumps: Any) -> list[Any]:
    if not isinstance(jumps, (list, tuple)) or len(jumps) > MOST_JUMPS:
        raise InputError(f"jumps is a list of up to {MOST_JUMPS}, not {brief(jumps)}")
    return list(jumps)


def _jump(given: Any, known: set[str], states: tuple[str, ...]) -> tuple[Guard, dict[str, Formula]]:
    """The condition of a jump, and the new value of each state that it sets."""
    hint = "such as {when: y < 0, set: {v: -0.8*v}}"
    if not isinstance(given, Mapping) or set(given) != {"when", "set"}:
        raise InputError(Fault(f"a jump has `when` and `set`, not {brief(given)}", hint=hint))
    becomes = given["set"]
    if not isinstance(becomes, Mapping) or not becomes:
        text = f"set takes formulas by the names of states, not {brief(becomes)}"
        raise InputError(Fault(text, hint=hint))
    for name in becomes:
        if name not in states:
            text = f"set has {brief(name)}, which is not one of states"
            raise InputError(Fault(text, hint=did_you_mean(str(name), states)))
    guard = read_guard(given["when"], known)
    return guard, {name: read_formula(_text(text), known) for name, text in becomes.items()}


def _text(formula: Any) -> Any:
    """A number of a YAML file as a formula."""
    plain = isinstance(formula, (int, float)) and not isinstance(formula, bool)
    return repr(float(formula)) if plain else formula

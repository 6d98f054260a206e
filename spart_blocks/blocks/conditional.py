"""Choices between subsystems that run on conditions, and the one signal that comes of them. Truth
values are numbers: 1 is true, 0 is false.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.of_formulas import OfFormulas
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.ports import Port, numbered, one_shape
from spart_blocks.block_support.values import numbers
from spart_blocks.formulas.crossings import bare, flat, zero_or_one

MOST_CHOICES = 100


class If(OfFormulas, FunctionBlock):
    """Which of several conditions holds first: `if`, `elseif1`, `elseif2` and so on, or `else`.

    One output is 1, that of the first condition that holds, or else the last; the others are 0.
    They enable subsystems (`enabled: {by: on}`). A condition is a formula as in FCN; it holds where
    its value is not 0. A step ends where a comparison changes.

    :arg conditions: a formula for `if`, and one for each `elseif`
    """

    nin = 1
    nout = 2
    takes = (PortSpec("u", "any", "", "or an input for each of `arguments`, by its name"),)
    gives = (
        PortSpec("if", "", "", "1 if the first condition holds; then `elseif1` and so on"),
        PortSpec("else", "", "", "1 if none holds"),
    )
    conditions = fixed("str or list of str")

    def build(self, conditions: Any, arguments: Any, params: Any) -> dict[str, Any]:
        kinds = f"conditions is a formula or a list of up to {MOST_CHOICES}"
        inputs = self.read(conditions, kinds, MOST_CHOICES, arguments, params)
        between = (f"elseif{k}" for k in range(1, len(self.formulas)))
        return self.set_ports(inputs, (Port(name, ()) for name in ("if", *between, "else")))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        known, found, none = self._values(t, inputs), [], np.equal(0.0, 0.0)
        for formula in self.formulas:
            with np.errstate(all="ignore"):
                value = formula.value(known)
            if np.size(value) != 1:
                raise ValueError(f"condition {brief(formula.text)} gives {np.shape(value)}")
            holds = np.not_equal(bare(np.reshape(value, ())), 0)
            found.append(bare(zero_or_one(np.logical_and(none, holds))))
            none = np.logical_and(none, np.logical_not(holds))
        return [*found, bare(zero_or_one(none))]


class Case(Declared, FunctionBlock):
    """Which of several cases a number is: `case1`, `case2` and so on, or `default`.

    One output is 1, that of the first case that lists the number, rounded to the nearest integer,
    halves up, or else the last; the others are 0. They enable subsystems (`enabled: {by: on}`).
    Simulink's Switch Case truncates the number. A step ends where the case changes.

    :arg cases: for each case an integer or a list of them
    """

    nin = 1
    nout = 2
    takes = (PortSpec("u", "", "", "the number, which is rounded"),)
    gives = (
        PortSpec("case1", "", "", "1 if u is in the first case; then `case2` and so on"),
        PortSpec("default", "", "", "1 if it is in none"),
    )
    cases = fixed("list")

    def build(self, cases: Any) -> dict[str, Any]:
        given = cases if isinstance(cases, (list, tuple, np.ndarray)) else None
        if given is None or not 0 < len(given) <= MOST_CHOICES:
            text = f"cases is a list of up to {MOST_CHOICES} integers, or lists of them"
            raise InputError(f"{text}, not {brief(cases)}")
        self.cases = [_integers(case) for case in given]
        listed = [one for case in self.cases for one in case]
        twice = sorted({one for one in listed if listed.count(one) > 1})
        if twice:
            raise InputError(Fault(f"{twice[0]} is in cases twice", hint="the first would count"))
        names = (f"case{k + 1}" for k in range(len(self.cases)))
        return self.set_ports([Port("u", ())], [Port(name, ()) for name in (*names, "default")])

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        number = np.floor(inputs[0] + 0.5)
        found = []
        for case in self.cases:
            inside = False
            for one in case:
                inside = np.logical_or(inside, np.equal(number, one))
            found.append(bare(zero_or_one(inside)))
        return [*found, 1.0 - sum(found)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        ends = sorted({one + d for case in self.cases for one in case for d in (-0.5, 0.5)})
        return flat(*(end - inputs[0] for end in ends))


def _integers(case: Any) -> list[float]:
    found = np.atleast_1d(numbers(case, "cases"))
    if found.ndim != 1 or not 0 < found.size <= MOST_CHOICES or np.any(found != np.floor(found)):
        raise InputError(f"a case is an integer or a list of them, not {brief(case)}")
    return [float(one) for one in found]


class Merge(Declared, ContinuousBlock):
    """The output of the subsystem that runs, of several that run on conditions.

    y is the input whose subsystem is enabled or triggered, the last if several are, or if none is,
    the one that was so last; before any was, `initial`. The inputs are outputs of subsystems with
    conditions, of one shape, and no other signals.

    :arg nin: number of inputs
    :arg initial: y before any of the subsystems has run
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("u1", "any", "", "an output of a conditional subsystem"),
        PortSpec("u2", "any", "", "likewise; u3 and so on with `nin`"),
    )
    gives = (PortSpec("y", "any", "", "the one of the subsystem that runs or ran last"),)
    nin_ = fixed("int", "", 2, least=1, most=MOST_CHOICES)
    initial = tunable("float or array_like", "", 0.0)
    told: ClassVar[tuple[str, ...]] = ()

    def build(self, nin: Any, initial: Any) -> dict[str, Any]:
        self.inputs_merged = nin
        start = numbers(initial, "initial")
        self.initial = start if start.ndim else float(start)
        ports = self.set_ports(numbered(nin), [Port("y")])
        # The number of the input whose subsystem ran last, 0 if none has.
        return {"x0": [0.0], "feedthrough": True, **ports}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        signals, _ = self._parts(inputs)
        one_shape(signals)
        number = self._number(inputs, x)
        value: Any = np.zeros(np.shape(signals[0])) + self.initial
        for k, signal in enumerate(signals):
            value = np.where(np.abs(number - (k + 1)) < 0.5, signal, value)
        return [bare(value)]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.zeros(1)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [np.where(np.abs(self._number(inputs, x) - x[0]) > 0.5, 1.0, -1.0)]

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        return np.array([self._number(inputs, x)])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """The number of a random input, or 0."""
        return np.array([float(rng.integers(self.inputs_merged + 1))])

    def _parts(self, inputs: list[Any]) -> tuple[list[Any], list[Any]]:
        """The signals, and for each of them whether its subsystem runs: behind them, where the
        diagram has put them."""
        return inputs[: self.inputs_merged], inputs[self.inputs_merged :]

    def _number(self, inputs: list[Any], x: Array) -> Any:
        """The number of the input that is passed on."""
        number = x[0]
        for k, runs in enumerate(self._parts(inputs)[1]):
            number = np.where(runs > 0.5, k + 1.0, number)
        return bare(number)

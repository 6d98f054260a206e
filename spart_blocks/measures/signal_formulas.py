"""Formulas of signals within a run, such as abs(ctrl[0] * plant.um[0]): what a metric measures.

The argument of a measurement is the name of a signal or a formula of signals, of t and of the
program's parameters. A formula becomes a further signal of the program, so that it is measured like
any other, within steps, by every engine.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from spart_blocks.base.errors import InputError, did_you_mean
from spart_blocks.base.paths import named, split_index
from spart_blocks.formulas.reader import CHOICE, CONSTANTS, FUNCTIONS, Function, Reader, Value
from spart_blocks.formulas.values import written
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries


def kind_of(program: Program, name: str) -> Literal["signal", "parameter", "t"] | None:
    """Whether a name is that of a signal, a parameter or the time t, tested in this order; None
    for an unknown name.
    """
    signals = {slot.name for slot in program.signals}
    if named(name, signals, program.display.aliases)[0] in signals:
        return "signal"
    if name == "t":
        return "t"
    return "parameter" if is_parameter(program, name) else None


def is_parameter(program: Program, name: str) -> bool:
    """Whether a name is of a parameter, or of elements of one."""
    try:
        return program.target(name) is not None
    except InputError:  # for its index
        return True


def unknown_hint(program: Program, name: str) -> str | None:
    """A hint for a name that is no signal."""
    base = split_index(name)[0]
    known = {*(slot.name for slot in program.signals), *program.display.aliases}
    inner = sorted(one for one in known if one.startswith(f"{base}/"))
    if inner:
        return f"a name with a slash stands in quotes: {inner[0]!r}"
    near = did_you_mean(base, {*known, *program.given})
    if "." not in base or base.partition(".")[0] not in program.plants:
        return near
    asked = f"name {base} in run: log:, if it is computed only where it is asked for, as umdot is"
    return f"{near}\n  {asked}" if near else asked


ALWAYS_DEFINED = {
    "sin", "cos", "tanh", "atan", "atan2", "hypot", "abs", "sign", "floor", "ceil", "round",
    "min", "max", "clip", "norm", "sum",
}  # fmt: skip
"""The functions that are finite for all finite arguments; exp is not, since it overflows."""
MOST = 1e300


def defined(value: Any) -> Any:
    """Whether numbers are finite. It uses comparisons only, so that it also works for symbols."""
    return np.abs(value) < MOST


OF_SIGNALS: Mapping[str, Function] = {
    **FUNCTIONS,
    "norm": Function(lambda value: np.sqrt(np.sum(np.ravel(value) ** 2))),
    "sum": Function(lambda value: np.sum(np.ravel(value))),
}


@dataclass
class SignalReader(Reader):
    """Compiles a formula of signals to a closure, which takes `program.added_signals.Symbols`.

    signals: collects the signals in it. partial: whether it may be undefined for finite signals,
    as log(x) is.
    """

    program: Program = field(kw_only=True)
    signals: list[str] = field(default_factory=list)
    partial: bool = False

    def value(self, node: ast.expr) -> Value:
        name = written(node)
        return super().value(node) if name is None else self.named(node, name)

    def _operation(self, node: ast.BinOp) -> Value:
        self.partial |= not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Pow)
        if isinstance(node.op, ast.Pow):
            power = node.right.value if isinstance(node.right, ast.Constant) else None
            self.partial |= not isinstance(power, int)
        return super()._operation(node)

    def _call(self, node: ast.Call) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        self.partial |= name not in {*ALWAYS_DEFINED, CHOICE}
        return super()._call(node)

    def named(self, node: ast.expr, name: str) -> Value:
        """The closure of a named value."""
        kind = kind_of(self.program, name)
        if kind == "t":
            return lambda known: known.t
        if kind is None:
            if isinstance(node, ast.Name) and name in {*CONSTANTS, *self.functions}:
                return super()._name(node)
            raise self.fault(node, f"there is no signal {name!r}", unknown_hint(self.program, name))
        try:
            if kind == "signal":
                entries(self.program, name)
            else:
                self.program.parameter_places(name)
        except InputError as error:
            raise self.fault(node, error.faults[0].message, error.faults[0].hint) from None
        if kind == "parameter":
            return lambda known: known.parameter(name)
        self.signals.append(name)
        return lambda known: known.signal(name)

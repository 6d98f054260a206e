"""Buses: groups of signals by name. They are wires only, and no part of the program.

A dot in a signal's name makes a bus within the bus: `arm.qm` and `arm.um` are the bus `arm`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.ports import Port, taken_names

MOST_SIGNALS = 1000
_NAME = re.compile(r"[^\s.,/=\[\]\\${}^*]+(\.[^\s.,/=\[\]\\${}^*]+)*")


class _Bus(Declared):
    """What the blocks of buses share: output k is input passes[k]. takes_bus, gives_bus: what the
    names of the ports begin with that are the bus; None where none is."""

    nin = 1
    nout = 1

    is_route = True
    takes_bus: ClassVar[str | None] = None
    gives_bus: ClassVar[str | None] = None
    passes: tuple[int, ...]

    def route(
        self, inputs: Sequence[str], outputs: Sequence[str], passes: Sequence[int]
    ) -> dict[str, Any]:
        """Set the ports of the block; returns the arguments of bdsim's constructor."""
        taken = taken_names(type(self), {*inputs, *outputs})
        if taken:
            raise InputError(f"signals cannot be called {', '.join(taken)}: every block has these")
        self.passes = tuple(passes)
        return self.set_ports(tuple(map(Port, inputs)), tuple(map(Port, outputs)))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [inputs[k] for k in self.passes]


def _names(value: Any, name: str) -> list[str]:
    """Names of signals, none of them twice, none of them also a bus of others."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, (list, tuple)) or not given:
        told = f"{name} must be a list of names, not {brief(value)}"
        raise InputError(Fault(told, hint=f"write {name}: [qm, um]"))
    if len(given) > MOST_SIGNALS:
        raise InputError(f"{name} has {len(given)} entries; the most is {MOST_SIGNALS}")
    for text in given:
        if not isinstance(text, str) or not _NAME.fullmatch(text):
            told = f"{name} has {brief(text)}, which is no name of a signal"
            raise InputError(Fault(told, hint="write names such as qm, or arm.qm in a bus arm"))
    if len(set(given)) < len(given):
        twice = next(text for k, text in enumerate(given) if text in given[:k])
        raise InputError(f"{name} has {twice} twice")
    buses = {text[: match.start()] for text in given for match in re.finditer(r"\.", text)}
    both = next((text for text in given if text in buses), None)
    if both is not None:
        raise InputError(f"{name} has {both} as a signal and as a bus of others")
    return list(given)


class Bus_Creator(_Bus, FunctionBlock):
    """A bus of signals, each by its name.

    Its inputs have the names of the signals. A wire from the whole block carries the bus; one
    signal of it is `bus.qm`. In a diagram file the names are by default those that its wires give:
    `plant.* -> bus`, `law.tau -> bus.tau`, and `other -> bus.arm` for a bus within the bus.

    :arg signals: names of the signals
    """

    takes = (PortSpec("signal", "any", "", "a signal; an input for each name of `signals`"),)
    gives = (PortSpec("signal", "any", "", "the same; together they are the bus"),)
    gives_bus = ""
    signals = fixed("list of str", "", ())

    def build(self, signals: Any) -> dict[str, Any]:
        if np.size(signals) == 0:
            hint = "write wires to it that name them, as one -> bus.name, or signals: [qm, um]"
            raise InputError(Fault("a bus needs signals", hint=hint))
        names = _names(signals, "signals")
        return self.route(names, names, range(len(names)))


class Bus_Selector(_Bus, FunctionBlock):
    """Signals of a bus, or of a block with several outputs.

    A wire from the bus to the block carries the selected signals only. An output has the last part
    of its signal's name: that of `arm.qm` is `qm`.

    :arg signals: names of the selected signals; in a diagram file also of buses within the bus
    :arg outputs: names of the outputs, where they are to be others
    """

    takes = (PortSpec("signal", "any", "", "a signal of the bus; one for each name of `signals`"),)
    gives = (PortSpec("signal", "any", "", "the same"),)
    takes_bus = ""
    signals = fixed("list of str")
    outputs = fixed("list of str", "", None)

    def build(self, signals: Any, outputs: Any) -> dict[str, Any]:
        names = _names(signals, "signals")
        given = [name.rpartition(".")[2] for name in names] if outputs is None else outputs
        if outputs is None and len(set(given)) < len(given):
            twice = next(text for k, text in enumerate(given) if text in given[:k])
            hint = f"give outputs: [...], the names of all {len(names)} outputs"
            raise InputError(Fault(f"two of the signals would be called {twice}", hint=hint))
        found = _names(given, "outputs")
        if len(found) != len(names):
            raise InputError(f"outputs has {len(found)} names, signals {len(names)}")
        return self.route(names, found, range(len(names)))


class Bus_Assignment(_Bus, FunctionBlock):
    """A bus with other signals in the place of some of its own.

    Its inputs are the bus, `bus`, and the signals that replace those of their names: `sensors ->
    a.bus` and `filter -> a.qm`. The other signals of the bus pass.

    :arg signals: names of the replaced signals
    :arg bus: names of all signals of the bus; in a diagram file they follow from its wire
    """

    nin = 2
    takes = (
        PortSpec("bus.signal", "any", "", "a signal of the bus; one for each name of `bus`"),
        PortSpec("signal", "any", "", "its replacement; one for each name of `signals`"),
    )
    gives = (PortSpec("signal", "any", "", "a signal of the bus; one for each name of `bus`"),)
    takes_bus = "bus."
    gives_bus = ""
    signals = fixed("list of str")
    bus = fixed("list of str", "", ())

    def build(self, signals: Any, bus: Any) -> dict[str, Any]:
        names, whole = _names(signals, "signals"), _names(bus, "bus")
        place = {name: len(whole) + k for k, name in enumerate(names)}
        lost = [name for name in names if name not in set(whole)]
        if lost:
            told = f"signals has {lost[0]}, which is not in the bus"
            raise InputError(Fault(told, hint=f"it has {', '.join(whole[:24])}"))
        inputs = [*(f"bus.{name}" for name in whole), *names]
        passes = [place.get(name, k) for k, name in enumerate(whole)]
        return self.route(inputs, whole, passes)

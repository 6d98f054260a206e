"""The parameters of a program: tunable attributes of blocks, initial states, and the quantities of
robots that the file lists under `tunable:`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.build.companions import COMPANION
from spart_blocks.diagram.build.origins import Origins, shared_arguments
from spart_blocks.diagram.network.flatten import Node
from spart_blocks.diagram.network.gates import RESTART
from spart_blocks.program.parameter_paths import program_origins
from spart_blocks.program.program import START, Slot
from spart_blocks.program.tracing.faults import OfBlock
from spart_blocks.program.tracing.rules import rule_of
from spart_blocks.program.tracing.symbol import box, symbols, unbox
from spart_blocks.robot import Robot

Matter = Sequence[str]
"""Names such as 'sc.mass' of robots' properties that are parameters."""


@dataclass(frozen=True)
class _Use:
    """An attribute of a block, or its initial state, that is a parameter.

    value: of the parameter. name: of it. sign: +1 or -1, the factor of the value in the attribute.
    """

    node: Node
    attribute: str
    value: NDArray[np.float64]
    name: str
    sign: int = 1


class Parameters:
    """The parameters of some nodes.

    slots: their layout. p: nominal values. column: SX symbols. blocks: blocks by index of their
    nodes, with symbols as tunable attributes. start: for each block the parameter that is its
    initial state. origins: entries of the file that have their values.
    """

    def __init__(
        self, nodes: Iterable[Node], origins: Origins, robots: Mapping[str, Robot], tunable: Matter
    ) -> None:
        nodes = list(nodes)
        matter = {name: _quantity(robots, name) for name in tunable}
        uses = [use for node in nodes for use in _uses(node)]
        uses += [_start(node) for node in nodes if _has_state(node)]
        names = _names(uses, origins)
        nominal = {names[use.name]: use.value for use in uses} | matter
        slots, start = [], 0
        for name, value in nominal.items():
            slots.append(Slot(name, start, value.shape))
            start += value.size
        self.slots = tuple(slots)
        self.origins = program_origins(origins, names, nominal)
        self.p = np.concatenate([np.zeros(0), *(value.ravel() for value in nominal.values())])
        self.column, flat = symbols("p", (start,))
        symbol = {slot.name: flat[slot.part].reshape(slot.shape) for slot in slots}
        self.blocks = {node.index: node.block for node in nodes}
        for name in {name.rpartition(".")[0] for name in tunable}:
            self._put_robot(nodes, robots[name], _with_symbols(robots[name], name, symbol))
        self.start = {use.node.name: names[use.name] for use in uses if use.attribute == START}
        for use in uses:
            if use.attribute != START:
                self._put(use, symbol[names[use.name]])
            elif RESTART in use.node.block.__dict__:
                self._own(use.node).__dict__[RESTART] = symbol[names[use.name]]

    def _put(self, use: _Use, symbol: Any) -> None:
        """Set an attribute to its symbol."""
        given = use.node.block.__dict__[use.attribute]
        if symbol.shape != np.shape(given):  # a limit of an integrator is a vector
            symbol = np.reshape(symbol, np.shape(given))
        symbol = symbol if use.sign > 0 else -symbol
        self._own(use.node).__dict__[use.attribute] = _like(given, symbol)

    def _put_robot(self, nodes: Iterable[Node], robot: Robot, symbolic: Robot) -> None:
        """Replace a robot by one with symbols, in all blocks that have it."""
        for node in nodes:
            if attribute(node.block, "robot") is robot:
                self._own(node).__dict__["robot"] = symbolic

    def _own(self, node: Node) -> Any:
        """The copy of a node's block whose attributes are symbols."""
        if self.blocks[node.index] is node.block:
            self.blocks[node.index] = _copy(node.block)
        return self.blocks[node.index]


def _uses(node: Node) -> Iterable[_Use]:
    if node.name.endswith("=0"):  # zeros for an input without a wire fold away
        return
    found = {}
    for name in rule_of(node.block).tunable:
        value = node.block.__dict__.get(name)
        if value is None:
            continue
        with OfBlock(node):
            array = np.asarray(value)
        if array.dtype.kind in "fiu":
            array = array.astype(float)
            if np.isfinite(array).all():  # a limit at infinity is none
                found[name] = array
    for name, array in found.items():
        if node.part is None:
            yield _Use(node, name, array, f"{node.name}.{name}")
        elif name in node.part.given:
            yield _composed_use(node, name, found)


def _composed_use(node: Node, name: str, values: Mapping[str, NDArray[np.float64]]) -> _Use:
    """The use of an argument of a composed block by an inner block. values: of all its attributes.
    Limits that are not opposite are two parameters: pid.I_limit[0] and pid.I_limit[1].
    """
    assert node.part is not None
    given = node.part.given
    one = given[name]
    alike = {other: two.part for other, two in given.items() if two.name == one.name}
    if len(alike) == 1:
        return _Use(node, name, values[name], one.name)
    both = [part.sign * values[other] for other, part in alike.items() if other in values]
    if len(both) == len(alike) and np.array_equal(both[0], both[1]):
        value = (one.part.sign * values[name]).reshape(())
        return _Use(node, name, value, one.name, one.part.sign)
    return _Use(node, name, values[name].reshape(()), f"{one.name}[{one.part.entry}]")


def _names(uses: Sequence[_Use], origins: Origins) -> dict[str, str]:
    """The parameter of each attribute: its own, or one that it shares.

    A companion has the parameters of its plant. Blocks share a parameter of the file if all of
    them have it with the same shape and values.
    """
    values = {use.name: use.value for use in uses}
    names = {name: name for name in values}
    for parameter, pairs in shared_arguments(origins).items():
        found = [f"{block}.{attribute}" for block, attribute in pairs]
        found = [name for name in found if name in values]
        alike = [name for name in found if np.array_equal(values[name], values[found[0]])]
        if len(alike) > 1 and parameter not in values:
            names |= dict.fromkeys(alike, parameter)
    for name, value in values.items():
        of_plant = name.replace(f"{COMPANION}.", ".")
        if of_plant != name and np.array_equal(value, values.get(of_plant, np.nan)):
            names[name] = names[of_plant]
    return names


def _quantity(robots: Mapping[str, Robot], name: str) -> NDArray[np.float64]:
    """'sc.mass' (n+1,) [kg], 'sc.com' (n+1, 3) [m] or 'sc.inertia' (n+1, 3, 3) [kg m^2], the
    base-link first. Raises InputError for centres of mass that are built into other data.
    """
    given, _, quantity = name.rpartition(".")
    robot = robots[given]
    if quantity == "com":
        if robot.loops or robot.forces:
            text = f"{name} is no parameter: the loops and springs of {given} are described by it"
            raise InputError(Fault(text, hint=f"{given}.mass and {given}.inertia are parameters"))
        return robot.coms
    mass, inertia = robot.matter
    return mass if quantity == "mass" else inertia


def _with_symbols(robot: Robot, name: str, symbol: Mapping[str, Any]) -> Robot:
    """The robot with symbols for its tunable quantities. All masses and inertias become arrays of
    symbolic scalars, so that results computed from them are too.
    """
    mass, inertia = robot.matter
    return robot.with_matter(
        symbol.get(f"{name}.mass", box(mass)),
        symbol.get(f"{name}.inertia", box(inertia)),
        symbol.get(f"{name}.com"),
    )


def _has_state(node: Node) -> bool:
    return node.kind in ("continuous", "sampled")


def _start(node: Node) -> _Use:
    with OfBlock(node):
        x0 = np.ravel(np.asarray(node.block.getstate0(), dtype=float))
    given = None if node.part is None else node.part.given.get(START)
    return _Use(node, START, x0, given.name if given else f"{node.name}.{START}")


def _copy(block: Any) -> Any:
    """A shallow copy of a block. It avoids bdsim's __setattr__, which would treat the name of a
    port as a wire.
    """
    twin = object.__new__(type(block))
    twin.__dict__.update(block.__dict__)
    return twin


def _like(value: Any, symbol: Any) -> Any:
    """The symbols in a container like that of the attribute, since NumPy treats lists
    differently.
    """
    return symbol.tolist() if isinstance(value, (list, tuple)) else unbox(symbol)

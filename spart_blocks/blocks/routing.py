"""Selection and arrangement of signals. Numbers of inputs begin at 1, as their names do; indices of
entries at 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from bdsim.components import FunctionBlock, SinkBlock, SourceBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import NIN, fixed, tunable
from spart_blocks.block_support.ports import Port, numbered, one_shape
from spart_blocks.block_support.values import counted, scalar_or_vector
from spart_blocks.formulas.crossings import bare, flat

MOST_ENTRIES = 10_000


def _zero_or_one(value: Any, name: str) -> int:
    if type(value) is not int or value not in (0, 1):
        raise InputError(f"{name} must be 0 or 1, not {brief(value)}")
    return value


class Selector(Declared, FunctionBlock):
    """Entries of a vector, or rows or columns of a matrix, in any order, also several times.

    bdsim's INDEX gives each entry an output of its own, SLICE1 a range.

    :arg indices: from 0, or from -1 backwards; a list gives a vector, a number one entry
    :arg axis: 0 selects rows of a matrix, 1 columns
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "a vector or a matrix"),)
    gives = (PortSpec("y", "any", "", "the selected entries, in the unit of u"),)
    indices = fixed("int or n")
    axis = fixed("int", "", 0, check=_zero_or_one)

    def build(self, indices: Any) -> dict[str, Any]:
        self.indices = _indices(indices)
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        (u,) = inputs
        if self.axis >= np.ndim(u):
            raise ValueError(f"u is {np.shape(u)}, it has no axis {self.axis} to select from")
        size = np.shape(u)[self.axis]
        for index in np.ravel(self.indices):
            if not -size <= index < size:
                raise ValueError(
                    f"indices has {index}, u has {size} entries along axis {self.axis}"
                )
        return [bare(u[:, self.indices] if self.axis else u[self.indices])]


def _indices(value: Any) -> Any:
    found = np.asarray(value) if isinstance(value, (int, list, tuple, np.ndarray)) else None
    numbers = found is not None and found.dtype.kind in "iuf" and not isinstance(value, bool)
    if found is None or not numbers or found.ndim > 1 or not 0 < found.size <= MOST_ENTRIES:
        raise InputError(f"indices must be a whole number or a list of them, not {brief(value)}")
    if not np.all(found == np.floor(found)) or np.abs(found).max() > MOST_ENTRIES:
        raise InputError(f"indices must be whole numbers to {MOST_ENTRIES}, not {brief(value)}")
    return found.astype(int) if found.ndim else int(found)


class Reshape(Declared, FunctionBlock):
    """A signal with its entries in another shape.

    Rows are filled one after the other, as in NumPy; with `order: columns` the columns, as in
    Simulink's Reshape.

    :arg shape: the new shape, such as 6, [2, 3], or [] for a scalar
    :arg order: rows or columns
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "any signal with as many entries"),)
    gives = (PortSpec("y", "any", "", "the same entries, in the unit of u"),)
    shape = fixed("int or n")
    order = fixed("str", "", "rows", choices=("rows", "columns"))

    def build(self, shape: Any) -> dict[str, Any]:
        sizes = [shape] if np.ndim(shape) == 0 else list(shape)
        given = [counted(_whole(size), "each entry of shape", MOST_ENTRIES) for size in sizes]
        if len(given) > 3 or math.prod(given) > MOST_ENTRIES:
            raise InputError(f"shape has at most 3 axes and {MOST_ENTRIES} entries, not {given}")
        self.new_shape = tuple(given)
        return self.resolve_ports(shapes={"y": self.new_shape})

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        (u,) = inputs
        if np.size(u) != math.prod(self.new_shape):
            raise ValueError(
                f"u is {np.shape(u)} with {np.size(u)} entries, shape {list(self.new_shape)} has "
                f"{math.prod(self.new_shape)}"
            )
        order: Literal["C", "F"] = "C" if self.order == "rows" else "F"
        return [bare(np.reshape(np.ravel(u, order), self.new_shape, order))]


def _whole(size: Any) -> Any:
    """A whole number among floats as an int."""
    return int(size) if isinstance(size, (float, np.number)) and size == int(size) else size


class Concatenate(Declared, FunctionBlock):
    """Signals joined to one.

    Without `axis` scalars and vectors become a vector, as with bdsim's MUX, which also flattens
    matrices. With `axis` they are matrices: 0 puts them below each other, 1 side by side.

    :arg nin: number of inputs
    :arg axis: 0 or 1, of matrices
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("u1", "any", "", "a scalar or a vector, with `axis` a matrix"),
        PortSpec("u2", "any", "", "likewise; u3 and so on with `nin`"),
    )
    gives = (PortSpec("y", "any", "", "all of them, in their unit"),)
    nin_ = NIN
    axis = fixed("int", "", None, check=_zero_or_one)

    def build(self, nin: Any) -> dict[str, Any]:
        return self.set_ports(numbered(nin), (Port("y"),))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        for port, value in zip(self.in_ports, inputs, strict=True):
            if np.ndim(value) not in ((0, 1) if self.axis is None else (2,)):
                takes = "scalars and vectors" if self.axis is None else "matrices"
                hint = "; give `axis` to join matrices" if self.axis is None else ""
                raise ValueError(f"{port.name} is {np.shape(value)}, it joins {takes}{hint}")
        if self.axis is None:
            return [np.concatenate([np.ravel(value) for value in inputs])]
        kept = [np.shape(value)[1 - self.axis] for value in inputs]
        if len(set(kept)) > 1:
            told = " and ".join(str(np.shape(value)) for value in inputs)
            raise ValueError(f"matrices {told} do not fit side by side along axis {self.axis}")
        return [np.concatenate(inputs, axis=self.axis)]


class Stack(Declared, FunctionBlock):
    """Signals of one shape as entries or rows of one.

    Numbers become a vector, vectors the rows of a matrix. A vector of one entry counts as a number.

    :arg nin: number of signals
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("u1", "any", "", "a number or an array"),
        PortSpec("u2", "any", "", "likewise; u3 and so on with `nin`"),
    )
    gives = (PortSpec("y", "any", "", "all of them, in their unit"),)
    nin_ = NIN

    def build(self, nin: Any) -> dict[str, Any]:
        return self.set_ports(numbered(nin), (Port("y"),))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        shape = one_shape(value if np.size(value) != 1 else 0.0 for value in inputs)
        whole = np.concatenate([np.ravel(value) for value in inputs])
        return [np.reshape(whole, (len(inputs), *shape))]


class Multiport_Switch(Declared, FunctionBlock):
    """One of several signals, selected by a number: y = u1 where index is 1, u2 where it is 2.

    The index is rounded to the nearest number of an input. The signals are of one shape, or
    scalars. A step ends where the index passes from one input to another. Simulink's Multiport
    Switch truncates the index, and refuses one outside its range.

    :arg nin: number of signals to select from
    """

    nin = 3
    nout = 1
    takes = (
        PortSpec("index", "", "", "number of the signal, from 1"),
        PortSpec("u1", "any", "", "a signal"),
        PortSpec("u2", "any", "", "likewise; u3 and so on with `nin`"),
    )
    gives = (PortSpec("y", "any", "", "the selected signal"),)
    nin_ = fixed("int", "", 2, least=1, most=999)

    def build(self, nin: Any) -> dict[str, Any]:
        return self.set_ports((Port("index", ()), *numbered(nin)), (Port("y"),))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        index, *signals = inputs
        return [_picked(index, signals)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return flat(*(k + 0.5 - inputs[0] for k in range(1, len(inputs) - 1)))


class Manual_Switch(Declared, FunctionBlock):
    """One of several signals, selected by a parameter, which may be changed while a loop runs.

    :arg choice: number of the signal, from 1
    :arg nin: number of signals to select from
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("u1", "any", "", "a signal"),
        PortSpec("u2", "any", "", "likewise; u3 and so on with `nin`"),
    )
    gives = (PortSpec("y", "any", "", "the selected signal"),)
    choice = tunable("float", "", 1)
    nin_ = NIN

    def build(self, nin: Any) -> dict[str, Any]:
        if self.choice not in range(1, nin + 1):
            told = f"choice must be the number of an input, 1 to {nin}, not {brief(self.choice)}"
            raise InputError(Fault(told, hint="more inputs come with `nin`"))
        return self.set_ports(numbered(nin), [Port("y")])

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [_picked(self.choice, inputs)]


def _picked(number: Any, signals: Sequence[Any]) -> Any:
    """The signal of the nearest number, from 1."""
    one_shape((signal for signal in signals if np.ndim(signal)), ", or scalars")
    value = signals[0]
    for k, signal in enumerate(signals[1:], start=1):
        value = np.where(np.greater_equal(number, k + 0.5), signal, value)
    return bare(value)


SCOPES = ("local", "global")
"""Where a tag is known: in its own diagram or subsystem, or everywhere."""


def _tag(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"tag must be a text, not {brief(value)}")
    return value


class Goto(Declared, SinkBlock):
    """Gives a signal to all FROM blocks with its tag.

    A tag is known in the diagram or the subsystem that its GOTO is in, with `scope: global` also in
    all others. There a GOTO of their own with the same tag comes first.

    :arg tag: name of the signal
    :arg scope: local or global
    """

    nin = 1
    nout = 0
    is_route = True
    takes = (PortSpec("u", "any", "", "the signal"),)
    tag = fixed("str")
    scope = fixed("str", "", "local", choices=SCOPES)

    def build(self, tag: Any) -> dict[str, Any]:
        self.tag = _tag(tag)
        return self.resolve_ports()

    def step(self, t: float, inputs: list[Any]) -> None:
        """Does nothing: the signal goes to where its tag is."""


class From(Declared, SourceBlock):
    """The signal of the GOTO with the same tag.

    :arg tag: that of the GOTO
    """

    nin = 0
    nout = 1
    is_route = True
    gives = (PortSpec("y", "any", "", "the signal, in its unit"),)
    tag = fixed("str")

    def build(self, tag: Any) -> dict[str, Any]:
        self.tag = _tag(tag)
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        raise RuntimeError(f"FROM with the tag {self.tag!r} takes its signal from a GOTO")


class Algebraic_Constraint(Declared, FunctionBlock):
    """Output z that makes the input zero. f(z) = 0.

    The input must depend on the output through blocks with direct feedthrough. It is solved
    at every evaluation by Newton's method with exact derivatives, together with the other
    constraints and algebraic loops on the way, until the correction is below 1e-12, relative to
    entries of z above 1. A run ends where no solution is found. Of several solutions it takes
    the one that the iteration reaches from `initial`.

    :arg initial: where the iteration starts, a number or one for each entry
    """

    nin = 1
    nout = 1
    takes = (PortSpec("f", "any", "", "what becomes zero"),)
    gives = (PortSpec("z", "any", "", "what makes it zero, of the shape of f"),)
    initial = tunable("float or array_like", "", 0.0, check=scalar_or_vector)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        # The diagram hands it the solution in place of f.
        return [inputs[0]]

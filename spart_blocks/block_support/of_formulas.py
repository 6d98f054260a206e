"""Blocks that evaluate formulas of their inputs, of time and of parameters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError, brief
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import ARGUMENTS, PARAMS
from spart_blocks.block_support.ports import Port
from spart_blocks.formulas.reader import Formula, read_formula
from spart_blocks.formulas.values import as_number, input_names, parameter_values, refuse_taken


class WithParams(Declared):
    """A block with parameters of its user's: `params` become its attributes."""

    _params: dict[str, Any]

    def finish(self) -> None:
        refuse_taken((name for name in self._params if hasattr(self, name)), "params")
        self.__dict__.update(self._params)

    def _values(self, t: Any, inputs: list[Any]) -> dict[str, Any]:
        """Inputs, params and t by name, as NumPy numbers: Python floats raise errors at 1/0."""
        known = dict(zip((port.name for port in self.in_ports), inputs, strict=True))
        known |= {name: self.__dict__[name] for name in self._params} | {"t": t}
        return {name: as_number(value) for name, value in known.items()}


class OfFormulas(WithParams):
    """A block of formulas, with an input for each of `arguments`."""

    formulas: list[Formula]
    doubts: tuple[str, ...]
    """What to tell the user of arguments and params that no formula reads."""
    arguments = ARGUMENTS
    params = PARAMS

    def read(self, given: Any, kinds: str, most: int, arguments: Any, params: Any) -> list[Port]:
        """Read one formula or a list of them; returns the input ports. kinds: what is given, for
        errors.
        """
        names = ("u",) if arguments is None else input_names(arguments, "arguments")
        self._params = parameter_values(params, names)
        texts: Sequence[Any] = [given] if isinstance(given, str) else given
        if not isinstance(texts, (list, tuple)) or not 0 < len(texts) <= most:
            raise InputError(f"{kinds}, not {brief(given)}")
        self.formulas = [read_formula(text, {*names, *self._params}) for text in texts]
        self.doubts = (*self._unread("arguments", () if arguments is None else names),
                       *self._unread("params", self._params))  # fmt: skip
        self.varies_between_ticks = any(re.search(r"\bt\b", text) for text in texts)
        self.tunable = tuple(self._params)
        return [Port(name) for name in names]

    def _unread(self, parameter: str, names: Collection[str]) -> Iterator[str]:
        """Doubts about the names of a parameter that no formula reads; each begins with it. A
        formula of time, or a constant, may leave its one argument, without which a block is none.
        """
        read = {name for formula in self.formulas for name in formula.reads}
        alone = parameter == "arguments" and len(names) == 1 and read <= {"t"}
        for name in () if alone else names:
            if name not in read:
                yield f"{parameter} has {name}, which no formula of the block reads"

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        known = self._values(t, inputs)
        with np.errstate(all="ignore"):
            return [value for formula in self.formulas for value in formula.crossings(known)]

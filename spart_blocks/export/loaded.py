"""The C code of a subdiagram, compiled and called from Python."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from spart_blocks.export.interface import numbers_of
from spart_blocks.export.schedule import faults_of
from spart_blocks.export.step import StepCode, number_type
from spart_blocks.program.c.compiler import strict_loaded
from spart_blocks.run.engines.engine import Floats

STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
"""Flags with which exported code compiles without warnings."""


class LoadedStep:
    """The steps of a subdiagram in a library compiled from its C code. u, p, y: its structs as flat
    arrays."""

    def __init__(self, code: StepCode, flags: tuple[str, ...] = STRICT) -> None:
        self.code = code
        glue = (
            f"\nlong long sb_size(void);\nlong long sb_size(void) "
            f"{{ return (long long)sizeof({code.name}_state); }}\n"
        )
        self.library = strict_loaded(code.whole_source() + glue, flags)
        kind = np.float32 if code.real == "float" else np.float64
        interface = code.interface
        members = (interface.inputs, interface.parameters, interface.outputs)
        self.u, self.p, self.y = (np.zeros(max(1, numbers_of(s)), kind) for s in members)
        self.library.sb_size.restype = ctypes.c_longlong
        self.state = np.zeros(-(-self.library.sb_size() // 8), np.int64)
        self._call("nominal", self.u, self.p)
        self._call("init", self.state, self.p)

    def init(self) -> None:
        """Restart with the initial states in p."""
        self._call("init", self.state, self.p)

    def output(self) -> tuple[int, Floats]:
        """The status, and the outputs at this step."""
        status = self._call("output", self.state, self.u, self.p, self.y)
        size = numbers_of(self.code.interface.outputs)
        return status, np.array(self.y[:size], dtype=float)

    def update(self) -> int:
        """Move to the next step. Returns the status."""
        return self._call("update", self.state, self.u, self.p)

    def check(self) -> int:
        """The first parameter that is out of its bounds, or -1."""
        return self._call("check", self.p)

    @property
    def fault(self) -> str:
        """After the status FAULT: what is wrong, and in which block."""
        return faults_of(self.code.part.program, self.code.schedule.method)[int(self.state[-1])]

    def set_inputs(self, p: Floats) -> None:
        """Set the inputs from a vector p of the program."""
        for member in self.code.interface.inputs:
            self.u[member.place : member.place + member.size] = p[
                member.start : member.start + member.size
            ]

    def states(self) -> Floats:
        """x and xd, concatenated."""
        return np.array(self._states(), dtype=float)

    def set_states(self, x: Floats, xd: Floats) -> None:
        """Set the states."""
        self._states()[:] = np.concatenate([x, xd])

    def _states(self) -> Any:
        """A view of the numbers that follow k in the state struct."""
        program = self.code.part.program
        size = len(program.x0) + len(program.xd0)
        number = number_type(program, self.code.schedule.method, self.code.real)
        kind = np.float32 if number == "float" else np.float64
        return self.state[1:].view(kind)[:size]

    def _call(self, verb: str, *arrays: Any) -> int:
        function = self.library[f"{self.code.name}_{verb}"]
        function.argtypes = [ctypes.c_void_p] * len(arrays)
        function.restype = ctypes.c_int
        return int(function(*(array.ctypes.data for array in arrays)))

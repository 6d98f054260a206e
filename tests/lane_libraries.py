"""Functions compiled with a number of lanes, and what they give for many arguments at once."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from spart_blocks.program.c.called import called_texts
from spart_blocks.program.c.compiler import loaded_library
from spart_blocks.program.c.dialects import FLAGS, LANES, numbers_header
from spart_blocks.program.c.functions import BY_VALUE, c_function

STRICT = (*FLAGS, "-Wall", "-Wextra", "-Werror", "-Wno-ignored-optimization-argument")


def text_of(functions, lanes, *, single=False):
    """C with an entry `call_NAME` for each of {name: function}, all of whose arguments are
    arrays."""
    head = f"#define SB_LANES {lanes}\n" + "#define SB_SINGLE\n" * single + numbers_header()
    texts = [head, *called_texts(functions.values(), LANES)]
    for name, function in functions.items():
        names = function.name_in()
        given = ", ".join(f"*{n}" if n in BY_VALUE else n for n in names)
        declared = ", ".join(f"const SB_REAL *{n}" for n in names)
        entry = f"void call_{name}({declared}, SB_REAL *out);\n"
        entry += f"void call_{name}({declared}, SB_REAL *out) {{ {name}({given}, out); }}"
        texts += [c_function(name, function, dialect=LANES), entry]
    return "\n\n".join(texts)


@dataclass
class Lanes:
    """Functions in a library of so many lanes."""

    functions: dict
    lanes: int
    single: bool = False
    flags: tuple = STRICT

    def __post_init__(self):
        source = text_of(self.functions, self.lanes, single=self.single)
        self.library = loaded_library(source, self.flags)

    def __call__(self, name, *arguments):
        """The results (n, m) for n rows of each argument (n, size); n is a multiple of lanes."""
        function, n = self.functions[name], len(arguments[0])
        m, width = function.numel_out(0), self.lanes
        kind = np.float32 if self.single else np.float64
        call, results = self.library[f"call_{name}"], np.empty((n, m), kind)
        for first in range(0, n, width):
            rows = slice(first, first + width)
            given = [aligned(np.asarray(a[rows], kind).T.ravel()) for a in arguments]
            out = aligned(np.zeros(max(m, 1) * width, kind))
            call(*(ctypes.c_void_p(array.ctypes.data) for array in (*given, out)))
            results[rows] = out[: m * width].reshape(m, width).T
        return results


def aligned(values):
    """A copy at a multiple of 64 bytes."""
    room = np.zeros(values.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start : start + values.nbytes].view(values.dtype)
    copy[:] = values
    return copy


def same_bits(a, b):
    """Whether two arrays are equal, the sign of zero included; a NaN is any NaN."""
    nan = np.isnan(a)
    words = a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}")
    return bool((nan == np.isnan(b)).all() and (nan | (words[0] == words[1])).all())

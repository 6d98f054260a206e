"""Compiles a CasADi function so that Python calls it directly.

A call with ctypes takes 0.15 to 0.3 us. Here the library itself contains a Python function without
arguments, which reads the addresses of its arrays from a capsule: 0.05 us. It needs two functions
of Python's stable C interface; it gets their addresses, so that no header of Python is needed.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.cache import keep_text, key_of, stored, user_folder
from spart_blocks.base.package_state import package_state
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.program.c.called import called_texts
from spart_blocks.program.c.compiler import loaded_library, usual_lanes
from spart_blocks.program.c.dialects import DOUBLE
from spart_blocks.program.c.functions import BY_VALUE, c_function_where_it_pays
from spart_blocks.program.c.horizon import horizon_text, replaced, without_unused
from spart_blocks.program.c.text import indented, with_headers
from spart_blocks.program.tracing.horizons import horizons_called_by
from spart_blocks.program.tracing.lookup_tables import tables_called_by

# --- CasADi functions as C source -----------------------------------------------------------------


_LOAD = re.compile(r"arg\[(\d+)\]\? arg\[\1\]\[(\d+)\] : 0")
_STORE = re.compile(r"if \(res\[(\d+)\]!=0\) res\[\1\]")
_LINES_A_LOAD = 50
_SHORT = 100
_HERE = replace(
    DOUBLE,
    apart="SB_PIECE static",
    pointer="*restrict ",
    loads=False,
    room="double *restrict room",
    longest=1000,
    piece=500,
    large=4000,
)
"""C for this machine: gcc's time grows faster than the length of a function, and longer ones are
no faster. Code of more than about 4,000 statements is beyond a processor's cache of instructions:
there it pays to load and store less, a humanoid's dynamics take 0.9 of the time; in shorter code
it pays more that independent operations are mixed.
"""
_WIDE = 4
"""Least number of numbers in a vector for which sines and cosines are computed together."""
# gcc then mixes independent operations. In pieces it does not put neighbours into vectors, which
# saves 4 %; where all is in one function, constant results are written so.
_MIXED = """
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("schedule-insns", "sched-pressure", "rename-registers")
#define SB_PIECE __attribute__((noinline, optimize("no-tree-slp-vectorize")))
#else
#define SB_PIECE __attribute__((noinline))
#endif"""
_MIXED_NO_MORE = """
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif"""


def c_source(functions: Iterable[Any]) -> str:
    """The functions as C, for callers that pass every argument and every result.

    CasADi's code tests for each scalar whether its array was passed. This is a branch around one
    load or store, and compile time grows with the square of the number of branches: for 10,000
    blocks gcc takes more than two minutes with them, and two seconds without. In code that is
    mostly arithmetic a few tests are kept, since they divide it: gcc takes 11.5 s for 35,000
    instructions in one piece, and 3.9 s in 240 pieces.

    A function whose steps recur, with several sines and cosines, or that is long is written by
    `c_function_where_it_pays` instead. This takes 60 us for each instruction, so that the source
    is stored in the user's cache folder.
    """
    functions = list(functions)
    if max((f.n_instructions() for f in functions if f.is_a("SXFunction")), default=0) < _SHORT:
        return _c_source(functions)
    folder = user_folder()
    made_of = [package_state(), str(usual_lanes()), *(f.serialize() for f in functions)]
    key = key_of("".join(made_of))
    found = stored(folder, key) if folder else None
    with suppress(OSError):
        if found:
            return found.read_text("utf-8")
    with collector_paused():
        text = _c_source(functions)
    with suppress(OSError):
        if folder:
            keep_text(text, folder, key, ".source")
    return text


def _c_source(functions: Sequence[Any]) -> str:
    """The text of `c_source`."""
    generator = ca.CodeGenerator("program", {"with_header": False, "casadi_int": "long long"})
    written = []
    for function in functions:
        text = _written(function)
        if text is None:
            generator.add(function)
        else:
            written.append((function, text))
    source: str = _with_horizons(_STORE.sub(r"res[\1]", generator.dump()), functions)
    loads = len(_LOAD.findall(source))
    if loads * _LINES_A_LOAD >= source.count("\n"):
        source = _LOAD.sub(r"arg[\1][\2]", source)
    if not written:
        return source
    called = called_texts(function for function, _ in written)
    called = [text for text in called if text not in source]
    texts = [text for _, text in written]
    turns = [_turns_header()] if any("sb_turns(" in text for text in texts) else []
    mixed = [_MIXED, *texts, _MIXED_NO_MORE]
    return "\n\n".join(["#include <math.h>", *turns, *called, source, *mixed])


def _turns_header() -> str:
    """C that computes sines and cosines of several angles."""
    return with_headers(f'#define SB_LANES {usual_lanes()}\n#include "sb_turns.h"')


def _written(function: Any) -> str | None:
    """A function that is better written here than by CasADi as C; None for other functions."""
    name, lanes = f"{function.name()}_written", usual_lanes()
    dialect = replace(_HERE, turned="all", width=lanes) if lanes >= _WIDE else _HERE
    text = c_function_where_it_pays(name, function, dialect)
    if text is None:
        return None
    given = [f"arg[{k}]" + "[0]" * (n in BY_VALUE) for k, n in enumerate(function.name_in())]
    head = "casadi_real const **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem"
    results = [f"res[{k}]" for k in range(function.n_out())]
    call = f"{name}({', '.join([*given, *results])});"
    body = "\n".join(indented(["(void)iw; (void)w; (void)mem;", call, "return 0;"]))
    return f"{text}\n\nCASADI_SYMBOL_EXPORT int {function.name()}({head}) {{\n{body}\n}}"


def _with_horizons(source: str, functions: Iterable[Any]) -> str:
    """CasADi's source with our loops for horizons."""
    horizons = horizons_called_by(functions)
    if not horizons:
        return source
    for one in horizons:
        source = replaced(source, one)
    source = without_unused(source)
    return "\n\n".join([*(horizon_text(one, DOUBLE) for one in horizons), source])


# sb_call is a PyCFunction (METH_NOARGS): it gives a new reference to the result.
_ENTRY = """
typedef struct {{
  const double *arg[{arg}];
  double *res[{res}];
  void *result;
}} sb_binding;

static void *(*sb_pointer_of)(void *capsule, const char *name);
static void (*sb_keep)(void *object);

CASADI_SYMBOL_EXPORT void sb_python(void *pointer_of, void *keep) {{
  sb_pointer_of = (void *(*)(void *, const char *))pointer_of;
  sb_keep = (void (*)(void *))keep;
}}

CASADI_SYMBOL_EXPORT void *sb_call(void *self, void *none) {{
  const sb_binding *b = (const sb_binding *)sb_pointer_of(self, 0);
  (void)none;
  {name}((const double **)b->arg, (double **)b->res, 0, 0, 0);
  sb_keep(b->result);
  return b->result;
}}
"""
_METH_NOARGS = 0x0004


class _MethodDef(ctypes.Structure):
    """PyMethodDef of Python's C interface."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@dataclass(frozen=True)
class MachineCode:
    """A function of n_in arrays in a library. method: its description for Python."""

    library: ctypes.CDLL
    n_in: int
    n_out: int
    method: _MethodDef
    address: int

    def bind(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], result: Any
    ) -> Callable[[], Any]:
        """A Python function without arguments that computes the outputs from the inputs,
        contiguous float arrays, and returns `result`. It keeps all of these alive.
        """
        capsule_of, function_of = _python_api()
        addresses = [
            *_padded([array.ctypes.data for array in inputs], self.n_in),
            *_padded([array.ctypes.data for array in outputs], self.n_out),
            id(result),
        ]
        block = (ctypes.c_void_p * len(addresses))(*addresses)
        capsule = capsule_of(ctypes.addressof(block), None, None)
        kept = (self, block, tuple(inputs), tuple(outputs), result)
        # `kept` in the place of the function's module: it lives as long as the function.
        return function_of(ctypes.addressof(self.method), capsule, kept)  # type: ignore[no-any-return]


def _padded(addresses: list[int], length: int) -> list[int]:
    return addresses + [0] * (length - len(addresses))


@lru_cache(maxsize=1)
def _python_api() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """PyCapsule_New and PyCFunction_NewEx."""
    pointer, thing, api = ctypes.c_void_p, ctypes.py_object, ctypes.pythonapi
    capsule_of = ctypes.PYFUNCTYPE(thing, pointer, ctypes.c_char_p, pointer)
    function_of = ctypes.PYFUNCTYPE(thing, pointer, thing, thing)
    return capsule_of(("PyCapsule_New", api)), function_of(("PyCFunction_NewEx", api))


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def machine_code(function: Any) -> MachineCode | None:
    """Compile a CasADi function of scalars, or load it from the cache. None without a compiler,
    and for functions that call tables or horizons, which need work memory that callers do not
    provide.
    """
    if tables_called_by(function) or horizons_called_by([function]):
        return None
    name, n_in, n_out = function.name(), max(1, function.sz_arg()), max(1, function.sz_res())
    entry = _ENTRY.format(arg=n_in, res=n_out, name=name)
    library = loaded_library(c_source([function]) + entry)
    if library is None:
        return None
    api = ctypes.pythonapi
    library.sb_python.argtypes, library.sb_python.restype = [ctypes.c_void_p] * 2, None
    library.sb_python(_address(api.PyCapsule_GetPointer), _address(api.Py_IncRef))
    method = _MethodDef(b"call", _address(library.sb_call), _METH_NOARGS, None)
    return MachineCode(library, n_in, n_out, method, _address(library[name]))

"""Replacements of NumPy's array constructors and Python's `math` for code that gets symbols.

Much NumPy code is like `out = np.zeros(3); out[0] = q`, but a float array cannot hold an
expression, and `math.sin(q)` needs a float. If the trace of a block fails, it is repeated with the
constructors replaced, for this thread and this call only, so that code which can be traced without
replacements never meets them. The functions of `math` are replaced by ones that accept symbols and
pass numbers to the originals.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from spart_blocks.program.tracing.symbol_array import SymbolArray, box, unbox
from spart_blocks.program.tracing.symbol_scalar import Symbol, TraceError

_MACHINERY = ("spart_blocks.program.", "numpy.", "scipy.")  # they know what they ask for
_LOCK = threading.RLock()
_CONVERT = ("array", "asarray", "asanyarray", "ascontiguousarray")
# Functions of `math` by NumPy's names, where those differ.
_MATH = {
    name: name
    for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log10",
                 "log1p", "sqrt", "fabs", "floor", "ceil", "hypot", "copysign", "radians",
                 "degrees")
} | {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "pow": "power",
}  # fmt: skip
_FILL = ("zeros", "ones", "full", "eye", "identity", "zeros_like", "ones_like", "full_like")


def _holding(out: Any) -> Any:
    return box(out) if isinstance(out, np.ndarray) and out.dtype.kind in "fO" else out


def _convert(original: Callable[..., Any]) -> Callable[..., Any]:
    def convert(value: Any, dtype: Any = None, **options: Any) -> Any:
        try:
            return _holding(original(value, dtype=dtype, **options))
        except TraceError:
            if np.dtype(dtype).kind != "f":
                raise
            return _holding(original(value, dtype=object, **options))

    return convert


def _fill(original: Callable[..., Any]) -> Callable[..., Any]:
    def fill(*args: Any, **options: Any) -> Any:
        return _holding(original(*args, **options))

    return fill


def _logarithm(x: Any, base: Any = np.e) -> Any:
    return np.log(x) if base is np.e else np.log(x) / np.log(base)


def _of_signals(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of `math` that passes symbols to NumPy's function."""
    elementwise = getattr(np, name) if name != "log" else _logarithm

    @wraps(original)
    def function(*args: Any) -> Any:
        signals = [unbox(x.reshape(())) if isinstance(x, SymbolArray) and x.size == 1 else x
                   for x in args]  # fmt: skip
        if any(isinstance(x, Symbol) for x in signals):
            return elementwise(*signals)
        return original(*args)

    return function


@contextmanager
def constructors_of_symbols() -> Iterator[None]:
    """A context in which, in this thread, np.zeros, np.array and similar functions make object
    arrays instead of float arrays, and the functions of `math` accept symbols.
    """
    thread = threading.get_ident()

    def only_here(name: str, replacement: Callable[..., Any]) -> Callable[..., Any]:
        original = getattr(np, name)

        @wraps(original)
        def chosen(*args: Any, **options: Any) -> Any:
            caller = str(sys._getframe(1).f_globals.get("__name__"))
            here = threading.get_ident() == thread and not caller.startswith(_MACHINERY)
            return (replacement if here else original)(*args, **options)

        return chosen

    with _LOCK:
        names = (*_CONVERT, *_FILL, "empty", "empty_like")
        originals = {name: getattr(np, name) for name in names}
        new = {name: only_here(name, _convert(originals[name])) for name in _CONVERT}
        new |= {name: only_here(name, _fill(originals[name])) for name in _FILL}
        # An empty array of objects would hold None.
        new["empty"] = only_here("empty", _fill(originals["zeros"]))
        new["empty_like"] = only_here("empty_like", _fill(originals["zeros_like"]))
        maths = {name: getattr(math, name) for name in _MATH}
        try:
            for name, function in new.items():
                setattr(np, name, function)
            for name, function in maths.items():
                setattr(math, name, _of_signals(function, _MATH[name]))
            yield
        finally:
            for name, function in originals.items():
                setattr(np, name, function)
            for name, function in maths.items():
                setattr(math, name, function)

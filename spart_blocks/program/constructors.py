"""NumPy's array constructors, making arrays that can hold signals.

`out = np.zeros(3); out[0] = q` is how much NumPy code is written, and a float array cannot
hold an expression. Where the trace of a block breaks off, it is tried once more with the
constructors replaced, for this thread and for that call alone: what was traced without
them never meets them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from spart_blocks.program.symbol import TraceError, box

_MACHINERY = ("spart_blocks.program.", "numpy.", "scipy.")  # they know what they ask for
_LOCK = threading.RLock()
_CONVERT = ("array", "asarray", "asanyarray", "ascontiguousarray")
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


@contextmanager
def constructors_of_symbols() -> Iterator[None]:
    """Within, and in this thread, np.zeros, np.array and their like make arrays of objects
    in the place of floats."""
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
        try:
            for name, function in new.items():
                setattr(np, name, function)
            yield
        finally:
            for name, function in originals.items():
                setattr(np, name, function)

"""CasADi functions as C source text, in the form that compiles fastest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import casadi as ca

_LOAD = re.compile(r"arg\[(\d+)\]\? arg\[\1\]\[(\d+)\] : 0")
_STORE = re.compile(r"if \(res\[(\d+)\]!=0\) res\[\1\]")
_LINES_A_LOAD = 50


def c_source(functions: Iterable[Any]) -> str:
    """The functions in C. Their callers give every argument and every result.

    CasADi's code asks at each scalar whether its array is there, a branch around one load
    or store, and a compiler's time grows with the square of their number: with them,
    10,000 blocks take gcc more than two minutes, without them two seconds. A few questions
    among much arithmetic stay: they cut it into pieces, and of 35 000 instructions in one
    piece gcc makes 11.5 s, in 240 pieces 3.9 s.
    """
    generator = ca.CodeGenerator("program", {"with_header": False, "casadi_int": "long long"})
    for function in functions:
        generator.add(function)
    source: str = _STORE.sub(r"res[\1]", generator.dump())
    loads = len(_LOAD.findall(source))
    if loads * _LINES_A_LOAD < source.count("\n"):
        return source
    return _LOAD.sub(r"arg[\1][\2]", source)

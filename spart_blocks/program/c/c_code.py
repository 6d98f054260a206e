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
    """The functions as C, for callers that pass every argument and every result.

    CasADi's code tests for each scalar whether its array was passed. This is a branch around one
    load or store, and compile time grows with the square of the number of branches: for 10,000
    blocks gcc takes more than two minutes with them, and two seconds without. In code that is
    mostly arithmetic a few tests are kept, since they divide it: gcc takes 11.5 s for 35,000
    instructions in one piece, and 3.9 s in 240 pieces.
    """
    generator = ca.CodeGenerator("program", {"with_header": False, "casadi_int": "long long"})
    for function in functions:
        generator.add(function)
    source: str = _STORE.sub(r"res[\1]", generator.dump())
    loads = len(_LOAD.findall(source))
    if loads * _LINES_A_LOAD < source.count("\n"):
        return source
    return _LOAD.sub(r"arg[\1][\2]", source)

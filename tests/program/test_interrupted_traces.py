"""Ctrl-C ends a trace wherever it comes: no interrupt is lost within CasADi."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from spart_blocks.diagram import load
from spart_blocks.program import trace
from spart_blocks.program.tracing.symbol import symbols

ARM = Path(__file__).parents[2] / "diagrams/motion/resolved_motion.yaml"


@contextmanager
def seen(what):
    """Tell what Python functions are called within."""
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: what(frame) if event == "call" else None)
    try:
        yield
    finally:
        sys.setprofile(before)


def test_operations_of_symbols_are_not_called_back_from_c():
    """What CasADi calls from C++ loses the exception that an interrupt raises there."""
    _, (x, y) = symbols("x", (2,))
    called, own = [], ("unary", "binary", "is_constant")
    with seen(lambda frame: called.append((frame.f_code.co_filename, frame.f_code.co_name))):
        for value in (x + y, x - y, x * y, x / y, x + 2.0, 2 - x, 3 * x, 1 / x, x**2, x**y, -x):
            np.sqrt(np.sin(value) * np.cos(value)) + np.exp(value) + np.arctan2(value, x)
            np.where(value < y, value, y)
            abs(value)
    assert not [name for file, name in called if "casadi" in file and name not in own]


def test_few_calls_of_a_trace_can_lose_an_interrupt():
    """What is left are whole functions of CasADi, which ask once for each of their arguments."""
    called = []
    diagram = load(ARM)
    with seen(lambda frame: called.append(frame.f_code)):
        trace(diagram)
    names = ("shape", "size1", "size2", "DM_from_array", "DM_from_csc")
    asked = [code for code in called if "casadi" in code.co_filename and code.co_name in names]
    assert len(asked) < 0.01 * len(called)


def test_an_interrupt_ends_a_trace():
    """It comes in the midst of an operation, of which there are thousands."""
    diagram, calls = load(ARM), 0

    def interrupt(frame):
        nonlocal calls
        calls += frame.f_code.co_name == "binary"
        if calls == 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), seen(interrupt):
        trace(diagram)

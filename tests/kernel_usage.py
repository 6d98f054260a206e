"""The resources that kernels need, as the compiler tells them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KERNEL = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", re.DOTALL)
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_STACK = re.compile(r"(\d+) bytes cumulative stack size")


@dataclass(frozen=True)
class Usage:
    """The resources of one thread of a kernel, including the functions that it calls.

    registers: number of 32-bit registers. stack: local memory [bytes]. stored, loaded: register
    spills [bytes].
    """

    registers: int
    stack: int
    stored: int
    loaded: int


def usages(log: str) -> dict[str, Usage]:
    """The resource usage of each kernel, from the output of ptxas -v."""
    found = {}
    parts = re.split(r"(?=Compiling entry function)", log)
    for part in parts:
        kernel = _KERNEL.match(part)
        if kernel is None:
            continue
        frames = [tuple(map(int, frame)) for frame in _FRAME.findall(part)]
        stack = _STACK.search(part)
        found[kernel[1]] = Usage(
            registers=int(kernel[2]),
            stack=int(stack[1]) if stack else max((frame[0] for frame in frames), default=0),
            stored=sum(frame[1] for frame in frames),
            loaded=sum(frame[2] for frame in frames),
        )
    return found

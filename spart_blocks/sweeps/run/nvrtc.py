"""Compiles CUDA kernels to machine code with NVRTC, which needs neither a graphics card nor a
driver.

Needs the extra `cuda`. Multiplications and additions are not fused (no FMA), so that a run on a
card gives the same bits as on a processor, except where both call math.h (see sb_elementary.h).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.errors import InputError, MissingExtraError, SpartError

ARCHITECTURE = "sm_90"
"""The default architecture: Hopper."""
FLAGS = ("--fmad=false", "--std=c++17", "--ptxas-options=-v", "--diag-suppress=177")
"""Warning 177 is about unused functions."""


class KernelError(SpartError):
    """NVRTC rejected a kernel."""


@dataclass(frozen=True)
class Cubin:
    """Machine code. log: the compiler's output, with the resources that each kernel needs."""

    code: bytes
    log: str


def cubin(source: str, architecture: str = ARCHITECTURE, flags: Sequence[str] = ()) -> Cubin:
    """Compile kernels in CUDA C++, which must be `extern "C"`.

    architecture: such as sm_90. flags: further options of NVRTC, such as --maxrregcount=128.
    Raises KernelError with the compiler's log, MissingExtraError if NVRTC is not installed.
    """
    nvrtc = _nvrtc()
    options = [f"--gpu-architecture={architecture}", *FLAGS, *flags]
    program = _checked(nvrtc, nvrtc.nvrtcCreateProgram(source.encode(), b"runs.cu", 0, [], []))
    try:
        encoded = [option.encode() for option in options]
        (outcome,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = _text(nvrtc, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        said = log.rstrip(b"\0\n ").decode(errors="replace")
        if outcome == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            raise InputError(f"NVRTC does not compile for {architecture} with {' '.join(flags)}")
        if outcome != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            errors = [line for line in said.splitlines() if "error" in line] or [said]
            raise KernelError("\n  ".join(["NVRTC made no kernel:", *errors[:3]]))
        code = _text(nvrtc, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return Cubin(code, said)


def _nvrtc() -> Any:
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError):  # the bindings without the library
        raise MissingExtraError("NVRTC", "cuda", "a sweep on a graphics card") from None
    return nvrtc


def _text(nvrtc: Any, size_of: Any, fill: Any, program: Any) -> bytes:
    text: bytes = b" " * _checked(nvrtc, size_of(program))
    _checked(nvrtc, fill(program, text))
    return text


def _checked(nvrtc: Any, answer: tuple[Any, ...]) -> Any:
    outcome, *rest = answer
    if outcome != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise KernelError(f"NVRTC failed: {outcome.name}")
    return rest[0] if rest else None

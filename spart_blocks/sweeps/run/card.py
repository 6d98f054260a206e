"""Runs of a sweep on a CUDA graphics card: the loop of the lanes as a kernel, with one run per
thread.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import (
    Fault,
    InputError,
    MissingExtraError,
    RunError,
    SpartError,
    optional,
)
from spart_blocks.sweeps.run.lane_source import Made, kernel_source

THREADS, BLOCKS_OF_EACH = 64, 16
"""Threads in a block, and blocks for each multiprocessor of the card."""
GIVEN = ("x0", "xd0", "p", "ticks", "due", "known", "known_from", "known_to", "samples")
"""The arrays that a kernel only reads. The other arrays are copied back."""
POLLED = 0.01
"""Interval [s] at which an interrupt is checked while a kernel runs."""


class Card:
    """The first CUDA card of this machine, with the kernel of a sweep loaded. single: use single
    precision.

    Raises MissingExtraError without the extra `cuda`, InputError if there is no card.
    """

    def __init__(self, made: Made, *, single: bool = False) -> None:
        self.driver = optional("cuda.bindings.driver", "CUDA", "cuda", "a sweep on a graphics card")
        device = _first_card(self.driver)
        self._done("cuCtxSetCurrent", self._done("cuDevicePrimaryCtxRetain", device))
        major, minor, processors = (
            self._done("cuDeviceGetAttribute", attribute, device)
            for attribute in _attributes(self.driver)
        )
        code = cubin(kernel_source(made, single=single), f"sm_{major}{minor}").code
        self.module = self._done("cuModuleLoadData", code)
        self.kernel = self._done("cuModuleGetFunction", self.module, b"sb_runs")
        self.blocks = BLOCKS_OF_EACH * processors

    def go(self, arrays: Mapping[str, NDArray[Any]], struct: ctypes.Structure) -> bool:
        """Run the kernel on copies of the arrays, and copy its outputs back. Returns whether it
        was interrupted.

        struct: sb_work of runs.h; its pointers are replaced by those of the copies.
        """
        leave, seen = self._shared_flag()
        memory = {name: self._sent(array) for name, array in arrays.items() if name != "stop"}
        queue = self._sent(np.zeros(1, np.int64))
        try:
            for name, place in memory.items():
                setattr(struct, name, int(place))
            struct.stop = seen
            runs = len(arrays["status"])
            last, place = ctypes.c_longlong(runs), ctypes.c_void_p(int(queue))
            given = (ctypes.c_void_p * 3)(*map(ctypes.addressof, (struct, last, place)))
            blocks = min(self.blocks, -(-runs // THREADS))
            shape = (blocks, 1, 1, THREADS, 1, 1, 0, 0)
            self._done("cuLaunchKernel", self.kernel, *shape, ctypes.addressof(given), 0)
            interrupted = self._waited(leave)
            for name, array in arrays.items():
                if name != "stop" and name not in GIVEN and array.size:
                    self._done("cuMemcpyDtoH", array.ctypes.data, memory[name], array.nbytes)
        finally:
            for place in (*memory.values(), queue):
                self._done("cuMemFree", place)
            self._done("cuMemFreeHost", leave)
        return interrupted

    def _waited(self, leave: int) -> bool:
        """Wait for the kernel. Returns whether there was an interrupt."""
        flag, interrupted = ctypes.c_int.from_address(leave), False
        while True:
            try:
                (state,) = self.driver.cuStreamQuery(0)
                if state != self.driver.CUresult.CUDA_ERROR_NOT_READY:
                    self._done("cuCtxSynchronize")
                    return interrupted
                flag.value = int(interrupted)
                time.sleep(POLLED)
            except KeyboardInterrupt:
                interrupted = True

    def _shared_flag(self) -> tuple[int, int]:
        """Allocate an integer in page-locked host memory that the card can read: its host address
        and its device address.
        """
        mapped = 2  # CU_MEMHOSTALLOC_DEVICEMAP
        here = int(self._done("cuMemHostAlloc", ctypes.sizeof(ctypes.c_int), mapped))
        ctypes.c_int.from_address(here).value = 0
        return here, int(self._done("cuMemHostGetDevicePointer", here, 0))

    def _sent(self, array: NDArray[Any]) -> Any:
        """Copy an array to the card. Returns its device address."""
        place = self._done("cuMemAlloc", max(array.nbytes, 8))
        if array.size:
            self._done("cuMemcpyHtoD", place, array.ctypes.data, array.nbytes)
        return place

    def _done(self, name: str, *arguments: Any) -> Any:
        return _done(self.driver, name, *arguments)


def _first_card(driver: Any) -> Any:
    hint = "leave out device to run on the processors"
    try:
        (outcome,) = driver.cuInit(0)
    except RuntimeError:  # the bindings find no driver
        raise InputError(Fault("there is no driver of CUDA on this machine", hint=hint)) from None
    if outcome != driver.CUresult.CUDA_SUCCESS or not _done(driver, "cuDeviceGetCount"):
        raise InputError(Fault("there is no graphics card of CUDA on this machine", hint=hint))
    return _done(driver, "cuDeviceGet", 0)


def _attributes(driver: Any) -> tuple[Any, Any, Any]:
    names = driver.CUdevice_attribute
    return (
        names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        names.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    )


def _done(driver: Any, name: str, *arguments: Any) -> Any:
    """Call a function of the CUDA driver and return its result. Raises RunError with the driver's
    error name.
    """
    outcome, *rest = getattr(driver, name)(*arguments)
    if outcome != driver.CUresult.CUDA_SUCCESS:
        raise RunError(f"the graphics card failed: {name} gives {outcome.name}")
    return rest[0] if rest else None


# --- compilation ----------------------------------------------------------------------------------
# Compiles CUDA kernels to machine code with NVRTC, which needs neither a graphics card nor a
# driver.
#
# Needs the extra `cuda`. Multiplications and additions are not fused (no FMA), so that a run on a
# card gives the same bits as on a processor, except where both call math.h (see sb_elementary.h).


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


def cubin(source: str, architecture: str = ARCHITECTURE) -> Cubin:
    """Compile kernels in CUDA C++, which must be `extern "C"`.

    architecture: such as sm_90. Raises KernelError with the compiler's log, MissingExtraError if
    NVRTC is not installed.
    """
    nvrtc = _nvrtc()
    program = _checked(nvrtc, nvrtc.nvrtcCreateProgram(source.encode(), b"runs.cu", 0, [], []))
    try:
        options = (f"--gpu-architecture={architecture}", *FLAGS)
        encoded = [option.encode() for option in options]
        (outcome,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = _text(nvrtc, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        said = log.rstrip(b"\0\n ").decode(errors="replace")
        if outcome == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            raise InputError(f"NVRTC does not compile for {architecture}")
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

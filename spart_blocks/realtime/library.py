"""The loop and its model as compiled libraries, called through ctypes."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from spart_blocks.base.errors import Fault, InputError, pip_install
from spart_blocks.export.header import filled, runtime_file
from spart_blocks.export.loop_files import model_header
from spart_blocks.export.step import StepCode
from spart_blocks.program.c.compiler import compiler_name, strict_loaded
from spart_blocks.program.c.text import mirrored
from spart_blocks.realtime.structs import MIRRORS, LoopStruct, MeansStruct, RingStruct
from spart_blocks.realtime.system import check_system

FLAGS = ("-std=c99", "-O2", "-fno-math-errno")
OWN_HEADERS = re.compile(r'^#include "sb_\w+\.h"$', re.MULTILINE)
_ADDRESS = ctypes.c_void_p


def check_machine() -> None:
    """Raise InputError if no real-time loop can run: without Linux or without a compiler."""
    check_system()
    if compiler_name() is None:
        hint = f"install one, or `{pip_install('compiler')}`"
        raise InputError(
            Fault("the real-time loop needs a C compiler, and none was found", None, hint)
        )


def runtime_source() -> str:
    """The sources of sb_link and sb_loop in one text."""
    texts = map(runtime_file, ("sb_link.h", "sb_loop.h", "sb_link.c", "sb_loop.c"))
    return "#define _POSIX_C_SOURCE 200809L\n" + OWN_HEADERS.sub("", "\n".join(texts))


def runtime_library(source: str, flags: tuple[str, ...] = FLAGS) -> ctypes.CDLL:
    """The library compiled from a source that contains sb_loop, with its functions declared."""
    library = strict_loaded(f"{source}\n{mirrored(MIRRORS)}", flags)
    loop, means = ctypes.POINTER(LoopStruct), ctypes.POINTER(MeansStruct)
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "sb_loop_prepare": (None, [means]),
        "sb_loop_release": (None, [means]),
        "sb_loop_run": (ctypes.c_int, [loop]),
        "sb_loop_tune": (ctypes.c_longlong, [loop, _ADDRESS]),
        "sb_loop_drain": (
            ctypes.c_longlong,
            [loop, ctypes.POINTER(RingStruct), _ADDRESS, ctypes.c_longlong],
        ),
    }
    return declared(library, signatures)


def declared(library: ctypes.CDLL, signatures: Mapping[str, tuple[Any, list[Any]]]) -> ctypes.CDLL:
    """A library whose functions have these types of the result and the arguments."""
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@cache
def runtime() -> ctypes.CDLL:
    """The library of the loop and the links."""
    return runtime_library(runtime_source())


def model_library(code: StepCode) -> ctypes.CDLL:
    """The library of a subdiagram: sb_init, sb_output, sb_update, sb_state_size."""
    header = model_header(code).replace(f'#include "{code.name}.h"', "")
    text = "\n".join([code.whole_source(), header, filled("model_glue.c", code.name)])
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "sb_state_size": (ctypes.c_longlong, []),
        "sb_init": (None, [_ADDRESS] * 2),
        "sb_output": (ctypes.c_int, [_ADDRESS] * 4),
        "sb_update": (ctypes.c_int, [_ADDRESS] * 3),
    }
    return declared(strict_loaded(text, FLAGS), signatures)


def address_of(function: Any) -> int:
    """The address of a function of a library."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0

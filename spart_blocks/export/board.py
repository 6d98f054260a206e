"""Size of the step on a Cortex-M7, if Debian's gcc-arm-none-eabi is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from spart_blocks.export.interface import numbers_of
from spart_blocks.export.loaded import STRICT
from spart_blocks.export.loop_files import CORTEX_M7
from spart_blocks.export.step import StepCode
from spart_blocks.program.c.compiler import CompilerError

COMPILER = "arm-none-eabi-gcc"


@dataclass(frozen=True)
class BoardSize:
    """Sizes on a board [bytes]. code: of the step and its constants, without the functions of
    math.h. structs: inputs, outputs, parameters and state. stack: of the deepest chain of calls."""

    code: int
    structs: int
    stack: int

    def __str__(self) -> str:
        return (
            f"on a Cortex-M7: {self.code} bytes of code, {self.structs} of inputs, outputs, "
            f"parameters and state, {self.stack} of stack"
        )


def board_size(code: StepCode) -> BoardSize | None:
    """The size of the step, compiled for a Cortex-M7 with -Werror; None without the compiler.

    Raises CompilerError if it does not compile.
    """
    if shutil.which(COMPILER) is None:
        return None
    with tempfile.TemporaryDirectory(prefix="spart-") as folder:
        place = Path(folder)
        for name, content in code.files.items():
            (place / name).write_text(content, encoding="utf-8")
        flags = [*CORTEX_M7.split(), *STRICT, "-fstack-usage", "-c", f"{code.name}.c"]
        made = subprocess.run([COMPILER, *flags], cwd=place, capture_output=True, text=True)
        if made.returncode:
            first = "\n  ".join(made.stderr.strip().splitlines()[:3])
            raise CompilerError(f"{COMPILER} refuses the code: {first}")
        sizes = subprocess.run(
            ["arm-none-eabi-size", f"{code.name}.o"],
            cwd=place,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        text, data, bss = map(int, sizes[1].split()[:3])
        assert data + bss == 0, "the step has static variables"
        stack = _stack((place / f"{code.name}.su").read_text(encoding="utf-8"))
    return BoardSize(text, _structs(code), stack)


def _structs(code: StepCode) -> int:
    interface, program = code.interface, code.part.program
    members = (*interface.inputs, *interface.outputs, *interface.parameters)
    numbers = numbers_of(members) + len(program.x0) + len(program.xd0)
    return 8 + numbers * (4 if code.real == "float" else 8)


def _stack(usage: str) -> int:
    """The stack [bytes] of the deepest chain of calls: frames of the step's functions, and the
    largest frame of the program's functions, which they call.
    """
    frames: dict[str, int] = {}
    for line in usage.splitlines():
        where, size, _ = line.split("\t")
        frames[where.rsplit(":", 1)[-1]] = int(size)
    public = [size for name, size in frames.items() if name.endswith(("_output", "_update"))]
    step = max((size for name, size in frames.items() if name.endswith("_step")), default=0)
    inner = [size for name, size in frames.items() if name.startswith(_PROGRAM)]
    return (
        step
        + 2 * max(public, default=0)  # one of the header, and sb_fixed_rate.h's
        + max(sum(frames.get(name, 0) for name in chain) for chain in _CHAINS)
        + max(inner, default=0)
    )


_TO_A_STEP = ("sb_integrate", "sb_go_on")
_ALONG = ("sb_held_rates", "sb_pushes", "sb_rates_change", "sb_signal_rates", "sb_unheld",
          "sb_slide", "sb_look_beside", "sb_settle_beside")  # fmt: skip
_PROGRAM = "sb_model_"
_CHAINS = (
    ("sb_enter", "sb_jump", "sb_cross", "sb_set_off", "sb_settle", "sb_switched", "sb_switch"),
    ("sb_segment", "sb_find_crossing", "sb_find_before", "sb_first_of", "sb_within_step", "sb_try",
     "sb_slope"),
    (*_TO_A_STEP, "sb_tried", "sb_searched", "sb_find_before", "sb_first_of", "sb_within_step",
     "sb_try", "sb_slope", *_ALONG),
    (*_TO_A_STEP, "sb_hits", "sb_cross", "sb_set_off", "sb_settle", "sb_switched", "sb_switch"),
    (*_TO_A_STEP, "sb_hits", "sb_cross", "sb_after_resets", "sb_motion_of"),
    (*_TO_A_STEP, "sb_hits", "sb_cross", "sb_meet", "sb_meet_surfaces", "sb_decide", "sb_project",
     "sb_hold", "sb_put_to_rest", *_ALONG),
)  # fmt: skip
"""The functions of the program, and those through which outputs and updates call them."""

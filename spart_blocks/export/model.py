"""The C of a part behind flat arrays of doubles: what the loop of sb_loop.h steps."""

from __future__ import annotations

import re
from importlib import resources

from spart_blocks.export.step import StepCode


def runtime_file(name: str) -> str:
    """The text of a file of the C runtime."""
    return resources.files("spart_blocks.export").joinpath("c", name).read_text("utf-8")


def model_header(code: StepCode) -> str:
    """The text of NAME_model.h."""
    interface = code.interface
    sizes = {"U": interface.inputs, "P": interface.parameters, "Y": interface.outputs}
    text = runtime_file("model.h.in")
    for letter, members in sizes.items():
        text = text.replace(f"SIZE_{letter}", str(sum(member.size for member in members)))
    text = text.replace("NAME_MODEL_H", f"{code.name.upper()}_MODEL_H")
    text = re.sub(r"\bNAME(?=\b|_)", code.name, text)
    return re.sub(r"\bREAL\b", code.real, text)

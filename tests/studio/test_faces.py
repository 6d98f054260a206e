"""What blocks show of their function."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spart_blocks.diagram.build.registry import find_type
from spart_blocks.diagram.diagram_drawing import port_labels
from spart_blocks.studio.files import faces
from spart_blocks.studio.files.faces import Face, face_of
from spart_blocks.studio.files.kinds import GLYPHS


@pytest.mark.parametrize(
    ("kind", "section", "face"),
    [
        ("GAIN", {"K": 2.5}, Face("gain", "2.5")),
        ("GAIN", {}, Face("gain", "1")),
        ("GAIN", {"K": [[1, 2], [3, 4]]}, Face("gain", "K")),
        ("INTEGRATOR", {}, Face("", "1", "s")),
        ("UNIT_DELAY", {"N": 12}, Face("", "1", "z¹²")),
        ("TRANSFER_FUNCTION", {"num": 3, "den": [1, 0, -2]}, Face("", "3", "s² − 2")),
        ("TRANSFER_FUNCTION", {"num": [-1, 0.5], "den": "$den"}, Face("", "−s + 0.5", "den(s)")),
        ("LTI_SISO_S", {"N": [0], "D": list(range(1, 20))}, Face("", "0", "D(z)")),
        ("LOGIC", {"operator": "nor"}, Face("nor")),
        ("LOGIC", {"operator": ["nor"]}, Face()),
        ("STEP", {"T": 1}, Face("step", "T = 1")),
        ("WAVEFORM", {"wave": "sine"}, Face("sine")),
        ("COMPARE", {"operator": ">="}, Face("", "≥")),
        ("GOTO", {"tag": "speed"}, Face("", "[speed]")),
        ("SATURATION", {"lower": -1}, Face("saturation")),
        ("JOINT_PD", {}, Face()),
        ("CONSTANT", {"value": list(range(40))}, Face("", "[0, 1, 2, 3, 4, 5, 6, 7, 8,…")),
    ],
)
def test_a_block_shows_what_it_does(kind, section, face):
    assert face_of(kind, section) == face


def test_faces_are_of_types_that_there_are_and_their_drawings_of_the_page():
    tables = [value for name, value in vars(faces).items() if isinstance(value, dict)]
    types = {key for table in tables for key in table if isinstance(key, str) and key.isupper()}
    assert types == {name for name in types if find_type(name)}
    drawn = set(re.findall(r"^  (\w+): \[", Path("studio/src/canvas/faces.ts").read_text(), re.M))
    named = set(faces._GLYPHS.values())
    named |= {one for *_, glyphs in faces._BY_PARAMETER.values() for one in glyphs.values()}
    assert named - {"gain"} | set(GLYPHS) == drawn


@pytest.mark.parametrize(
    ("kind", "names", "operators", "labels"),
    [
        ("SUM", ("0", "1", "2"), "+-+", ("+", "−", "+")),
        ("SUM", ("0", "1"), None, ("+", "+")),
        ("SUM", ("0", "1"), "$signs", ("", "")),
        ("PROD", ("0", "1"), "*/", ("×", "÷")),
        ("PID", ("0", "1"), None, ("x", "x*")),
        ("PID", ("0",), None, ("",)),
        ("SWITCH", ("a", "control", "b"), None, ("a", "control", "b")),
    ],
)
def test_ports_show_their_operators_and_names(kind, names, operators, labels):
    assert port_labels(kind, names, operators) == labels

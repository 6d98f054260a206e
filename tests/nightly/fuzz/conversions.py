"""Diagrams of other tools that `spart new --from` converts: .mdl, .slx, and their scripts."""

from __future__ import annotations

import random
from pathlib import Path

from fuzz.cases import Case, Format
from fuzz.damage import bent_xml, spoilt, zipped
from spart_blocks.diagram.converted.convert import convert

_BLOCK = '<Block BlockType="{}" Name="{}" SID="{}"><P Name="Ports">[1, 1]</P>{}</Block>'
_LINE = '<Line><P Name="Src">{}#out:1</P><P Name="Dst">{}#in:1</P></Line>'
_XML = (
    "<ModelInformation><Model><System>"
    + _BLOCK.format("Gain", "g", 1, '<P Name="Gain">2*k(1)</P>')
    + _BLOCK.format("Integrator", "x", 2, '<P Name="InitialCondition">[1 2]</P>')
    + _BLOCK.format("Fcn", "f", 3, '<P Name="Expr">u(1)^2 - sin(u)</P>')
    + "".join(_LINE.format(*ends) for ends in ((1, 2), (2, 3), (3, 1)))
    + "</System></Model></ModelInformation>"
).encode()
_TEXT = (
    b'Model {\n  StopTime "2*k"\n  System {\n    Block {\n      BlockType Step\n      Name "s"\n'
    b'      Time "1"\n    }\n    Block {\n      BlockType Gain\n      Name "g"\n      Gain "[1 2;'
    b' 3 4]"\n    }\n    Line {\n      SrcBlock "s"\n      SrcPort 1\n      Branch {\n'
    b'        DstBlock "g"\n        DstPort 1\n      }\n    }\n  }\n}\n'
)
_SCRIPT = b"k = [1, 2; 3 4]' * 2; % gains\nm.a = k(1, :) + zeros(1, 2);\nt = 0:0.1:1;\n"


def draw(chance: random.Random) -> Case:
    kind = chance.choice(("slx", "mdl"))
    raw = _TEXT
    if kind == "slx":
        inner = bent_xml(_XML, chance) if chance.random() < 0.7 else spoilt(_XML, chance)
        raw = zipped({"simulink/blockdiagram.xml": inner}, chance)
    if kind == "mdl" or chance.random() < 0.2:
        raw = spoilt(raw, chance)
    script = spoilt(_SCRIPT, chance) if chance.random() < 0.7 else _SCRIPT
    return Case({f"fuzzed.{kind}": raw, "fuzzed.m": script}, {"kind": kind})


def attempt(case: Case, ground: Path) -> str:
    draft, _ = convert(ground / f"fuzzed.{case.options['kind']}", [ground / "fuzzed.m"])
    return "converted" if draft.text() else "empty"


FORMAT = Format("conversions", 5, draw, attempt)

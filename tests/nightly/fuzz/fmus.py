"""FMU archives: zip structure, names and sizes, and descriptions that are others. None of the
machine code in one is run."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import fmu_files

from fuzz.cases import Case, Format
from fuzz.damage import bent_xml, spoilt, zipped


def draw(chance: random.Random) -> Case:
    version = chance.choice((2, 3))
    xml = fmu_files.XML[version].encode()
    pick = chance.random()
    if pick < 0.5:
        xml = bent_xml(xml, chance)
    elif pick < 0.6:
        xml = spoilt(xml, chance)
    entries = {"modelDescription.xml": xml, fmu_files.LIBRARY[version]: b"code" * 9}
    entries["resources/data/table.txt"] = b"1 2 3"
    for name in chance.sample(("sources/lag.c", "resources/data", "documentation/x.html"), 1):
        if chance.random() < 0.1:
            entries[name] = b"x"
    if chance.random() < 0.01:
        entries["resources/zeros"] = bytes(chance.choice((2**20, 2**26)))
    raw = zipped(entries, chance if pick > 0.45 else None)
    if chance.random() < 0.2:
        raw = spoilt(raw, chance)
    return Case({"fuzzed.fmu": raw}, {"block": chance.random() < 0.5})


def attempt(case: Case, ground: Path) -> str:
    from spart_blocks.blocks._fmu_file import read_model, unpack

    file = ground / "fuzzed.fmu"
    model = read_model(file)
    out = ground / "unpacked"
    out.mkdir()
    try:
        if case.options["block"]:
            _as_block(ground)
        unpack(model, out)
        outside = [p for p in out.rglob("*") if not p.resolve().is_relative_to(out.resolve())]
        assert not outside, outside
    finally:
        shutil.rmtree(out)
    return "unpacked"


def _as_block(ground: Path) -> None:
    """As a block of a diagram, which the user allows; it is not run."""
    from spart_blocks.diagram import load, own_blocks

    diagram = ground / "fuzzed-diagram.yaml"
    diagram.write_text(
        "clocks: {c: {T: 0.1}}\nblocks: {m: {type: FMU, file: fuzzed.fmu, clock: c}}\n"
    )
    load(diagram, blocks=[str(ground / "fuzzed.fmu")])
    own_blocks._ALLOWED.clear()


FORMAT = Format("fmu", 9, draw, attempt)

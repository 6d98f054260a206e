"""FMU archives: zip structure, names and sizes, and descriptions that are others. None of the
machine code in one is run."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import exchange_fmus
import fmu_files

from fuzz.cases import Case, Format
from fuzz.damage import bent_xml, spoilt, zipped


def draw(chance: random.Random) -> Case:
    version = chance.choice((2, 3))
    exchange = chance.random() < 0.4
    given = exchange_fmus.description(version) if exchange else fmu_files.XML[version]
    xml, library = given.encode(), fmu_files.LIBRARY[version]
    if exchange:
        library = library.replace("/lag", "/all")
    pick = chance.random()
    if pick < 0.5:
        xml = bent_xml(xml, chance)
    elif pick < 0.6:
        xml = spoilt(xml, chance)
    entries = {"modelDescription.xml": xml, library: b"code" * 9}
    entries["resources/data/table.txt"] = b"1 2 3"
    for name in chance.sample(("sources/lag.c", "resources/data", "documentation/x.html"), 1):
        if chance.random() < 0.1:
            entries[name] = b"x"
    if chance.random() < 0.01:
        entries["resources/zeros"] = bytes(chance.choice((2**20, 2**26)))
    raw = zipped(entries, chance if pick > 0.45 else None)
    if chance.random() < 0.2:
        raw = spoilt(raw, chance)
    options = {"block": chance.random() < 0.5, "exchange": exchange}
    return Case({"fuzzed.fmu": raw}, options)


def attempt(case: Case, ground: Path) -> str:
    from spart_blocks.fmu.archive import read_model, unpack

    file = ground / "fuzzed.fmu"
    model = read_model(file, case.options["exchange"])
    out = ground / "unpacked"
    out.mkdir()
    try:
        if case.options["block"]:
            _as_block(ground, case.options["exchange"])
        unpack(model, out)
        outside = [p for p in out.rglob("*") if not p.resolve().is_relative_to(out.resolve())]
        assert not outside, outside
    finally:
        shutil.rmtree(out)
    return "unpacked"


def _as_block(ground: Path, exchange: bool) -> None:
    """As a block of a diagram, which the user allows; it is not run."""
    from spart_blocks.diagram import load
    from spart_blocks.diagram.build import own_blocks

    diagram = ground / "fuzzed-diagram.yaml"
    kind = "FMU_ME, file: fuzzed.fmu" if exchange else "FMU, file: fuzzed.fmu, clock: c"
    diagram.write_text(f"clocks: {{c: {{T: 0.1}}}}\nblocks: {{m: {{type: {kind}}}}}\n")
    load(diagram, blocks=[str(ground / "fuzzed.fmu")])
    own_blocks._ALLOWED.clear()


FORMAT = Format("fmu", 9, draw, attempt)

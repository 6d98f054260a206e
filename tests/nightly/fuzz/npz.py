"""Results in .npz files: headers, descriptions, zip structure and bytes that are others. What
is read is told, tabled, and gone on from."""

from __future__ import annotations

import io
import json
import random
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.cases import Case, Format
from fuzz.damage import JUNK, NUMBERS, bent, odd_value, spoilt, zipped
from fuzz.diagrams import ran

LOOP = """\
name: loop
clocks: {fast: {T: 0.01}}
blocks:
  t: {type: TIME}
  int: {type: INTEGRATOR, x0: [1, 2]}
  g: {type: GAIN, K: -1}
  z: {type: ZOH, clock: fast, x0: [0, 0]}
  scope: {type: SCOPE, labels: [a, b]}
  n: {type: "NULL"}
wires: ["int -> g, scope", g -> z, z -> int, t -> n]
run: {T: 0.05, log: [g, z]}
"""


@cache
def sound() -> dict[str, bytes]:
    """The entries of a run's file."""
    import tempfile

    from spart_blocks.diagram import load

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "loop.yaml")
        file.write_text(LOOP)
        saved = ran(load(file), T=0.05, every=0.01).save(Path(folder, "run.npz"))
        with zipfile.ZipFile(saved) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def _npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=True)
    return out.getvalue()


def _header(text: str | bytes, data: bytes = b"", version: int = 1) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    size = len(raw).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes((version, 0)) + size + raw + data


_DESCRIPTIONS = (
    "<f8",
    ">f8",
    "|O",
    "<U9",
    "|S5",
    "<c16",
    "<M8[s]",
    "V8",
    "<f80",
    "<i1",
    [("a", "<f8")],
    [("a", "<f8", 10**9)],
    "",
    "f8,f8",
    None,
    3,
    "<U1000000000",
)
_SHAPES = ((), (6,), (-1,), (0,), (10**12,), (2**63,), (6, 2), (6, 0), (6, -2), (1,) * 40, "6",
           (1.5,), (None,), [6], (True,), (6, 10**18), (3, 4))  # fmt: skip


def _hostile_header(raw: bytes, chance: random.Random) -> bytes:
    data = raw[128:]
    version = chance.choice((1, 1, 2, 3, 0, 9))
    depth = chance.choice((3, 50, 90, 199, 201, 3000, 9000))
    if chance.random() < 0.6:
        told = {"descr": chance.choice(_DESCRIPTIONS),
                "fortran_order": chance.choice((False, True, 3)),
                "shape": chance.choice(_SHAPES)}  # fmt: skip
        if chance.random() < 0.2:
            told.pop(chance.choice(list(told)))
        return _header(repr(told) + "\n", data, version)
    opening, closing = chance.choice(("{}", "[]", "()", "{:", "-+", "''", '""', "\\\n"))
    return _header(chance.choice((
        opening * depth, opening * depth + closing * depth, "{'descr': " + opening * depth,
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,", "", "\x00", "{", "'", '"""',
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6L,)}", "1" * 9000, "é" * 99,
        "0x" + "f" * 9000, "{'a': 1}" * 1000, "lambda: 0", "f'{1}'", "\ufeff{}", "\n  \n {}\n}",
        "{**{}}", "1+1j", "#" * 500, "{" + "'a': 1, " * 900 + "}", " " * 9000, "\t{\n",
    )), data, version)  # fmt: skip


def draw(chance: random.Random) -> Case:
    entries = dict(sound())
    pick = chance.random()
    name = chance.choice(list(entries))
    if pick < 0.35:
        meta = json.loads(str(np.lib.format.read_array(io.BytesIO(entries["meta.npy"]))))
        entries["meta.npy"] = _npy(json.dumps(bent(meta, chance)))
    elif pick < 0.40:
        entries["meta.npy"] = _npy(chance.choice(("", "{", "[" * 9000, "null", "[]", '"x"', "NaN",
                                                  "1" * 5000, '{"format": 1e999}')))  # fmt: skip
    elif pick < 0.55:
        entries[name] = _hostile_header(entries[name], chance)
    elif pick < 0.65:
        entries[name] = spoilt(entries[name], chance)
    elif pick < 0.78:
        values = chance.choice((NUMBERS, JUNK))
        array = np.array([float("nan"), 1, 2])
        try:
            array = np.asarray(chance.choice(values), dtype=chance.choice((None, float, object)))
        except (ValueError, TypeError, OverflowError):
            array = np.array([odd_value(chance)], dtype=object)
        entries[name] = _npy(array)
    elif pick < 0.83:
        del entries[name]
    raw = zipped(entries, chance if pick > 0.75 else None)
    if pick > 0.9:
        raw = spoilt(raw, chance)
    return Case({"fuzzed.npz": raw, "fuzzed.yaml": LOOP.encode()}, {"pick": pick})


def attempt(case: Case, ground: Path) -> str:
    from spart_blocks.diagram import load
    from spart_blocks.results import Results
    from spart_blocks.results.recordings import read_recording

    file = ground / "fuzzed.npz"
    if case.options["pick"] % 0.01 < 0.003:
        read_recording(file, ["g", "z"])
        return "a recording"
    found = Results.load(file)
    found.summary()
    found.table()
    for name in found:
        found.scale(name)
    continued = ran(load(ground / "fuzzed.yaml"), initial=file, T=0.06, every=0.01)
    if case.options["pick"] % 0.01 < 0.004:
        saved = continued.save(ground / "again.npz")
        Results.load(saved)
        saved.unlink()
    if case.options["pick"] % 0.01 > 0.0099:
        import matplotlib.pyplot as plt

        found.plot()
        plt.close("all")
    return "gone on"


FORMAT = Format("npz", 14, draw, attempt)

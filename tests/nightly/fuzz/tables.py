"""Recordings and trajectories that blocks read (.csv, .npz, .mat), and baselines of tests."""

from __future__ import annotations

import io
import random
from functools import cache
from pathlib import Path

import numpy as np

from fuzz.cases import PROJECT, Case, Format
from fuzz.damage import NUMBERS, TEXTS, spoilt, zipped
from fuzz.diagrams import ran

_BLOCKS = {
    "data": "{type: DATA, file: FILE, signals: [q], interpolation: %s, outside: %s}",
    "trajectory": "{type: TRAJECTORY_FILE, path: FILE, method: %s}",
}


@cache
def sound() -> dict[str, bytes]:
    rows = [[t / 10, np.sin(t), np.cos(t), t % 3] for t in range(12)]
    head = "# a recording\nt,q[0],q[1],other\n"
    text = head + "".join(",".join(f"{v:.6g}" for v in row) + "\n" for row in rows)
    return {"csv": text.encode(), "baseline": next(
        (PROJECT / "diagrams/baselines").glob("spacecraft_pd.csv")).read_bytes()}  # fmt: skip


def draw(chance: random.Random) -> Case:
    kind = chance.choice(("csv", "csv", "csv", "npz", "mat", "baseline"))
    raw = sound().get(kind) or _arrays(kind, chance)
    if kind in ("csv", "baseline") and chance.random() < 0.7:
        raw = _cells(raw, chance)
    if chance.random() < 0.4:
        raw = spoilt(raw, chance)
    suffix = "csv" if kind == "baseline" else kind
    if kind == "baseline":
        return Case({"fuzzed.csv": raw}, {"kind": kind})
    block = chance.choice([*_BLOCKS]) if kind == "csv" else "data"
    text = _BLOCKS[block].replace("FILE", f"fuzzed.{suffix}")
    text %= (
        (chance.choice(("linear", "previous")), chance.choice(("hold", "zero", "refuse")))
        if block == "data"
        else chance.choice(("clamped", "natural", "linear"))
    )
    outputs = 1 if block == "data" else 3
    wires = ", ".join(f"b.{k} -> n.{k}" for k in range(outputs))
    text = f"blocks: {{b: {text}, n: {{type: 'NULL', nin: {outputs}}}}}\nwires: [{wires}]\n"
    return Case({f"fuzzed.{suffix}": raw, "fuzzed.yaml": text.encode()}, {"kind": kind})


def _cells(raw: bytes, chance: random.Random) -> bytes:
    """A table of which some cells, rows and columns are others."""
    lines = [line.split(",") for line in raw.decode().split("\n")]
    for _ in range(chance.randint(1, 4)):
        row = chance.choice(lines)
        at = chance.randrange(len(row))
        way = chance.randrange(6)
        if way <= 2:
            row[at] = chance.choice(
                (*TEXTS, *(str(n) for n in NUMBERS), '"', '"1', '1"2', "t", "q")
            )
        elif way == 3:
            row.insert(at, chance.choice(("", "1", "q[2]", "q[99999]", "q[0,0]", "t")))
        elif way == 4:
            del row[at]
            row += [""] * (not row)
        else:
            lines.insert(chance.randrange(len(lines)), list(row) * chance.choice((1, 1, 300)))
    return "\n".join(",".join(row) for row in lines).encode("utf-8", "surrogatepass")


def _arrays(kind: str, chance: random.Random) -> bytes:
    """A file of arrays, some of which are none by time."""
    t = np.arange(6) / 10.0
    odd = (np.zeros((6, 2)), np.zeros(6), np.zeros((5, 2)), np.zeros(0), np.array(1.0),
           np.zeros((6, 2), complex), np.array([1, None], object), np.array(["x"] * 6),
           np.full(6, np.nan), np.zeros((6, 0)), t[::-1], np.zeros((6, 2, 2)), np.zeros(6, bool),
           np.zeros(6, [("a", float)]), np.array(["2020"] * 6, "M8[Y]"),
           np.zeros((1, 6)))  # fmt: skip
    arrays = {"t": t, "q": np.column_stack([t, t])}
    for _ in range(chance.choice((0, 1, 1, 2))):
        arrays[chance.choice(("t", "q", "q", "names", "meta"))] = chance.choice(odd)
    if kind == "npz":
        entries = {}
        for name, array in arrays.items():
            out = io.BytesIO()
            np.lib.format.write_array(out, array, allow_pickle=True)
            entries[f"{name}.npy"] = out.getvalue()
        return zipped(entries, chance if chance.random() < 0.3 else None)
    from scipy.io import savemat

    out = io.BytesIO()
    plain = {k: a for k, a in arrays.items() if a.dtype.kind in "bfcU"}
    old = all(a.ndim < 3 and a.dtype.kind == "f" for a in plain.values())
    version = chance.choice(("5", "4")) if old else "5"
    savemat(out, plain, do_compression=chance.random() < 0.5, format=version)
    return out.getvalue()


def attempt(case: Case, ground: Path) -> str:
    if case.options["kind"] == "baseline":
        from spart_blocks.claims.baselines import read

        read(ground / "fuzzed.csv")
        return "baseline"
    from spart_blocks.diagram import load

    ran(load(ground / "fuzzed.yaml"), T=0.02, every=0.01)
    return "ran"


FORMAT = Format("tables", 8, draw, attempt)

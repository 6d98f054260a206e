"""The gain of a linear quadratic regulator, and files with it."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.results.files import write_bytes

Floats = NDArray[np.float64]

SUFFIXES = (".json", ".csv", ".yaml")


@dataclass(frozen=True, eq=False)
class LQRGain:
    """The gain of a linear quadratic regulator.

    K (m, n): u = u_point - K x for deviations x from the operating point. S (n, n): the remaining
    cost from x is x' S x. poles (n,): of the closed loop. A (n, n), B (n, m): the linearised
    plant. states, inputs: names of the entries. point: for each plant its state at the operating
    point. u (m,): the control that holds it there. T [s]: period of a sampled gain, for which A
    and B are from tick to tick; None for a continuous one.
    """

    K: Floats
    S: Floats
    poles: NDArray[np.complex128]
    A: Floats
    B: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    point: Mapping[str, Floats]
    u: Floats
    T: float | None = None

    def save(self, path: str | Path) -> Path:
        """Write it to a file, atomically. .json: all of it. .csv: K with names. .yaml: K and hold
        in the form that a block LQR takes.
        """
        target = Path(path).expanduser()
        writers = {".json": self._json, ".csv": self._csv, ".yaml": self._yaml}
        writer = writers.get(target.suffix.lower())
        if writer is None:
            hint = f"end it in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
            raise InputError(Fault(f"cannot save a gain to {target}", hint=hint))
        write_bytes(target, writer().encode("utf-8"))
        return target

    def _json(self) -> str:
        content: dict[str, Any] = {key: getattr(self, key).tolist() for key in "KSABu"}
        content["poles"] = [[pole.real, pole.imag] for pole in self.poles]
        content |= {"states": list(self.states), "inputs": list(self.inputs), "T": self.T}
        content["point"] = {name: np.asarray(x).tolist() for name, x in self.point.items()}
        return json.dumps(content, indent=1) + "\n"

    def _csv(self) -> str:
        out = StringIO()
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["", *self.states])
        for name, row in zip(self.inputs, self.K, strict=True):
            table.writerow([name, *(repr(float(value)) for value in row)])
        return out.getvalue()

    def _yaml(self) -> str:
        rows = "".join(f"  - {_list(row)}\n" for row in self.K)
        columns = f"# columns: {', '.join(self.states)}\n# rows: {', '.join(self.inputs)}\n"
        return f"{columns}K:\n{rows}hold: {_list(self.u)}\n"


def _list(values: Floats) -> str:
    return f"[{', '.join(repr(float(value)) for value in values)}]"

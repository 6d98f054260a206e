"""Cases of blocks, each with inputs and the outputs for them: checked on numbers, on symbols, in a
run on both engines, and in C.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

import spart_blocks as sb
from spart_blocks.diagram.build.registry import find_type
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.program.tracing.symbol import sx_of, symbols

SWAY = 0.1
"""Each entry of an input moves by so much about its value."""


@dataclass(frozen=True)
class BlockCase:
    """A block type, its parameters, its inputs, and its outputs for these; one output unless
    `several`.
    """

    type: str
    given: dict
    inputs: tuple
    want: object
    several: bool = False
    outputs: tuple = field(init=False)

    def __post_init__(self):
        want = self.want if self.several else (self.want,)
        object.__setattr__(self, "outputs", tuple(np.asarray(value, float) for value in want))

    @property
    def block(self):
        return find_type(self.type).cls(**self.given)


def check_values(case):
    """The block gives what the table says, in its shape, and a scalar as a float."""
    block = case.block
    inputs = [_value(value) for value in case.inputs]
    kept = [np.copy(value) for value in inputs]
    for got, want in zip(block.output(0.0, inputs, None), case.outputs, strict=True):
        assert np.shape(got) == want.shape
        assert want.ndim or not isinstance(got, np.ndarray)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    for value, before in zip(inputs, kept, strict=True):
        np.testing.assert_array_equal(value, before, "the block changed its input")


def check_symbols(case, points=20):
    """The traced outputs and zero-crossing functions are those of the block, at random points."""
    block, shapes = case.block, [np.shape(value) for value in case.inputs]
    columns, entries = zip(
        *(symbols(f"u{k}", shape) for k, shape in enumerate(shapes)), strict=True
    )
    inputs = [entry.reshape(shape)[()] for entry, shape in zip(entries, shapes, strict=True)]
    traced = _flat(block, inputs)
    function = ca.Function("f", list(columns), [ca.vertcat(*map(sx_of, traced))])
    rng = np.random.default_rng(len(traced))
    for _ in range(points):
        at = [np.asarray(value) + SWAY * rng.normal(size=np.shape(value)) for value in case.inputs]
        with np.errstate(all="ignore"):
            want = np.array(_flat(block, [_value(value) for value in at]), dtype=float)
        got = np.array(function(*(np.ravel(value) for value in at))).ravel()
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


def _flat(block, inputs):
    values = [*block.output(0.0, inputs, None), *getattr(block, "watch", _none)(0.0, inputs, None)]
    return [entry for value in values for entry in np.ravel(value)]


def _none(t, inputs, x):
    return []


def _value(value):
    value = np.array(value, dtype=float)
    return value if value.ndim else float(value)


# --- all of them in one diagram ------------------------------------------------------------


def diagram_of(cases):
    """A diagram file with the blocks of all cases, their inputs moved about their values."""
    blocks, wires = {}, []
    for k, case in enumerate(cases):
        blocks[f"b{k}"] = {"type": case.type, **case.given}
        for i, value in enumerate(case.inputs):
            wave = f"m + {SWAY}*sin({3 + 0.7 * i}*t + 0.1)"
            formula = {"type": "FCN", "expression": f"{wave} + 0*u", "params": {"m": value}}
            blocks[f"in{k}_{i}"] = formula
            wires += [f"clock -> in{k}_{i}", f"in{k}_{i} -> b{k}.{i}"]
    blocks["clock"] = {"type": "TIME"}
    log = [f"b{k}" for k in range(len(cases))]
    return json.dumps({"name": "cases", "blocks": blocks, "wires": wires,
                       "run": {"T": 1, "log": log}})  # fmt: skip


def check_engines(cases, folder):
    """Both engines give the same signals in a run of the file."""
    (folder / "cases.yaml").write_text(diagram_of(cases))
    diagram = sb.load(folder / "cases.yaml")
    native, other = (
        sb.simulate(diagram, engine=engine, every=0.05) for engine in ("native", "interpreter")
    )
    assert native.signals
    for name in native.signals:
        np.testing.assert_allclose(native[name], other[name], rtol=1e-9, atol=1e-12, err_msg=name)


def check_c(cases, folder, real="double"):
    """The exported C gives the program's numbers at each step."""
    (folder / "cases.yaml").write_text(diagram_of(cases))
    part = subdiagram_of(folder / "cases.yaml", [])
    found = verify(step_code(part, rate=50, real=real), np.zeros((50, 0)))
    assert found.passed, found


def check_fmu(cases, folder):
    """The FMU gives the program's numbers."""
    (folder / "cases.yaml").write_text(diagram_of(cases))
    part = subdiagram_of(folder / "cases.yaml", [])
    found = verify_fmu(export_fmu(part, folder), part, horizon=1.0)
    assert found.passed, found


def sampled(block, t):
    """The outputs of a source at times t, one array for each port."""
    return [
        np.array(values) for values in zip(*(block.output(s, [], None) for s in t), strict=True)
    ]

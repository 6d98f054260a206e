"""Blocks with states, many in one diagram: they run alike on both engines, as exported C and as an
FMU. A case is (type, parameters, widths of the inputs, None for a number).
"""

from __future__ import annotations

import json

import numpy as np
from same_results import assert_same_results
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.diagram.build.registry import find_type
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of


def diagram_of(cases):
    """Text of a diagram with the blocks b0, b1, ... of all cases, waves at their inputs.

    An input "R0" is a constant attitude.
    """
    attitude = Rotation.from_rotvec([1, 2, 0.3]).as_matrix().tolist()
    blocks, wires = {"clock": {"type": "TIME"}}, []
    for k, (kind, given, widths) in enumerate(cases):
        sampled = {"clock": "c"} if is_sampled(kind) else {}
        blocks[f"b{k}"] = {"type": kind, **sampled, **given}
        for i, width in enumerate(widths):
            if width == "R0":
                blocks["R0"] = {"type": "CONSTANT", "value": attitude}
                wires.append(f"R0 -> b{k}.{i}")
                continue
            weight = 2.0 if width is None else [2.0 - 0.7 * n for n in range(width)]
            wave = f"m*sin({2.3 + 1.7 * i}*t + {0.1 * i})"
            blocks[f"in{k}_{i}"] = {"type": "FCN", "expression": f"{wave} + 0*u",
                                    "params": {"m": weight}}  # fmt: skip
            wires += [f"clock -> in{k}_{i}", f"in{k}_{i} -> b{k}.{i}"]
    log = [name for k, case in enumerate(cases) for name in outputs_of(case, k)]
    run = {"T": 2, "every": 0.0173, "rtol": 1e-9, "atol": 1e-11, "log": log}
    clocks = {"c": {"T": 0.05, "offset": 0.02}}
    return json.dumps({"name": "cases", "clocks": clocks, "blocks": blocks, "wires": wires,
                       "run": run})  # fmt: skip


def outputs_of(case, k):
    """The names of the outputs of the block of case k."""
    names = [spec.name for spec in find_type(case[0]).cls.gives]
    return [f"b{k}.{name}" for name in names] if len(names) > 1 else [f"b{k}"]


def is_sampled(kind):
    return any(base.__name__ == "SampledBlock" for base in find_type(kind).cls.__mro__)


def check_engines(cases, folder, rel=1e-7):
    """Both engines give the same, and every output moves."""
    (folder / "cases.yaml").write_text(diagram_of(cases))
    diagram = sb.load(folder / "cases.yaml")
    native, blocks = (sb.simulate(diagram, engine=e) for e in ("native", "interpreter"))
    for k, case in enumerate(cases):
        for name in outputs_of(case, k):
            assert np.ptp(native[name], axis=0).min() > 1e-3, case
    assert_same_results(native, blocks, rel=rel)


def check_c(cases, folder, real="double"):
    """The exported C gives the program's numbers at each step."""
    (folder / "cases.yaml").write_text(diagram_of(cases))
    part = subdiagram_of(folder / "cases.yaml", [])
    found = verify(step_code(part, rate=100, real=real), np.zeros((100, 0)))
    assert found.passed, found


def check_fmu(cases, folder):
    """The FMU gives the program's numbers."""
    (folder / "cases.yaml").write_text(diagram_of(cases))
    part = subdiagram_of(folder / "cases.yaml", [])
    found = verify_fmu(export_fmu(part, folder), part, horizon=1.0)
    assert found.passed, (found.problems, found.errors)


def check_exports(part, folder, rate=100, horizon=1.0):
    """The exported C, for a hundred steps, and the FMU give the program's numbers."""
    found = verify(step_code(part, rate=rate), np.zeros((100, 0)))
    assert found.passed, found
    fmu = verify_fmu(export_fmu(part, folder), part, horizon=horizon)
    assert fmu.passed, (fmu.problems, fmu.errors)


def made(kind, clock, **given):
    """A block of a type on its own, its outputs named by position."""
    return find_type(kind).cls(**({"clock": clock} if is_sampled(kind) else {}), **given)


def matrices(block):
    """A, B, C, D of a linear block of one input and one output, from its own methods."""
    x0, move = np.zeros(block._x0.size), getattr(block, "next", getattr(block, "deriv", None))
    eye = np.eye(x0.size)
    A = np.array([move(0.0, [0.0], e) for e in eye]).T
    C = np.array([block.output(0.0, [0.0], e)[0] for e in eye])
    return A, np.ravel(move(0.0, [1.0], x0)), C, block.output(0.0, [1.0], x0)[0]


def response(block, at):
    """The frequency response of a linear block at the points `at` of s or z."""
    A, B, C, D = matrices(block)
    return np.array([C @ np.linalg.solve(p * np.eye(len(A)) - A, B) + D for p in at])

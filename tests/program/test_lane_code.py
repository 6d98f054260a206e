"""Functions of programs in several lanes: each lane's bits are those of one lane."""

from pathlib import Path

import numpy as np
import pytest
from lane_libraries import STRICT, Lanes, same_bits

import spart_blocks as sb
from spart_blocks.program import lane_code
from spart_blocks.program.compiler import compiler_name

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for path in (ROOT / "diagrams").rglob("*.yaml")
    if not path.is_relative_to(ROOT / "diagrams" / "controllers")
)
WIDE = 8

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")


def functions_of(program):
    """Every function (t, x, xd, p) -> column of a program, and `advance`."""
    found = {
        name: getattr(program, name)
        for name in ("rates", "held", "outputs", "watched", "project", "reach", "switched")
    }
    found["advance"] = program.advance
    found |= {f"tick_{k}": f for k, f in enumerate(program.updates.values())}
    found |= {f"handover_{k}": one.renewed for k, one in enumerate(program.handovers)}
    found |= {f"reset_{k}": f for k, f in enumerate(program.resets.values())}
    return {f"program_{name}": f for name, f in found.items() if f is not None}


def near_the_start(program, function, rng, count):
    """Rows of each argument of a function, scattered about the nominal ones."""
    h = np.full(1, 0.01)
    nominal = {"t": np.zeros(1), "x": program.x0, "xd": program.xd0, "p": program.p, "h": h}
    rows = []
    for name in function.name_in():
        value = nominal.get(name, program.x0)
        noise = rng.standard_normal((count, len(value)))
        rows.append(value * (1 + 0.05 * noise) if name in "ph" else value + 0.1 * np.abs(noise))
    return rows


def assert_lanes_are_alike(program, flags=STRICT):
    functions = functions_of(program)
    one, wide = (Lanes(functions, lanes, flags=flags) for lanes in (1, WIDE))
    rng = np.random.default_rng(3)
    for name, function in functions.items():
        rows = near_the_start(program, function, rng, WIDE)
        alone, together = one(name, *rows), wide(name, *rows)
        assert same_bits(alone, together), name
        exact = [np.array(function(*(v[k] for v in rows))).ravel() for k in range(WIDE)]
        scale = np.maximum(1, np.abs(exact))
        np.testing.assert_allclose(alone / scale, exact / scale, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_lane_of_a_diagram_is_as_alone(path):
    assert_lanes_are_alike(sb.trace(path))


def test_each_lane_of_a_few_functions_is_as_alone():
    assert_lanes_are_alike(sb.trace(ROOT / "diagrams" / "signals" / "thrusters.yaml"))


def test_a_function_in_pieces_is_the_same_one(monkeypatch):
    program = sb.trace(ROOT / "diagrams" / "signals" / "limited_servo.yaml")
    monkeypatch.setattr(lane_code, "PIECE", 7)
    assert_lanes_are_alike(program)

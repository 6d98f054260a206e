"""BACKLASH, HIT_CROSSING and EDGE: closed forms, both engines, and exported C."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.export import step_code, verify
from spart_blocks.program.subdiagram import subdiagram_of

ENGINES = ("native", "interpreter")
CASES = {
    "backlash": "type: BACKLASH, gap: 0.6, bandwidth: 5000, y0: -0.7",
    "backlash on a clock": "type: BACKLASH_S, clock: c, gap: 0.6",
    "crossing": "type: HIT_CROSSING, level: 0.4, direction: rising, pulse: 0.1",
    "both crossings": "type: HIT_CROSSING, level: 0.4, pulse: 0.1",
    "edge": "type: EDGE, clock: c, direction: either, level: 0.4",
}


@pytest.fixture
def written(tmp_path):
    def write(given, T=4.0):
        path = tmp_path / "diagram.yaml"
        y, more = ("it.y", ", it.count") if "HIT" in given else ("it", "")
        path.write_text(f"""
clocks: {{c: {{rate: 1000}}}}
blocks:
  wave: {{type: WAVEFORM, wave: sine, freq: 0.5}}
  it: {{{given}}}
  sum: {{type: INTEGRATOR}}
wires: [wave -> it, {y} -> sum]
run: {{T: {T}, log: [{y}{more}, wave, sum], rtol: 1.0e-9, atol: 1.0e-11}}
""")
        return path

    return write


def first_harmonic(t, y, frequency):
    turning = np.exp(-2j * np.pi * frequency * t)
    return 2j * frequency * np.trapezoid(y * turning, t) / (t[-1] - t[0]) / frequency


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["backlash", "backlash on a clock"])
def test_backlash_has_its_describing_function(written, name, engine):
    results = sb.simulate(written(CASES[name]), engine=engine, every=0.001)
    late = results.t >= 2.0 - 1e-12
    t, keep = np.unique(results.t[late], return_index=True)
    got = first_harmonic(t, np.ravel(results["it"][late])[keep], 0.5)
    k = 1 - 0.6  # 1 - gap / amplitude
    want = (np.pi / 2 + np.arcsin(k) + k * np.sqrt(1 - k**2)) / np.pi - 1j * (1 - k**2) / np.pi
    assert got == pytest.approx(want, abs=3e-3)


def test_backlash_rests_in_its_gap_and_lags_as_told(bdsim_runtime):
    bd = bdsim_runtime.blockdiagram(name="ramp")
    bd.connect(bd.RAMP(0.0, name="u"), bd.BACKLASH(0.5, 100.0, name="y"))
    results = sb.simulate(bd, T=1.0, log=["y"], rtol=1e-10, atol=1e-12)
    t = results.t
    s = np.maximum(t - 0.25, 0)  # y' = B (t - 0.25 - y)
    want = s - (1 - np.exp(-100 * s)) / 100
    np.testing.assert_allclose(results["y"].ravel(), want, atol=1e-8)


RISE, FALL = np.arcsin(0.4) / np.pi, 1 - np.arcsin(0.4) / np.pi


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["crossing", "both crossings"])
def test_a_crossing_is_located_and_counted(written, name, engine):
    results = sb.simulate(written(CASES[name]), engine=engine)
    hits = [RISE, RISE + 2] if name == "crossing" else [RISE, FALL, RISE + 2, FALL + 2]
    assert results["it.count"][-1] == len(hits)
    assert results["sum"][-1] == pytest.approx(0.1 * len(hits), abs=1e-8)
    times = np.array([event.t for event in results.events])
    for hit in hits:
        for t in (hit, hit + 0.1):
            assert np.abs(times - t).min() < 1e-9


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("direction", ["rising", "falling", "either"])
def test_an_edge_is_seen_at_the_next_tick_for_one_period(written, direction, engine):
    given = CASES["edge"].replace("either", direction)
    results = sb.simulate(written(given, T=1.0), engine=engine)
    hits = {"rising": [RISE], "falling": [FALL], "either": [RISE, FALL]}[direction]
    assert results["sum"][-1] == pytest.approx(1e-3 * len(hits), abs=1e-9)
    for hit in hits:
        tick = np.ceil(hit * 1000) / 1000
        inside = (results.t > tick + 1e-9) & (results.t < tick + 1e-3 - 1e-9)
        assert (results["it"][inside] == 1).all()


@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("name", CASES)
def test_exported_c_is_the_program_s(written, name, real):
    code = step_code(subdiagram_of(written(CASES[name]), ["*"]), rate=1000, real=real)
    found = verify(code, np.zeros((1000, 0)))
    assert found.passed, found


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("type: BACKLASH, gap: -1", "gap must not be negative"),
        ("type: BACKLASH, gap: 1, bandwidth: 0", "bandwidth must be above zero"),
        ("type: HIT_CROSSING, pulse: 0", "pulse must be above zero"),
        ("type: HIT_CROSSING, direction: up", "direction must be one of"),
        ("type: EDGE, clock: c, initial: 2", "initial must be 1 or 0"),
        ("type: EDGE, clock: c, width: 0", "width must be a whole number"),
        ("type: EDGE, clock: c, level: [1, 2], width: 3", "one length"),
    ],
)
def test_wrong_parameters_are_told(written, given, told):
    with pytest.raises(InputError, match=told):
        sb.load(written(given))

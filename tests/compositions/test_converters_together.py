"""FIRST_ORDER_HOLD, ADC, DAC and SPECTRUM together, alike in every execution: on clocks with an
offset, and in subsystems with conditions."""

from __future__ import annotations

import pytest

from compositions.judging import judged, placed

CONDITIONS = {
    "none": {},
    "held": {"enabled": {"by": "on"}},
    "begun anew": {"enabled": {"by": "on", "states": "reset", "outputs": {"size": -1}}},
    "reset": {"reset": {"by": "on", "edge": "either"}},
}
RANGE = {"bits": 5, "lower": -2.0, "upper": 2.0}
ALL = ("interpreter", "traced", "split", "compiled", "lanes", "c", "loop", "fmu2", "fmu3")


def chain(condition):
    """A chirp through a converter of two clocks and back, its lines, and their spectrum."""
    return {
        "clocks": {"slow": {"T": 0.1, "offset": 0.03}, "fast": {"T": 0.04, "offset": 0.01}},
        "subsystems": {
            "chain": {
                "inputs": ["u", "on"],
                "outputs": ["code", "back", "line", "size"],
                **condition,
                "blocks": {
                    "code": {"type": "ADC", "clock": "fast", **RANGE},
                    "back": {"type": "DAC", "clock": "slow", **RANGE},
                    "line": {"type": "FIRST_ORDER_HOLD", "clock": "slow", "u0": 0.25},
                    "size": {"type": "SPECTRUM", "frequencies": [0.0, 1.5], "tau": 0.8},
                    "unread": {"type": "FCN", "expression": "0*u"},
                },
                "wires": [
                    "in.u -> code", "in.on -> unread", "code -> back, out.code",
                    "back -> line, out.back", "line -> size, out.line",
                    "size.amplitude -> out.size",
                ],
            },
        },
        "blocks": {
            "u": {"type": "CHIRP", "f0": 0.4, "f1": 2.1, "duration": 2.0, "amplitude": 1.7},
            "on": {"type": "PULSE", "period": 0.77, "width": 0.45, "delay": 0.15},
            "chain": {"type": "chain"},
        },
        "wires": ["u -> chain.u", "on -> chain.on"],
        "run": {"T": 2, "rtol": 1e-9, "atol": 1e-11,
                "log": [f"chain.{name}" for name in ("code", "back", "line", "size")]},
    }  # fmt: skip


@pytest.mark.parametrize("condition", CONDITIONS)
def test_converters_and_spectrum_are_alike_in_every_execution(condition, tmp_path):
    ways = ALL if condition == "begun anew" else ALL[:3]
    content = chain(CONDITIONS[condition])
    found = judged(content, placed(content, tmp_path), ways, pure=False, every=0.025)
    assert not found.error, found.error
    assert not found.differ, found.differ
    assert set(found.seconds) == set(ways)

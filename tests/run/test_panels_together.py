"""What gauges read does not depend on how many panels they take at once."""

from __future__ import annotations

import json

import numpy as np

import spart_blocks as sb
from spart_blocks.run import begin, finish
from spart_blocks.run.measure import measuring
from spart_blocks.run.measure.gauges import Gauge

KINDS = ("extremes", "integral", "square", "displacement", "falling_back", "rising_back")


def readings(path):
    gauges = [Gauge(kind, "x") for kind in KINDS]
    gauges += [Gauge("extremes", "x", "u", since=0.13, until=0.41), Gauge("step", "x", "u")]
    run = begin(sb.load(path), engine="interpreter")
    run.measure(gauges)
    finish(run)
    assert len(run.readings) == len(gauges)
    return run.readings


def test_panels_that_wait_are_measured_as_one_by_one(tmp_path, monkeypatch):
    blocks = {
        "u": {"type": "STEP", "T": 0.1},
        "x": {"type": "TRANSFER_FUNCTION", "num": 9, "den": [1, 1, 9]},
        "slow": {"type": "UNIT_DELAY", "clock": "c"},
    }
    text = {"clocks": {"c": {"T": 0.1}}, "blocks": blocks, "wires": ["u -> x", "x -> slow"],
            "run": {"T": 0.5, "every": 0.1, "rtol": 1e-4}}  # fmt: skip
    (tmp_path / "made.yaml").write_text(json.dumps(text))
    together = readings(tmp_path / "made.yaml")
    monkeypatch.setattr(measuring, "MOST_PANELS", 1)
    for gauge, alone in readings(tmp_path / "made.yaml").items():
        for name, values in alone.items():
            np.testing.assert_allclose(
                together[gauge][name], values, rtol=1e-12, err_msg=str(gauge)
            )

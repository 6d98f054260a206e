"""Numbers that pages report of runs are those of runs now."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom

from spart_blocks.cli import main
from spart_blocks.sweeps.statistics.anytime import bounds

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def spart(capsys, monkeypatch, tmp_path):
    """spart(...): what a command prints, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        main([str(word) for word in words])
        captured = capsys.readouterr()
        return captured.out

    return call


def shown(page, start, fence="```text\n"):
    """The lines of a page's block that has this start."""
    blocks = (DOCS / page).read_text(encoding="utf-8").split(fence)[1:]
    (block,) = [part.split("```")[0] for part in blocks if part.startswith(start)]
    return [line for line in block.splitlines() if line and line != "..."]


def test_the_table_of_comparing_controllers(spart):
    printed = spart("compare", ROOT / "diagrams" / "spacecraft_controllers.yaml")
    lines = [re.sub(" +", " ", line) for line in printed.splitlines()]
    for line in shown("comparing.md", "tracking"):
        assert re.sub(" +", " ", line) in lines


def test_the_failures_of_a_servo_with_another_gain(spart, tmp_path):
    page = (DOCS / "testing.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(# file: servo_test.yaml\n.*?)```", page, re.DOTALL)
    (tmp_path / "servo_test.yaml").write_text(text)
    spart("test", "servo_test.yaml", "--update")
    (tmp_path / "servo_test.yaml").write_text(text.replace("K: 40", "K: 42"))
    printed = spart("test", "servo_test.yaml")
    claims = re.findall(r"^ +(servo_test.yaml:.*)$", page, re.MULTILINE)
    assert len(claims) == 2
    for claim in claims:
        assert claim in printed


def figure(page, pattern):
    """The numbers of a page at the groups of a pattern, in which a space is any white space."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(pattern.replace(" ", r"\s+"), text, re.DOTALL)
    assert found, f"{page} has no {pattern!r}"
    return [float(group.replace(",", "")) for group in found.groups()]


def test_how_often_an_interval_holds_that_is_looked_at_after_each_run():
    """The exact probability: of the numbers of successes, those outside are dropped each time."""
    p, runs, percent = figure(
        "sweep_statistics.md",
        r"probability of ([\d.]+) and ([\d,]+) runs, .*? all times with a probability of only "
        r"(\d+) %",
    )
    n = np.arange(int(runs) + 1)
    low, high = binom.ppf(0.025, n, p), binom.isf(0.025, n, p)
    weights = np.array([1.0])
    for m in range(1, int(runs) + 1):
        weights = np.append(weights * (1 - p), 0.0) + np.append(0.0, weights * p)
        k = np.arange(m + 1)
        weights[(k < low[m]) | (k > high[m])] = 0.0
    assert round(100 * weights.sum()) == percent


def test_what_a_confidence_sequence_costs():
    """With as many failures as are expected. n: runs after which the interval has the width."""
    least, most, few, some = figure(
        "sweep_statistics.md",
        r"price is ([\d.]+) to ([\d.]+) times .*? and ([\d.]+) to ([\d.]+) times where",
    )
    n = np.unique(np.geomspace(20, 30_000, 2000).astype(int))
    cases = [(0.5, 0.1), (0.5, 0.02), (0.9, 0.05), (0.97, 0.02), (0.99, 0.1), (0.999, 0.02),
             (0.999, 0.01)]  # fmt: skip
    for p, width in cases:
        k, failures = p * n, (1 - p) * n
        fixed = beta.isf(0.025, k + 1, failures) - beta.ppf(0.025, k, failures + 1)
        low, high = bounds(k, failures, 0.95, width)
        price = n[np.argmax(high - low <= width)] / n[np.argmax(fixed <= width)]
        rare = 1 - p <= width / 10 + 1e-12
        assert (few <= price <= some) if rare else (least <= price <= most), (p, width, price)

"""`success:` holds where the lower bound of the share of runs that pass is high enough."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import binomtest

from spart_blocks.claims.check import Manner, check_file
from spart_blocks.sweeps.storage.store import DESCRIPTION

SWEEP = "sweep: {runs: 10, over: {rate: {uniform: {low: 1, high: 2}}}}\n"


@dataclass
class Found:
    """What a sweep of n draws gives of which some fail."""

    n: int
    failing: tuple[int, ...] = ()
    complete: bool = True
    random: bool = True
    design: str = "random"
    together: int = 1
    faults: tuple[str, ...] = ()

    def labels(self):
        return np.resize(np.array(self.faults, dtype=object), self.n) if self.faults else None

    def success(self):
        return ~np.isin(np.arange(self.n), self.failing)

    def __getitem__(self, name):
        numbers = np.arange(self.n)
        return numbers if name == "run" or self.random else 0 * numbers

    def __len__(self):
        return self.n

    def save(self, folder):
        folder.mkdir(parents=True)
        (folder / DESCRIPTION).write_text(str(self.failing))


@pytest.fixture
def tried(ramp, monkeypatch):
    """tried(claim, found, plots=None): the outcome of a test whose sweep gives `found`."""

    def of(claim, found, plots=None):
        module = ModuleType("spart_blocks.sweeps.sweep")
        module.sweep = lambda file, gradients, progress: found
        monkeypatch.setitem(sys.modules, module.__name__, module)
        file = ramp(f"success: {claim}", text=ramp.text.replace("expect:", f"{SWEEP}expect:"))
        return check_file(file, manner=Manner(plots=plots))

    return of


def test_the_lower_bound_decides(tried):
    """Clopper and Pearson's one-sided bound, by SciPy's binomtest."""
    for failing in (0, 1, 5):
        found = Found(200, tuple(range(failing)))
        test = binomtest(200 - failing, 200, alternative="greater")
        low = float(test.proportion_ci(0.9, method="exact").low)
        for at_least, holds in ((low - 1e-6, True), (low + 1e-6, False)):
            outcome = tried(f"{{at_least: {at_least!r}, confidence: 0.9}}", found)
            assert outcome.passed is holds
            assert outcome.claims == 1


def test_the_first_run_that_did_not_pass_can_be_repeated(tried, tmp_path):
    folder = tmp_path / "out" / "ramp" / "sweep_of_test"
    for failing in ((21, 40), (7,)):  # the second in place of the first
        outcome = tried("{at_least: 0.999}", Found(100, failing), tmp_path / "out")
        [text] = outcome.troubles
        assert f"{100 - len(failing)} of 100 runs passed; with confidence 0.95" in text
        assert f"ramp.yaml --from-sweep {folder} --run {failing[0]}" in text
        assert (folder / DESCRIPTION).read_text() == str(failing)
    [text] = tried("{at_least: 0.999}", Found(100, (3,))).troubles
    assert "ramp.yaml --out DIR; spart run" in text
    assert "--from-sweep DIR --run 3" in text


def test_files_of_others_are_left_alone(tried, tmp_path):
    folder = tmp_path / "out" / "ramp" / "sweep_of_test"
    folder.mkdir(parents=True)
    (folder / "mine.txt").write_text("mine")
    [text] = tried("{at_least: 0.999}", Found(100, (3,)), tmp_path / "out").troubles
    assert "--from-sweep DIR --run 3" in text
    assert (folder / "mine.txt").read_text() == "mine"


def test_too_few_runs_are_told_with_the_number_that_it_takes(tried):
    [text] = tried("{at_least: 0.99}", Found(100)).troubles
    assert "100 draws are too few to show it: 299 draws do, if all pass" in text
    assert "replay" not in text
    assert not tried("{at_least: 0.99}", Found(298)).passed
    assert tried("{at_least: 0.99}", Found(299)).passed
    [text] = tried("{at_least: 1}", Found(100)).troubles
    assert "no number of draws shows a probability of 1" in text


def test_of_a_grid_the_share_decides(tried):
    assert tried("{at_least: 1}", Found(4, random=False)).passed
    outcome = tried("{at_least: 0.8}", Found(4, (2,), random=False))
    assert "3 of 4 runs passed, 0.75 of all; expected at least 0.8" in outcome.troubles[0]
    assert tried("{at_least: 0.75}", Found(4, (2,), random=False)).passed


def test_an_interrupted_sweep_interrupts_the_test(tried):
    assert tried("{at_least: 0.5}", Found(4, complete=False)).interrupted


def test_draws_of_a_base_point_count_as_one(tried):
    """300 runs of a saltelli design for one quantity are 100 base points."""
    found = Found(300, design="saltelli", together=3)
    low = float(binomtest(100, 100, alternative="greater").proportion_ci(0.9, method="exact").low)
    for at_least, holds in ((low - 1e-6, True), (low + 1e-6, False)):
        outcome = tried(f"{{at_least: {at_least!r}, confidence: 0.9}}", found)
        assert outcome.passed is holds
    assert "only a guide" in outcome.failures[0].message


def test_each_variant_and_fault_has_its_line_and_can_be_claimed(tried):
    """Of 200 draws in turn without and with a fault, 40 with it fail."""
    found = Found(200, failing=tuple(range(1, 80, 2)), faults=("none", "stuck"))
    least = [binomtest(k, 100, alternative="greater").proportion_ci(0.95).low for k in (100, 60)]
    [text] = tried("{at_least: 0.9}", found).troubles
    for name, k, low in zip(found.faults, (100, 60), least, strict=True):
        assert f"  {name}: {k} of 100 runs passed; with confidence 0.95 the" in text
        assert f"at least {low:.6g}," in text
    assert tried("{at_least: 0.7}", found).passed
    assert not tried("{at_least: 0.7, each: true}", found).passed
    assert tried(f"{{at_least: {least[1] - 1e-6:.6f}, each: true}}", found).passed

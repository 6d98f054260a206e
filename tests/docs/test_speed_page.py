"""The figures of the page on speed and of the README are those that the benchmarks have kept."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "docs" / "make_speed_page.py"))


@pytest.fixture(scope="module")
def benchmarks():
    return runpy.run_path(str(ROOT / "benchmarks" / "side_by_side.py"))


def test_pages_have_the_kept_figures(script):
    for page, text in script["pages"]().items():
        shown = page.read_text(encoding="utf-8")
        assert shown == text, f"renew {page.name}: python docs/make_speed_page.py"


def test_a_changed_figure_changes_both_pages(script, monkeypatch):
    kept = script["kept"]()
    kept["closed_loop"]["figures"]["compiled loop ratio"] = 1234.5
    monkeypatch.setitem(script["filled"].__globals__, "kept", lambda: kept)
    for page, text in script["pages"]().items():
        assert "1,230" not in page.read_text(encoding="utf-8")
        assert "1,230 |" in text


def test_each_kept_script_is_there_and_says_with_what_it_has_measured(script):
    for name, found in script["kept"]().items():
        assert "--keep" in (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
        assert found["versions"], name
        for key in ("measured", "commit", "processor", "compiler"):
            assert isinstance(found[key], str), (name, key)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (1149.6, "1,150"),
        (187.3, "187"),
        (96.7, "97"),
        (4.04, "4.0"),
        (0.06, "0.060"),
        (0.0171, "0.017"),
        (1.66e-6, "1.7e-6"),
        (3, "3"),
        (60000, "60,000"),
    ],
)
def test_figures_are_told_in_two_digits_and_large_ones_in_three(script, value, told):
    assert script["told"](value) == told


def test_kept_figures_replace_those_of_their_script_alone(benchmarks, tmp_path):
    file = tmp_path / "results.json"
    benchmarks["keep"]("benchmarks/one.py", {"old s": 1.0}, "numpy", to=file)
    benchmarks["keep"]("benchmarks/two.py", {"a s": 2.0}, to=file)
    benchmarks["keep"]("benchmarks/one.py", {"new s": 0.123456, "runs": 60_000}, to=file)
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept["one"]["figures"] == {"new s": 0.1235, "runs": 60_000}
    assert kept["two"]["figures"] == {"a s": 2.0}

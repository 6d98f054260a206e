"""A few of the broken inputs that tests/nightly/fuzz draws by the hundred thousand, of every
format: whatever comes in, a result or an error of the package comes of it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "nightly"))

from fuzz import runner
from fuzz.cases import Case, Format
from fuzz.formats import FORMATS

from spart_blocks.base.errors import InputError


@pytest.fixture(scope="module")
def ground():
    with runner.ground() as folder:
        yield folder


@pytest.fixture(autouse=True)
def _limits(monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    before = signal.signal(signal.SIGPROF, runner._alarm)
    yield
    signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_broken_input_gives_a_result_or_an_error_of_ours(form, ground):
    for number in range(max(6, int(form.share))):
        report = runner.tried(form, form.case(0, number), ground)
        assert "failure" not in report, f"--case {form.name}:{number}\n{report}"


def test_each_case_is_the_same_each_time():
    for form in FORMATS:
        first, second = form.case(3, 5), form.case(3, 5)
        assert first.files == second.files
        assert repr(first.options) == repr(second.options)


# --- the runner itself ---------------------------------------------------------------------


def fake(attempt):
    return Format("fake", 1, lambda chance: Case({"x": b"1"}), attempt)


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("attempt", "answer"),
    [
        (lambda case, ground: "fine", "fine"),
        (lambda case, ground: _raise(InputError("wrong")), "InputError"),
        (lambda case, ground: _raise(ValueError("a bug")), "FAILED"),
        (lambda case, ground: _raise(InputError("")), "FAILED"),
    ],
)
def test_a_trial_tells_what_came_of_it(attempt, answer, ground):
    report = runner.tried(fake(attempt), Case({"x": b"1"}), ground)
    assert report["answer"] == answer
    assert ("failure" in report) == (answer == "FAILED")
    assert not (ground / "x").exists()


def test_a_trial_that_takes_too_long_is_interrupted(ground, monkeypatch):
    monkeypatch.setattr(runner, "LIMIT", 0.05)

    def hang(case, ground):
        while True:
            pass

    report = runner.tried(fake(hang), Case(), ground)
    assert report["answer"] == "TOO LONG"
    assert "failure" in report


def test_a_night_counts_hangs_crashes_and_failures_and_goes_on(tmp_path, monkeypatch):
    import os

    monkeypatch.setattr(runner, "LIMIT", 0.05)
    monkeypatch.setattr(runner, "CHUNK", 8)

    def attempt(case, ground):
        number = case.options["number"]
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        while number == 4:
            pass
        return "fine" if number != 6 else _raise(KeyError("a bug"))

    numbers = iter(range(100))
    form = Format("fake", 1, lambda chance: Case({}, {"number": next(numbers)}), attempt)
    monkeypatch.setattr(runner, "_warm", lambda formats: None)
    # Each child draws from where its parent was: the number is that of the case.
    monkeypatch.setattr(Format, "case", lambda self, seed, k: Case({}, {"number": k}))
    tally = runner.night([form], 8, 0, tmp_path, told=lambda text: None)["fake"]
    assert tally.cases == 8
    assert sorted(tally.failures) == ["2", "4", "6"]
    assert tally.answers == {"fine": 5, "FAILED": 2, "TOO LONG": 1}
    again = runner.night([form], 8, 0, tmp_path, told=lambda text: None)["fake"]
    assert (again.cases, again.done) == (8, [0])
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"seed-0.json", "fake-0-2", "fake-0-4", "fake-0-6"}

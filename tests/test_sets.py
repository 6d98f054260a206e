"""The sets of tests follow from recorded durations, of tests that there are."""

import json
from pathlib import Path

import pytest
from sets import exists, recorded, sets_of, updated


def test_every_recorded_test_exists():
    gone = [case for case in recorded() if not exists(case)]
    assert not gone, "record anew: pytest --part-sets FILES"


def test_sets_follow_from_durations():
    took = {
        "tests/test_a.py::test_f[1]": 0.5, "tests/test_a.py::test_f[2]": 0.3,
        "tests/test_a.py::test_g": 1.6, "tests/test_a.py::test_no_bit_changes[x]": 4.0,
        "tests/docs/test_d.py::test_d": 9.0, "diagrams/a.yaml::a-b": 2.0,
    }  # fmt: skip
    slow, long = sets_of(took)
    assert long == {"tests/test_a.py::test_g"}
    assert slow == took.keys() - long - {"tests/test_a.py::test_f[2]"}


def test_what_is_run_is_recorded_anew_and_the_rest_stays_while_it_exists():
    here = "tests/test_sets.py::test_"
    stays = f"{here}sets_follow_from_durations"
    before = {f"{here}f[1]": 3.0, stays: 2.0, f"{here}gone": 2.0, "tests/gone.py::test_g": 2.0}
    took = {f"{here}f[2]": 0.712, f"{here}h": 0.1}
    assert updated(before, took) == {f"{here}f[2]": 0.71, stays: 2.0}
    before, took = {f"{stays}[1]": 3.0}, {f"{stays}[2]": 0.7}
    assert updated(before, took) == took
    assert updated(before, took, whole=False) == before | took


@pytest.mark.parametrize("way", [("-p", "no:xdist"), ("-n", "2")], ids=["alone", "xdist"])
def test_named_tests_are_all_run_and_a_plain_call_leaves_out_the_slow(pytester, way):
    here = Path(__file__).parent
    pytester.makeini("[pytest]\ntestpaths = tests\n")
    folder = pytester.mkdir("tests")
    (folder / "sets.py").write_text((here / "sets.py").read_text("utf-8"))
    (folder / "conftest.py").write_text("pytest_plugins = ['sets']\n")
    (folder / "test_a.py").write_text(
        "def test_quick(): pass\ndef test_slow(): pass\ndef test_long(): pass\n"
    )
    durations = {"tests/test_a.py::test_slow": 0.6, "tests/test_a.py::test_long": 1.6}
    (folder / "durations.json").write_text(json.dumps(durations))

    def passed(*more):
        run = pytester.runpytest_subprocess("-p", "no:cacheprovider", *way, *more)
        return run.parseoutcomes()["passed"]

    assert passed() == 1
    assert passed("tests/test_a.py") == 3
    assert passed("-m", "slow") == 1
    assert passed("-m", "long") == 1
    assert passed("-k", "long") == 1
    assert passed("-m", "slow or long or not slow") == 3
    assert passed("--part-sets", "tests/test_a.py") == 3
    assert json.loads((folder / "durations.json").read_text()) == {}

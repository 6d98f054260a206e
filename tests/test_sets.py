"""The lists of slow and long tests name tests that there are."""

import re
from pathlib import Path

import pytest
from sets import LIST, LONG_LIST, read

ROOT = Path(__file__).parents[1]


def test_every_slow_test_exists():
    gone = []
    for name in (*read(LIST), *read(LONG_LIST)):
        file, _, case = name.partition("::")
        function = case.partition("[")[0] if file.endswith(".py") else ""
        path = ROOT / file
        there = path.is_file() and (
            not function or re.search(rf"^def {function}\b", path.read_text("utf-8"), re.MULTILINE)
        )
        if not there:
            gone.append(name)
    assert not gone, 'write the list anew: pytest --part-sets -m "slow or long or not slow"'


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
    (folder / "slow.txt").write_text("tests/test_a.py::test_slow\ntests/test_a.py::test_long\n")
    (folder / "long.txt").write_text("tests/test_a.py::test_long\n")

    def passed(*more):
        run = pytester.runpytest_subprocess("-p", "no:cacheprovider", *way, *more)
        return run.parseoutcomes()["passed"]

    assert passed() == 1
    assert passed("tests/test_a.py") == 3
    assert passed("-m", "slow") == 1
    assert passed("-m", "long") == 1
    assert passed("-k", "long") == 1
    assert passed("-m", "slow or long or not slow") == 3

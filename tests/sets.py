"""The sets of tests: quick, which a plain `pytest` runs, slow (`pytest -m slow`), and long.

Who belongs where follows from durations.json, the recorded processor time [s] of each case that
took SLOW or more, that of the processes it started included: it hardly depends on what else the
machine does. These are slow; cases that took LONG or more are long and run by night (`pytest -m
long`), but for those of DAILY. A case without a record is quick. Whoever names tests or folders
gets all of them. The two limits are such that on two cores the quick cases take four minutes and
`.ci/run` takes twenty.
`pytest --part-sets -m "slow or long or not slow"` measures anew; with names, those alone.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

SLOW, LONG = 0.4, 0.8  # s
EVERY_SET = "slow or long or not slow"
DAILY = ("diagrams/", "tests/docs/", "tests/test_architecture.py", "shipped", "_bit")
"""Parts of the names of tests that are never long: of pages, of shipped files, of equal bits."""
DURATIONS = Path(__file__).with_name("durations.json")


def pytest_addoption(parser):
    parser.addoption("--part-sets", action="store_true", help="record durations anew")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes a while, left out unless it is asked for")
    config.addinivalue_line("markers", "long: takes long, and runs by night")
    if hasattr(config, "workerinput"):
        config.option.markexpr = config.workerinput["markexpr"]
        return
    named = config.args_source is not config.ArgsSource.TESTPATHS
    if not (named or config.option.markexpr or config.option.keyword):
        config.option.markexpr = "not slow and not long"
    if config.option.part_sets:
        chosen = config.option.markexpr not in ("", EVERY_SET) or config.option.keyword
        config.pluginmanager.register(_Recording(whole=not chosen), "recording")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """What xdist's processes leave out is decided once."""
    node.workerinput["markexpr"] = node.config.option.markexpr


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    slow, long = sets_of(recorded())
    for item in items:
        if item.nodeid in long:
            item.add_marker(pytest.mark.long)
        elif item.nodeid in slow:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    _Clock.read = processor_time()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """xdist hands over what a report has, so each phase carries its own processor time."""
    report = yield
    now = processor_time()
    report.processor_time, _Clock.read = now - _Clock.read, now
    return report


class _Clock:
    read = 0.0


def processor_time() -> float:
    """The processor time [s] of this process and of those that it has started and seen end."""
    return sum(os.times()[:4])


def recorded() -> dict[str, float]:
    """The recorded processor times [s] by case."""
    if not DURATIONS.exists():
        return {}
    found: dict[str, float] = json.loads(DURATIONS.read_text(encoding="utf-8"))
    return found


def sets_of(durations: dict[str, float]) -> tuple[set[str], set[str]]:
    """The cases that are slow, and those that are long."""
    taken = {case for case, seconds in durations.items() if seconds >= SLOW}
    long = {
        case
        for case in taken
        if durations[case] >= LONG and not any(part in function_of(case) for part in DAILY)
    }
    return taken - long, long


def function_of(case: str) -> str:
    """A test without its case; a diagram without its variant."""
    file = case.partition("::")[0]
    return case.partition("[")[0] if file.endswith(".py") else file


def exists(case: str) -> bool:
    """Whether there is such a test function, or such a diagram."""
    file, _, function = function_of(case).partition("::")
    path = DURATIONS.parents[1] / file
    return path.is_file() and (
        not function
        or re.search(rf"^def {function}\b", path.read_text("utf-8"), re.MULTILINE) is not None
    )


def updated(
    before: dict[str, float], took: dict[str, float], *, whole: bool = True
) -> dict[str, float]:
    """Durations after tests were run: these are recorded anew, the others that exist stay. whole:
    all cases of the tests were run, so that none is left of before.
    """
    ran = {function_of(case) for case in took} if whole else set()
    kept = {
        case: seconds
        for case, seconds in before.items()
        if case not in took and function_of(case) not in ran and exists(case)
    }
    fresh = {case: round(seconds, 2) for case, seconds in took.items() if seconds >= SLOW}
    return dict(sorted((kept | fresh).items()))


class _Recording:
    """Notes how much processor time each case took. whole: no set or name is left out."""

    def __init__(self, *, whole: bool):
        self.whole = whole
        self.took: dict[str, float] = {}

    def pytest_runtest_logreport(self, report):
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.processor_time

    def pytest_sessionfinish(self):
        text = json.dumps(updated(recorded(), self.took, whole=self.whole), indent=0)
        DURATIONS.write_text(f"{text}\n", encoding="utf-8")

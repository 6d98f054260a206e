"""The sets of tests: quick, which a plain `pytest` runs, slow (`pytest -m slow`), and long.

Slow is what slow.txt lists: functions of which a case took longer than SLOW, and diagrams that
did. Long is what long.txt lists: cases of these that took longer than LONG, which run by night
(`pytest -m long`), but for those of the documentation. Whoever names tests or folders gets all of
them. `pytest --part-sets -m "slow or long or not slow"` measures anew and writes the lists.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SLOW, LONG = 0.5, 1.2  # s
LIST, LONG_LIST = (Path(__file__).with_name(name) for name in ("slow.txt", "long.txt"))


def pytest_addoption(parser):
    parser.addoption("--part-sets", action="store_true", help="write the lists of sets anew")


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
        config.pluginmanager.register(_Parting(), "parting")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """What xdist's processes leave out is decided once."""
    node.workerinput["markexpr"] = node.config.option.markexpr


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    slow, long = (frozenset(read(path)) for path in (LIST, LONG_LIST))
    for item in items:
        if item.nodeid in long:
            item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "slow"]
            item.add_marker(pytest.mark.long)
        elif _function(item.nodeid) in slow:
            item.add_marker(pytest.mark.slow)


def read(path: Path) -> list[str]:
    """What a list names, a line each."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _function(nodeid: str) -> str:
    """A test without its case; a diagram without its variant."""
    file = nodeid.partition("::")[0]
    return nodeid.partition("[")[0] if file.endswith(".py") else file


class _Parting:
    """Notes how long each case took."""

    def __init__(self):
        self.took: dict[str, float] = {}

    def pytest_runtest_logreport(self, report):
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self):
        slow = {_function(case) for case, seconds in self.took.items() if seconds > SLOW}
        long = {
            case
            for case, seconds in self.took.items()
            if seconds > LONG and not case.startswith("tests/docs/")
        }
        for path, names in ((LIST, slow), (LONG_LIST, long)):
            path.write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")

"""The sets of tests: quick, which a plain `pytest` runs, and the slow rest (`pytest -m slow`).

Slow is what slow.txt lists: functions of which a case took longer than SLOW, and diagrams that
did. Whoever names tests or folders gets all of them. `pytest --part-sets -m "slow or not slow"`
measures anew and writes the list.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SLOW = 0.7  # s
LIST = Path(__file__).with_name("slow.txt")


def pytest_addoption(parser):
    parser.addoption("--part-sets", action="store_true", help="write tests/slow.txt anew")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long, and is left out unless it is asked for")
    if hasattr(config, "workerinput"):
        config.option.markexpr = config.workerinput["markexpr"]
        return
    named = config.args_source is not config.ArgsSource.TESTPATHS
    if not (named or config.option.markexpr or config.option.keyword):
        config.option.markexpr = "not slow"
    if config.option.part_sets:
        config.pluginmanager.register(_Parting(), "parting")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """What xdist's processes leave out is decided once."""
    node.workerinput["markexpr"] = node.config.option.markexpr


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    slow = frozenset(LIST.read_text(encoding="utf-8").split())
    for item in items:
        if _function(item.nodeid) in slow:
            item.add_marker(pytest.mark.slow)


def _function(nodeid: str) -> str:
    """A test without its case; a diagram without its variant."""
    file = nodeid.partition("::")[0]
    return nodeid.partition("[")[0] if file.endswith(".py") else file


class _Parting:
    """Notes how long each function took at most."""

    def __init__(self):
        self.longest: dict[str, float] = {}

    def pytest_runtest_logreport(self, report):
        name = _function(report.nodeid)
        self.longest[name] = max(self.longest.get(name, 0.0), report.duration)

    def pytest_sessionfinish(self):
        slow = sorted(name for name, seconds in self.longest.items() if seconds > SLOW)
        LIST.write_text("\n".join(slow) + "\n", encoding="utf-8")

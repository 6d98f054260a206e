"""Loading pauses Python's search for cyclic garbage, and only while it loads."""

import gc

import pytest

import spart_blocks as sb
from spart_blocks.diagram.build.paused_collector import collector_paused


@pytest.fixture
def collector():
    was_on = gc.isenabled()
    gc.enable()
    yield
    gc.enable() if was_on else gc.disable()


def test_the_collector_is_off_within_and_on_afterwards(collector):
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_load_that_fails_leaves_the_collector_on(collector, tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text("blocks: {a: {type: NOTHING}}\n")
    with pytest.raises(sb.DiagramError):
        sb.load(file)
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off(collector):
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()

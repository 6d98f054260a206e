"""`spart run --record`."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcap.reader import make_reader
from test_sweep_command import STUDY

from spart_blocks.base import errors

SPACECRAFT = Path(__file__).parents[2] / "diagrams" / "spacecraft_pd.yaml"


def counts(path):
    with open(path, "rb") as stream:
        summary = make_reader(stream, validate_crcs=True).get_summary()
    names = {number: channel.topic for number, channel in summary.channels.items()}
    return {names[k]: n for k, n in summary.statistics.channel_message_counts.items()}


def test_a_run_is_recorded_with_its_robots(spart):
    answer = spart("run", SPACECRAFT, "--t", 1, "--record", "run.mcap")
    assert answer.code == 0
    assert "  run.mcap\n" in answer.out
    found = counts("run.mcap")
    assert found["/plant/qm"] == found["/tf"] == found["/joint_states"] > 10
    assert found["/scene"] == found["/robot_description"] == 1


def test_what_a_failed_run_computed_is_recorded(spart):
    Path("failing.yaml").write_text(FAILING, encoding="utf-8")
    answer = spart("run", "failing.yaml", "--record", "run.mcap")
    assert answer.code == 1
    assert counts("run.mcap")["/log"] == 1


FAILING = """
name: failing
blocks:
  one: {type: CONSTANT, value: 1.0}
  time: {type: TIME}
  gap: {type: SUM, signs: "+-"}
  inverse: {type: POW, p: -1}
  int: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires: [one -> gap.0, time -> gap.1, gap -> inverse, inverse -> int, int -> scope]
run: {T: 5}
"""


def test_a_run_of_a_sweep_is_recorded_as_it_was(spart):
    Path("study.yaml").write_text(STUDY, encoding="utf-8")
    spart("sweep", "study.yaml", "-q")
    answer = spart(
        *("run", "--from-sweep", "out/study-sweep", "--run", 3, "--record", "run.mcap"),
    )
    assert answer.code == 0
    assert counts("run.mcap")["/int"] > 2


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("run.bag", "--record run.bag: the file type is not known\n  end it in .mcap"),
        ("no/run.mcap", "there is no folder no"),
    ],
)
def test_a_file_that_could_not_be_written_is_told_before_the_run(spart, name, told):
    answer = spart("run", SPACECRAFT, "--record", name)
    assert answer.code == 2
    assert told in answer.err
    assert "running" not in answer.err


def test_a_missing_package_is_told_before_the_run(spart, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(errors, "import_module", missing)
    answer = spart("run", SPACECRAFT, "--record", "run.mcap")
    assert answer.code == 2
    assert "[mcap]" in answer.err
    assert "running" not in answer.err

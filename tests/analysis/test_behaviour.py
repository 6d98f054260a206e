"""The signals of two versions of a diagram that differ, by how much and from when on."""

from __future__ import annotations

import json

import pytest

from spart_blocks.analysis.behaviour import compare_behaviour
from spart_blocks.base.errors import InputError, RunError
from spart_blocks.cli import main
from spart_blocks.versions.differences import signal_names, two_sides

RAMP = """
subsystems:
  lead:
    inputs: [u]
    outputs: [y]
    blocks: {g: {type: GAIN, K: 1}}
    wires: [in.u -> g, g -> out.y]
blocks:
  on: {type: STEP, T: 1}
  part: {type: lead}
  x: {type: INTEGRATOR}
  same: {type: RAMP}
  scope: {type: SCOPE}
wires: [on -> part, part -> x, x -> scope]
run: {T: 3}
"""


@pytest.fixture
def sides(tmp_path):
    """sides(old, new): the paths of two files."""

    def sides(old, new):
        paths = tmp_path / "old.yaml", tmp_path / "new.yaml"
        for path, text in zip(paths, (old, new), strict=True):
            path.write_text(text)
        return tuple(map(str, paths))

    return sides


def behaviour(paths, **options):
    with two_sides(*paths) as (old, new):
        return compare_behaviour(old, new, signal_names(old, new), **options)


def test_a_ramp_of_another_slope_differs_from_its_start(sides):
    """x is t - 1 and 3 (t - 1) from 1 s on: apart by 4 at 3 s, where it is 6."""
    found = behaviour(sides(RAMP, RAMP.replace("K: 1", "K: 3")))
    moved = {one.signal: one for one in found.moved}
    assert set(moved) == {"part/g", "x"}
    x = moved["x"]
    assert x.largest == pytest.approx(4.0, rel=1e-5)
    assert x.relative == pytest.approx(4 / 6, rel=1e-5)
    assert x.at == pytest.approx(3.0)
    assert 1.0 < x.first < 1.01
    assert moved["part/g"].first == pytest.approx(1.0, abs=2e-3)
    assert found.same == 2
    assert found


def test_renamed_blocks_and_subsystems_are_the_same_signals(sides):
    other = RAMP.replace("lead", "front").replace("part", "first").replace("x:", "state:")
    other = other.replace("-> x, x ->", "-> state, state ->").replace("{g:", "{h:")
    other = other.replace("in.u -> g, g -> out.y", "in.u -> h, h -> out.y")
    found = behaviour(sides(RAMP, other))
    assert not found
    assert (found.only_old, found.only_new) == ((), ())
    assert found.names["part/g"] == "first/h"


def test_the_shorter_run_is_compared(sides):
    found = behaviour(sides(RAMP, RAMP.replace("T: 3", "T: 2")))
    assert found.until == 2
    assert not found
    assert behaviour(sides(RAMP, RAMP), T=0.5).until == 0.5


def test_signals_of_one_side_alone_are_listed(sides):
    found = behaviour(sides(RAMP, RAMP.replace("  same: {type: RAMP}\n", "  y: {type: TIME}\n")))
    assert (found.only_old, found.only_new) == (("same",), ("y",))


def test_a_vector_is_told_by_its_element(sides):
    text = "blocks: {c: {type: CONSTANT, value: [1, %s]}, s: {type: SCOPE, labels: [a, b]}}\n"
    text += "wires: [c -> s]\n"
    (moved,) = behaviour(sides(text % 2, text % 5)).moved
    assert (moved.signal, moved.element) == ("c", "c[1]")
    assert moved.largest == pytest.approx(3)
    assert moved.first == 0


def test_a_side_that_is_not_there_or_fails_is_told(sides):
    paths = sides(RAMP, RAMP.replace("type: lead", "type: nothing"))
    with pytest.raises(InputError, match="nothing"):
        behaviour(paths)
    with pytest.raises(InputError, match="no diagram"):
        behaviour((paths[0], "/dev/null"))
    burst = "blocks: {x: {type: INTEGRATOR, x0: 1}, f: {type: FCN, expression: u**2}}\n"
    burst += "wires: [x -> f, f -> x]\nrun: {T: 2}\n"
    paths = sides(RAMP, burst)
    with pytest.raises(RunError, match=r"the run of .*new.yaml failed"):
        behaviour(paths)


def test_the_command_lists_and_draws_them(sides, tmp_path, capsys):
    paths = sides(RAMP, RAMP.replace("K: 1", "K: 3"))
    plots = tmp_path / "plots"
    assert main(["diff", *paths, "--behaviour", "--plots", str(plots)]) == 1
    told = capsys.readouterr().out
    assert "behaviour to t = 3 s" in told
    assert "~ x: differs by 4 (66.67%) at 3 s" in told
    assert sorted(path.name for path in plots.iterdir()) == ["part_g.png", "x.png"]
    assert main(["diff", *paths, "--behaviour", "-f", "json"]) == 1
    data = json.loads(capsys.readouterr().out)["behaviour"]
    assert {one["signal"] for one in data["moved"]} == {"part/g", "x"}
    assert main(["diff", *paths, "--behaviour", "-f", "markdown"]) == 1
    assert "- `~ x: differs by 4" in capsys.readouterr().out

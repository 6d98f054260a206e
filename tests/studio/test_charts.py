"""The charts of state machines, as the page gets them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from asking import Asking
from chart_pages import MODES

PART = """\
inputs: [u]
outputs: [y]
blocks:
  law: {type: STATE_MACHINE, states: {a: {}, b: {}}, initial: a}
wires: [in.u -> law, law -> out.y]
"""
WHOLE = """\
subsystems:
  part:
    inputs: [u]
    outputs: [y]
    blocks:
      law: {type: STATE_MACHINE, states: {a: {}, b: {}}, initial: a}
    wires: [in.u -> law, law -> out.y]
blocks:
  u: {type: CONSTANT, value: [1, 2, 3]}
  copies: {type: part, for_each: 3}
  other: {use: part.yaml}
  one: {type: CONSTANT, value: 1}
wires: [u -> copies.u, one -> other.u]
run: {T: 1}
"""


@pytest.fixture
def asking(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    (tmp_path / "part.yaml").write_text(PART)
    return Asking(tmp_path)


def chart_of(asking, text, at):
    (asking.session.root / "it.yaml").write_text(text)
    asking.ok("open", path="it.yaml")
    return asking.ok("sheet", path="it.yaml", at=at)


def test_a_machine_opens_as_a_chart_of_its_states_and_transitions(asking):
    sheet = chart_of(asking, MODES, "modes")
    chart = sheet["chart"]
    assert (sheet["within"], sheet["blocks"], sheet["wires"]) == ("", [], [])
    assert [(one["name"], one["number"], one["entered"]) for one in chart["states"]] == [
        ("detumble", 1, "first"), ("operate", None, ""), ("point", 2, "first"),
        ("dump", 3, ""), ("safe", 4, "")]  # fmt: skip
    assert [one["when"] for one in chart["transitions"]] == [
        "[abs(rate) < 0.02]", "after 2 s", "after 0.25 s", "[t > 8 and active(dump)]"]  # fmt: skip
    assert [line["text"] for line in chart["states"][0]["lines"]] == ["during: torque = -2*rate"]
    top = asking.ok("sheet", path="it.yaml", at="")
    assert [one["opens"] for one in top["blocks"]] == ["modes", None, None]


def test_charts_in_copies_and_in_other_files_are_shown(asking):
    copies = chart_of(asking, WHOLE, "copies/law")
    assert (copies["within"], copies["chart"]["path"]) == ("part", "subsystems.part.blocks.law")
    assert copies["chart"]["block"] == "copies/*/law"
    other = asking.ok("sheet", path="it.yaml", at="other/law")
    assert other["within"] is None
    fields = [field for state in other["chart"]["states"] for field in state["fields"]]
    assert {field["path"] for field in fields} == {""}


def test_mistakes_are_at_their_states_and_transitions(asking):
    wrong = MODES.replace("torque: 0.5", "torq: 0.5").replace("to: dump,", "to: dmp,")
    chart = chart_of(asking, wrong, "modes")["chart"]
    found = {one["name"]: one["problems"] for one in chart["states"] if one["problems"]}
    assert list(found) == ["dump"]
    assert "there is no variable 'torq'" in found["dump"][0]["message"]
    assert found["dump"][0]["path"] == "blocks.modes.states.operate.states.dump.entry.torq"
    lost = chart["transitions"][1]
    assert lost["lines"] == []
    assert "there is no state 'dmp'" in lost["problems"][0]["message"]


@pytest.mark.parametrize("section", ["{}", "[1]", "{a: 1, b: [x]}", "{a: {states: {a: {}}}}", "x"])
def test_a_machine_that_cannot_be_read_has_a_chart_too(asking, section):
    machine = f"{{type: STATE_MACHINE, states: {section}, transitions: [1, {{from: 2}}]}}"
    text = f"blocks:\n  u: {{type: TIME}}\n  m: {machine}\nwires: [u -> m]\n"
    chart = chart_of(asking, text, "m")["chart"]
    assert len(chart["transitions"]) == 2
    every = [chart, *chart["states"], *chart["transitions"]]
    assert any(one["problems"] for one in every)


def test_sixty_states_lie_apart(asking):
    states = ", ".join(f"s{k}: {{}}" for k in range(60))
    ways = ", ".join(f"{{from: s{k}, to: s{k + 1}, after: 1}}" for k in range(59))
    text = (
        "blocks: {m: {type: STATE_MACHINE, initial: s0, "
        f"states: {{{states}}}, transitions: [{ways}]}}}}"
    )
    chart = chart_of(asking, text, "m")["chart"]
    ends = [(one["y"], one["y"] + one["height"]) for one in chart["states"]]
    assert len(ends) == 60
    assert all(a[1] < b[0] for a, b in pairwise(ends))


def test_a_new_machine_is_one_that_runs(asking):
    (asking.session.root / "it.yaml").write_text("blocks: {u: {type: TIME}}\nwires: []\n")
    asking.ok("open", path="it.yaml")
    add = {"op": "add", "name": "m", "type": "STATE_MACHINE", "within": ""}
    wire = {"op": "wire", "source": "u", "target": "m", "within": ""}
    assert asking.edit("it.yaml", add, wire)["opened"]["problems"] == []
    chart = asking.ok("sheet", path="it.yaml", at="m")["chart"]
    assert [state["name"] for state in chart["states"]] == ["off", "on"]

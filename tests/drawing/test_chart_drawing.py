"""The picture of a state machine shows every state within its own, and every transition."""

from __future__ import annotations

import pytest
from lxml import etree

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.chart_drawing import draw_machine
from spart_blocks.drawing.figures import figure_of

TEXT = """
blocks:
  time: {type: TIME}
  other: {type: GAIN, K: 1}
  modes:
    type: STATE_MACHINE
    outputs: {y: 0}
    initial: off
    states:
      off: {}
      on:
        entry: {y: "2*u"}
        initial: slow
        history: true
        states: {slow: {}, fast: {during: {y: 3}}}
    transitions:
      - {from: off, to: on, when: u > 1, do: {y: 1}}
      - {from: slow, to: fast, after: 2, when: u > 3}
      - {from: [off, on], to: off, after: 5}
wires: ["time -> modes, other"]
"""


@pytest.fixture
def diagram(tmp_path):
    path = tmp_path / "modes.yaml"
    path.write_text(TEXT)
    return sb.load(path)


def extents(figure):
    """The boxes of the states by name, and all texts with theirs."""
    axis = figure.axes[0]
    figure.canvas.draw()
    states = {p.get_gid().removeprefix("state "): p.get_window_extent() for p in axis.patches
              if (p.get_gid() or "").startswith("state ")}  # fmt: skip
    return states, [(text.get_text(), text.get_window_extent()) for text in axis.texts]


def test_every_state_is_in_its_own_and_every_text_is_readable(diagram):
    states, texts = extents(figure_of(draw_machine(diagram, "modes")))
    assert set(states) == {"off", "on", "slow", "fast"}
    for inner in ("slow", "fast"):
        corners = states[inner].corners()
        assert all(states["on"].contains(*corner) for corner in corners)
    for a, b in (("off", "on"), ("slow", "fast")):
        assert not states[a].overlaps(states[b])
    shown = [text for text, _ in texts]
    for text in ("1: [u > 1]", "/ y = 1", "after 2 s [u > 3]", "2: after 5 s", "after 5 s",
                 "entry: y = 2*u", "during: y = 3", "H", "1", "2", "3"):  # fmt: skip
        assert text in shown, text
    for k, (text, box) in enumerate(texts):
        for other, also in texts[:k]:
            assert not box.overlaps(also), f"{text} lies on {other}"


def test_every_transition_is_a_line_in_the_file(diagram, tmp_path):
    diagram.show(tmp_path / "modes.svg", block="modes")
    root = etree.parse(tmp_path / "modes.svg").getroot()
    ids = {e.get("id") for e in root.iter() if (e.get("id") or "").startswith("transition")}
    ways = ("off -> on", "slow -> fast", "off -> off", "on -> off")
    assert ids == {f"transition {way}" for way in ways}


@pytest.mark.parametrize(("name", "told"), [("other", "is no state machine"), ("mode", "modes")])
def test_what_is_no_machine_is_told(diagram, name, told):
    with pytest.raises(InputError, match=told):
        draw_machine(diagram, name)


def test_a_machine_beside_a_solved_loop_is_drawn(tmp_path):
    loop = "  sum: {type: SUM, signs: '+-'}\n  half: {type: GAIN, K: 0.5}\nwires: [time -> sum.0, "
    text = TEXT.replace("wires: [", loop + "sum -> half, half -> sum.1, ")
    (tmp_path / "d.yaml").write_text(f"{text}run: {{algebraic_loops: solve}}\n")
    assert draw_machine(sb.load(tmp_path / "d.yaml"), "modes").shapes

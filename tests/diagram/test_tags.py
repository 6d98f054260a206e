"""GOTO and FROM: a signal by its tag."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError
from spart_blocks.diagram.network.flatten import flatten

LOCAL = """\
blocks:
  ramp: {type: RAMP, slope: [1, 2], T: 0}
  send: {type: GOTO, tag: speed}
  take: {type: FROM, tag: speed}
  again: {type: FROM, tag: speed}
  g: {type: GAIN, K: 3}
  i: {type: INTEGRATOR, x0: [0, 0]}
wires: [ramp -> send, take -> g, again -> i]
run: {T: 1, log: [g, take]}
"""
GLOBAL = """\
subsystems:
  loop:
    outputs: [y]
    blocks:
      take: {type: FROM, tag: speed}
      own: {type: FROM, tag: local}
      c: {type: CONSTANT, value: 5}
      to: {type: GOTO, tag: local}
      up: {type: GOTO, tag: result, scope: global}
      s: {type: SUM}
    wires: [take -> s.0, own -> s.1, c -> to, s -> out.y, s -> up]
  deep: {outputs: [y], blocks: {l: {type: loop}}, wires: [l -> out]}
blocks:
  one: {type: CONSTANT, value: 1}
  other: {type: CONSTANT, value: 7}
  send: {type: GOTO, tag: speed, scope: global}
  mine: {type: GOTO, tag: local}
  back: {type: FROM, tag: result}
  d: {type: deep}
  g: {type: GAIN, K: 10}
wires: [one -> send, other -> mine, back -> g]
run: {T: 1, log: [g, d.y]}
"""


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_signal_goes_by_its_tag(read, engine):
    results = sb.simulate(read(LOCAL), engine=engine)
    np.testing.assert_allclose(results["g"][-1], [3, 6])
    np.testing.assert_allclose(results["i"][-1], [0.5, 1])
    np.testing.assert_allclose(results["take"][-1], [1, 2])


def test_tags_are_no_part_of_the_program(read):
    assert [node.name for node in flatten(read(LOCAL).bd).nodes] == ["ramp", "g", "i"]


def test_a_global_tag_is_known_in_subsystems_and_a_tag_of_their_own_comes_first(read):
    results = sb.simulate(read(GLOBAL))
    assert results["d.y"][-1] == 6
    assert results["g"][-1] == 60


def test_in_python_too():
    bd = sb.new_diagram("tags")
    send, take = bd.GOTO("x", name="send"), bd.FROM("x", name="take")
    g = bd.GAIN(2, name="g")
    bd.connect(bd.CONSTANT(4, name="c"), send)
    bd.connect(take, g)
    assert sb.simulate(bd, T=1, log=["g"])["g"][-1] == 8


WRONG = {
    "no such tag": (
        LOCAL.replace("again: {type: FROM, tag: speed}", "again: {type: FROM, tag: sped}"),
        5, "again (FROM): there is no GOTO with the tag 'sped'", "did you mean 'speed'?",
    ),
    "no goto": (
        "blocks: {f: {type: FROM, tag: a}, g: {type: GAIN}}\nwires: [f -> g]\n",
        1, "f (FROM): there is no GOTO with the tag 'a'", "{type: GOTO, tag: a}",
    ),
    "two": (
        LOCAL.replace("again: {type: FROM,", "again: {type: GOTO,").replace("again -> i", "g -> i")
        .replace("ramp -> send", '"ramp -> send, again"'),
        5, "two GOTO blocks have the tag 'speed'", "a tag has one source",
    ),
    "a local one elsewhere": (
        GLOBAL.replace("speed, scope: global", "speed"),
        5, "d/l/take (FROM): there is no GOTO with the tag 'speed'", "that of send is for its own",
    ),
    "two for all": (
        GLOBAL.replace("  d: {type: deep}", "  d: {type: deep}\n  e: {type: deep}"),
        9, "two GOTO blocks have the tag 'result'", "",
    ),
    "no tag": ("blocks: {f: {type: FROM}}\n", 1, "f (FROM) needs tag", ""),
    "an empty tag": ("blocks: {f: {type: FROM, tag: ' '}}\n", 1, "tag must be a text", ""),
    "no scope": (
        LOCAL.replace("GOTO, tag: speed}", "GOTO, tag: speed, scope: all}"),
        3, "scope must be one of local, global, not 'all'", "",
    ),
    "open": ("blocks: {f: {type: GOTO, tag: a}}\n", 1, "input u of f (GOTO) has no wire", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_tag_is_reported_at_its_place(faults, case):
    text, line, message, hint = WRONG[case]
    told = [fault for fault in faults(text) if message in fault[2]]
    assert told
    assert told[0][0] == line
    assert hint in told[0][3]


CONDITIONAL = """\
subsystems:
  part:
    enabled: {by: on}
    inputs: ["on"]
    outputs: [y]
    blocks:
      c: {type: FROM, tag: a}
      s: {type: GOTO, tag: b, scope: global}
    wires: ["c -> s, out.y"]
blocks:
  one: {type: CONSTANT, value: 1}
  a: {type: GOTO, tag: a, scope: global}
  p: {type: part}
  g: {type: GAIN, K: 3}
wires: ["one -> a, p.on", p.y -> g]
run: {T: 1, log: [g]}
"""


def test_a_tag_leads_into_a_conditional_subsystem(read):
    assert sb.simulate(read(CONDITIONAL))["g"][-1] == 3


def test_a_tag_does_not_lead_out_of_a_conditional_subsystem(faults):
    text = CONDITIONAL.replace("  g: {type", "  f: {type: FROM, tag: b}\n  g: {type").replace(
        "p.y -> g", "f -> g"
    )
    ((line, _, message, hint),) = faults(text)
    assert (line, message) == (14, "f (FROM): its signal comes out of p")
    assert "which is held" in hint


def test_a_tag_that_leads_to_itself_ends_with_an_error(read):
    text = """\
    blocks:
      f: {type: FROM, tag: a}
      t: {type: GOTO, tag: a}
      g: {type: GAIN}
    wires: ["f -> t, g"]
    """
    with pytest.raises(DiagramError, match="go in a circle"):
        sb.simulate(read(text))

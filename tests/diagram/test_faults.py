"""Every mistake of a file is reported at once, with line, column and what would be right."""

from __future__ import annotations

import pytest

GOOD = """\
blocks:
  a: {type: CONSTANT, value: 1}
  g: {type: GAIN, K: 2}
  s: {type: SUM, signs: "+-"}
  d: {type: DEMUX, nout: 2}
  n: {type: "NULL"}
wires:
  - a -> g
"""


def with_block(block):
    return f"blocks:\n  {block}\n"


def with_wire(wire):
    return GOOD + f"  - {wire}\n"


CASES = {
    "not a number": (with_block("a: {type: CONSTANT, value: .nan}"), 2, 30, "must be finite", ""),
    "not a number in a list": (
        with_block("a: {type: INTEGRATOR, x0: [1, .nan]}"),
        2,
        33,
        "x0 of a (INTEGRATOR) must be finite, not .nan",
        "",
    ),
    "an initial value by its other name": (
        "clocks: {c: {T: 1}}\n" + with_block("d: {type: UNIT_DELAY, clock: c, x0: 1}"),
        3,
        35,
        "unknown parameter 'x0'",
        "'initial'",
    ),
    "a decimal comma": (
        with_block("g: {type: GAIN, K: 8,5}"),
        2,
        24,
        "unknown parameter '5'",
        "decimals have a point",
    ),
    "a number with its unit": (
        with_block("g: {type: GAIN, K: 8 V/A}"),
        2,
        22,
        "takes numbers, not '8 V/A'",
        "units are SI",
    ),
    "a time with its unit": (
        with_block("g: {type: STEP, T: 1.0 s}"),
        2,
        22,
        "takes one number",
        "units are SI",
    ),
    "an end with its unit": (f"{GOOD}run: {{T: 5s}}\n", 9, 10, "must be a number", "units are SI"),
    "a solver of Simulink": (
        f"{GOOD}run: {{solver: ode45}}\n",
        9,
        15,
        "run.solver must be 'auto', 'RK45'",
        "for ode45 write RK45",
    ),
    "a solver with fixed steps of Simulink": (
        f"{GOOD}run: {{solver: ode4}}\n",
        9,
        15,
        "not 'ode4'",
        "write RK4, with max_step as its step",
    ),
    "a name for the one port": (
        with_wire("a.out -> d"),
        9,
        7,
        "no port 'out' on a (CONSTANT): it has 0",
        "its name alone is enough, since it has one: a",
    ),
    "an animation of bdsim": (
        with_block("a: {type: ANIMATION}"),
        2,
        13,
        "cannot come from a file",
        "spart animate",
    ),
    "unknown section": (
        "block: {}\nblocks: {a: {type: TIME}}\n",
        1,
        1,
        "unknown key 'block'",
        "'blocks'",
    ),
    "no blocks section": ("name: x\n", 1, 1, "the file needs 'blocks'", ""),
    "no blocks": ("blocks: {}\n", 1, 9, "there are no blocks", ""),
    "no type": (with_block("a: {value: 1}"), 2, 6, "blocks.a needs 'type'", "block type"),
    "type is no text": (with_block("a: {type: 1}"), 2, 13, "must be text, not 1", ""),
    "lower case": (with_block("a: {type: time}"), 2, 13, "no block type 'time'", "'TIME'"),
    "misspelt type": (with_block("a: {type: CONSTNT}"), 2, 13, "no block type", "'CONSTANT'"),
    "unknown parameter": (
        with_block("a: {type: CONSTANT, valu: 1}"),
        2,
        23,
        "unknown parameter 'valu' of a (CONSTANT): it has value",
        "'value'",
    ),
    "block options": (with_block("a: {type: TIME, bd: 1}"), 2, 19, "unknown parameter 'bd'", ""),
    "framework options": (
        with_block("a: {type: SCOPE, movie: x.mp4}"),
        2,
        20,
        "unknown parameter 'movie'",
        "",
    ),
    "missing parameter": (with_block("a: {type: LTI_SS, A: 1}"), 2, 6, "needs B and C", ""),
    "missing clock": (with_block("a: {type: ZOH}"), 2, 6, "a (ZOH) needs clock", "none yet"),
    "unknown clock": (
        "clocks: {fast: {T: 1}}\nblocks:\n  a: {type: ZOH, clock: fats}\n",
        3,
        25,
        "there is no clock 'fats'",
        "'fast'",
    ),
    "text for a number": (
        with_block("a: {type: GAIN, K: two}"),
        2,
        22,
        "K of a (GAIN) takes numbers, not 'two'",
        "",
    ),
    "function type": (
        with_block("a: {type: FUNCTION}"),
        2,
        13,
        "cannot come from a file",
        "Python",
    ),
    "module import": (
        with_block("a: {type: SUBSYSTEM, subsys: os}"),
        2,
        13,
        "cannot come from a file",
        "subsystems:",
    ),
    "callable": (
        with_block("a: {type: STOP, func: f}"),
        2,
        25,
        "takes a Python function",
        "Python",
    ),
    "open file": (with_block("a: {type: PRINT, file: f}"), 2, 26, "takes an open file", "Python"),
    "constructor": (with_block('a: {type: SUM, signs: "+*"}'), 2, 6, "a (SUM): invalid sign", ""),
    "ports": (with_block("a: {type: MUX, nin: 9999999999}"), 2, 23, "it must be 1 to 1000", ""),
    "negative ports": (with_block("a: {type: MUX, nin: -3}"), 2, 23, "must be 1 to 1000", ""),
    "float ports": (with_block("a: {type: MUX, nin: 2.5}"), 2, 23, "it must be a number", "many"),
    "no ports": (with_block("a: {type: DEMUX, nout: [2]}"), 2, 26, "it must be a number", "many"),
    "mapping of lines": (
        with_block("a: {type: SCOPE, vector: {a: 1}}"),
        2,
        28,
        "it must be a number",
        "a list of indices",
    ),
    "mapping for numbers": (
        with_block("a: {type: STEP, off: [1, 2], on: {b: 1}}"),
        2,
        36,
        "takes numbers",
        "",
    ),
    "rows of no length": (
        with_block("a: {type: INTEGRATOR, x0: [1, 2], min: [1, [2]]}"),
        2,
        46,
        "min of a (INTEGRATOR) has [2] among its numbers",
        "all rows need the same length",
    ),
    "a mapping among numbers": (
        with_block("a: {type: CONSTANT, value: [1, {b: 2}]}"),
        2,
        34,
        "value of a (CONSTANT) has {'b': 2} among its numbers",
        "a list of numbers has nothing else",
    ),
    "nothing among numbers": (
        with_block("a: {type: UNIT_DELAY, clock: c, initial: [1, null]}"),
        2,
        48,
        "initial of a (UNIT_DELAY) has None among its numbers",
        "a list of numbers has nothing else",
    ),
    "rows of two lengths": (
        with_block("a: {type: GAIN, K: [[1, 2], [3]]}"),
        2,
        31,
        "K of a (GAIN) has rows of 2 and of 1 numbers",
        "all rows need the same length",
    ),
    "times": (with_block("a: {type: STEP, T: [1, 2]}"), 2, 22, "takes one number", "each time"),
    "labels": (with_block("a: {type: SCOPEXY, labels: true}"), 2, 30, "takes texts", "[x, y]"),
    "scale": (with_block("a: {type: SCOPE, scale: [1, a]}"), 2, 27, "takes limits", "auto"),
    "indices": (with_block("a: {type: SCOPEXY1, indices: [1]}"), 2, 32, "two indices", "[0, 1]"),
    "no truth": (with_block("a: {type: GAIN, premul: [1]}"), 2, 27, "takes true or false", ""),
    "ragged": (
        with_block("a: {type: GAIN, K: [[1], [1, 2]]}"),
        2,
        28,
        "has rows of 1 and of 2",
        "rows",
    ),
    "number for text": (with_block("a: {type: SUM, signs: 3}"), 2, 25, "takes text, not 3", ""),
    "shapes": (
        with_block("a: {type: STEP, off: [1, 2], on: [1, 2, 3]}"),
        2,
        6,
        "the shapes of off (2,), on (3,) differ",
        "",
    ),
    "name with a dot": (with_block("a.b: {type: TIME}"), 2, 3, "the block name 'a.b'", ""),
    "name with an arrow": (with_block("a->b: {type: TIME}"), 2, 3, "the block name 'a->b'", ""),
    "name with a space": (with_block("a b: {type: TIME}"), 2, 3, "the block name 'a b'", ""),
    "name with a slash": (with_block("a/b: {type: TIME}"), 2, 3, "the block name 'a/b'", ""),
    "empty name": (with_block('"": {type: TIME}'), 2, 3, "the block name '' is empty", ""),
    "ligature": (with_block("ﬁ: {type: TIME}"), 2, 3, "write 'fi'", ""),
    "unknown reference": (
        "params: {gain: 1}\nblocks:\n  a: {type: CONSTANT, value: $gian}\n",
        3,
        30,
        "unknown parameter $gian",
        "'gain'",
    ),
    "circle": (
        "params: {a: $b, b: [$a]}\nblocks: {t: {type: TIME}}\n",
        1,
        10,
        "parameters refer to each other in a circle: a, b",
        "",
    ),
    "parameter name": (
        "params: {k-p: 1}\nblocks: {t: {type: TIME}}\n",
        1,
        10,
        "the parameter name 'k-p'",
        "",
    ),
    "clock without period": (
        "clocks: {c: {}}\nblocks: {t: {type: TIME}}\n",
        1,
        13,
        "a clock needs either T [s] or rate [Hz]",
        "",
    ),
    "negative run": ("blocks: {t: {type: TIME}}\nrun: {T: -1}\n", 2, 10, "greater than 0", ""),
    "unknown solver": ("blocks: {t: {type: TIME}}\nrun: {solver: RK5}\n", 2, 15, "'RK45'", ""),
    "unknown run key": ("blocks: {t: {type: TIME}}\nrun: {rtoll: 1}\n", 2, 7, "'rtoll'", "'rtol'"),
    "unknown signal": (
        "blocks: {t: {type: TIME}}\nrun: {log: [u.x]}\n",
        2,
        13,
        "log 'u.x': there is no block 'u'",
        "",
    ),
    "unknown robot": (
        with_block("k: {type: KINEMATICS, robot: arm}"),
        2,
        32,
        "there is no robot 'arm'",
        "there are no robots",
    ),
}

WIRES = {
    "unknown source": ("b -> s.0", 5, "there is no block 'b'", ""),
    "unknown end": ("a -> s.0, nope", 15, "there is no block 'nope'", ""),
    "unknown output": ("a.y -> s.0", 7, "no port 'y' on a (CONSTANT): it has 0", ""),
    "unknown input": ("a -> s.7", 12, "no port '7' on s (SUM): it has 0, 1", ""),
    "into a source": ("g -> a", 10, "a (CONSTANT) has no inputs", ""),
    "out of a sink": ("n -> s.0", 5, "n (NULL) has no outputs", ""),
    "second wire": ("g -> g", 10, "input g.0 has a wire already, in line 8", "SUM"),
    "which input": ("a -> s", 10, "s (SUM) has several inputs", "name one of 0, 1"),
    "which output": ("d -> s.0", 5, "d (DEMUX) has several outputs", "name one of 0, 1"),
    "no arrow": ("a - s.0", 5, "a wire is written SOURCE -> INPUT", "arrow"),
    "two arrows": ("a -> g -> s.0", 12, "a wire has one arrow", "a -> b, c"),
    "no end": ("a -> ", 8, "a block's name is missing", ""),
    "no start": ("'-> g'", 6, "a block's name is missing", ""),
    "open slice": ("a[0 -> s.0", 5, "cannot read 'a[0'", ""),
    "bad slice": ("a[x] -> s.0", 6, "cannot read [x]", "[0:2]"),
    "zero step": ("a[::0] -> s.0", 6, "cannot step by 0", ""),
    "sliced end": ("a -> s[0]", 11, "only a source can be sliced", "s.0"),
    "quoted": ("'a -> nope'", 11, "there is no block 'nope'", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_reported_at_its_place(faults, case):
    text, line, column, message, hint = CASES[case]
    found = faults(text)
    matching = [f for f in found if f[:2] == (line, column) and message in f[2]]
    assert matching, found
    assert hint in matching[0][3]


@pytest.mark.parametrize("case", WIRES)
def test_a_wrong_wire_is_reported_at_its_column(faults, case):
    wire, column, message, hint = WIRES[case]
    found = [fault for fault in faults(with_wire(wire)) if fault[0] == 9]
    assert len(found) == 1
    assert found[0][1] == column
    assert message in found[0][2]
    assert hint in found[0][3]


def test_an_input_without_a_wire_is_a_fault(faults):
    text = "blocks:\n  a: {type: TIME}\n  s: {type: SUM}\nwires: [a -> s.1]\n"
    assert faults(text) == [(3, 3, "input 0 of s (SUM) has no wire", "add a wire to s.0")]


def test_an_input_without_a_wire_names_the_output_of_its_name(faults):
    text = (
        "blocks:\n  t: {type: TIME}\n  h: {type: HYBRID_SYSTEM, states: [p], f: '1'}\n"
        "  f: {type: FCN, arguments: [p], expression: p}\nwires: []\n"
    )
    missing = (4, 3, "input p of f (FCN) has no wire", "add a wire to f.p, as h.p -> f")
    assert faults(text) == [missing]


def test_a_file_without_blocks_is_one_fault_and_no_fault_of_each_wire(faults):
    found = faults(GOOD.replace("blocks:", "block:"))
    assert [message for _, _, message, _ in found] == [
        "the file needs 'blocks'", "unknown key 'block'",
    ]  # fmt: skip


def test_mistakes_of_all_sections_come_together_in_the_order_of_the_file(faults):
    text = """\
    nam: x
    params: {k: $z}
    clocks: {c: {T: -1}}
    subsystems: {s: {inputs: [a], blocks: {g: {type: GAINN}}, wires: []}}
    blocks:
      a: {type: CONSTANT, valu: 3}
      b: {type: GAIN, K: $zz}
      c: {type: GAIN}
    wires:
      - d -> c
    run: {T: abc, log: [x]}
    """
    found = faults(text)
    assert [fault[0] for fault in found] == [1, 2, 3, 4, 6, 7, 10, 11, 11]


def test_a_wrong_block_does_not_make_its_wires_wrong(faults):
    text = "blocks:\n  a: {type: CONST}\n  g: {type: GAIN}\nwires: [a.x -> g, g -> a.y]\n"
    assert [fault[0] for fault in faults(text)] == [2]


def test_very_many_mistakes_are_cut_short(faults):
    blocks = "\n".join(f"  b{i}: {{type: NOPE}}" for i in range(500))
    found = faults(f"blocks:\n{blocks}\n")
    assert len(found) == 101
    assert found[-1][2] == "and 400 more mistakes"


@pytest.mark.parametrize(
    "text",
    [
        "blocks:\n  gain: {type: TIME}\n"
        + "".join(f"  b{i}: {{type: GAIN}}\n" for i in range(80))
        + "wires:\n"
        + "".join(f"  - gian -> b{i}\n" for i in range(80)),
        "params: {gain: 1}\nblocks:\n"
        + "".join(f"  b{i}: {{type: CONSTANT, value: $gian}}\n" for i in range(80)),
    ],
    ids=["wires", "parameters"],
)
def test_only_the_first_fifty_mistakes_look_through_all_names_for_a_near_one(faults, text):
    hints = [hint for _, _, message, hint in faults(text) if "gian" in message]
    assert hints == ["did you mean 'gain'?"] * 50 + [""] * 30

"""A wire of a wrong shape is told at load: the wire, both shapes, and how to mend it."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import spart_blocks as sb
from spart_blocks.cli.app import app

# blocks, wires; then the wire that is wrong, what the message says of it, and what its hint says.
CASES = {
    "a vector into a lag of a number": (
        "a: {type: CONSTANT, value: [1, 2]}, end: {type: PT1, gain: 1, tau: 2}",
        ["a -> end"],
        "wire 'a -> end.u': a is (2,), end.u takes one number",
        "for a signal of 2 write width: 2 in end",
    ),
    "a sum of two lengths": (
        "a: {type: CONSTANT, value: [1, 2, 3]}, b: {type: CONSTANT, value: [1, 2]}, "
        "end: {type: SUM}",
        ["a -> end.0", "b -> end.1"],
        "wire 'b -> end.1': b is (2,), end.1 takes (3,) or one number",
        "end.0 is (3,), and a SUM adds signals of one shape",
    ),
    "a sum with a mode": (
        "a: {type: CONSTANT, value: [1, 2, 3]}, end: {type: SUM, signs: '++', mode: rc}",
        ["a -> end.0, end.1"],
        "wire 'a -> end.0': a is (3,), end.0 takes (2,)",
        "mode 'rc' of end has a letter for each entry",
    ),
    "a product of two vectors": (
        "a: {type: CONSTANT, value: [1, 2, 3]}, b: {type: CONSTANT, value: [1, 2]}, "
        "end: {type: PROD}",
        ["a -> end.0", "b -> end.1"],
        "wire 'b -> end.1': b is (2,), end.1 takes (3,), (3, n) or one number",
        "a PROD multiplies arrays as matrices, in the order of its ports",
    ),
    "a number before a vector": (
        "a: {type: CONSTANT, value: [1, 2, 3]}, n: {type: CONSTANT, value: 2}, end: {type: PROD}",
        ["n -> end.0", "a -> end.1"],
        "wire 'a -> end.1': a is (3,), end.1 takes one number",
        "wire the number to a later port than the array",
    ),
    "a division by a vector": (
        "a: {type: CONSTANT, value: [1, 2]}, n: {type: CONSTANT, value: 2}, "
        "end: {type: PROD, ops: '/*'}",
        ["a -> end.0", "n -> end.1"],
        "wire 'a -> end.0': a is (2,), end.0 takes a square matrix or one number",
        "divides by a matrix",
    ),
    "a gain from the right": (
        "a: {type: CONSTANT, value: [1, 2, 3]}, end: {type: GAIN, K: [[1, 2], [3, 4]]}",
        ["a -> end"],
        "wire 'a -> end': a is (3,), end takes (2,) or one number",
        "K of end is (2, 2), and the output u @ K",
    ),
    "a gain from the left": (
        "a: {type: CONSTANT, value: [1, 2]}, "
        "end: {type: GAIN, premul: true, K: [[1, 2, 3], [3, 4, 5]]}",
        ["a -> end"],
        "wire 'a -> end': a is (2,), end takes (3,) or one number",
        "K of end is (2, 3), and the output K @ u",
    ),
    "a gain that fits from the other side": (
        "a: {type: CONSTANT, value: [1, 2]}, end: {type: GAIN, K: [[1, 2], [3, 4], [5, 6]]}",
        ["a -> end"],
        "wire 'a -> end': a is (2,), end takes (3,) or one number",
        "premul: true",
    ),
    "an integrator of too few": (
        "a: {type: STEP, on: [1, 2, 3]}, end: {type: INTEGRATOR, x0: [1, 2]}",
        ["a -> end"],
        "wire 'a -> end': a is (3,), end takes (2,) or one number",
        "x0 of end has 2 entries; for a signal of 3 write x0: [0, 0, 0]",
    ),
    "an integrator of one": (
        "a: {type: STEP, on: [1, 2, 3]}, end: {type: INTEGRATOR}",
        ["a -> end"],
        "wire 'a -> end': a is (3,), end takes one number",
        "x0 of end has 1 entry; for a signal of 3 write x0: [0, 0, 0]",
    ),
    "a hold of one": (
        "a: {type: STEP, on: [1, 2, 3]}, end: {type: ZOH, clock: c}",
        ["a -> end"],
        "wire 'a -> end': a is (3,), end takes one number",
        "x0: [0, 0, 0]",
    ),
    "a discrete integrator": (
        "a: {type: STEP, on: [1, 2, 3]}, end: {type: INTEGRATOR_S, clock: c, x0: [1, 2]}",
        ["a -> end"],
        "wire 'a -> end': a is (3,), end takes (2,) or one number",
        "x0: [0, 0, 0]",
    ),
    "a discrete derivative": (
        "a: {type: STEP, on: [1, 2, 3]}, end: {type: DERIV_S, clock: c, x0: [1, 2]}",
        ["a -> end"],
        "wire 'a -> end': a is (3,), end takes (2,) or one number",
        "x0: [0, 0, 0]",
    ),
    "a transfer function": (
        "a: {type: STEP, on: [1, 2, 3]}, end: {type: LTI_SISO, N: 1, D: [1, 1]}",
        ["a -> end"],
        "wire 'a -> end': a is (3,), end takes one number",
        "an LTI_SISO for each entry",
    ),
    "a demultiplexer": (
        "a: {type: STEP, on: [1, 2, 3]}, end: {type: DEMUX, nout: 2}",
        ["a -> end"],
        "wire 'a -> end': a is (3,), end takes (2,)",
        "nout",
    ),
    "an index beyond": (
        "a: {type: STEP, on: [1, 2, 3]}, end: {type: INDEX, index: [1, 4]}",
        ["a -> end"],
        "wire 'a -> end': a is (3,), end takes a vector of 5 or more",
        "index",
    ),
    "a slice of a number": (
        "a: {type: STEP}, end: {type: 'NULL'}",
        ["a[0:2] -> end"],
        "wire 'a -> a[0:2]': a is one number, a[0:2] takes a vector",
        None,
    ),
    "an element of a number": (
        "a: {type: STEP}, end: {type: 'NULL'}",
        ["a[1] -> end"],
        "wire 'a -> a[1]': a is one number, a[1] takes a vector of 2 or more",
        None,
    ),
    "a part of a vector": (
        "a: {type: CONSTANT, value: [1, 2]}, end: {type: SLICE2, rows: '0:1', cols: '0:1'}",
        ["a -> end"],
        "wire 'a -> end': a is (2,), end takes a matrix",
        None,
    ),
    "a determinant": (
        "a: {type: CONSTANT, value: [1, 2]}, end: {type: DET}",
        ["a -> end"],
        "wire 'a -> end': a is (2,), end takes a square matrix",
        None,
    ),
    "limits of another length": (
        "a: {type: CONSTANT, value: [1, 2]}, end: {type: CLIP, min: [0, 0, 0], max: [1, 1, 1]}",
        ["a -> end"],
        "wire 'a -> end': a is (2,), end takes (3,)",
        "min and max of end",
    ),
    "a stop by a vector": (
        "a: {type: CONSTANT, value: [0, -1]}, end: {type: STOP}",
        ["a -> end"],
        "wire 'a -> end': a is (2,), end takes one number",
        None,
    ),
    "a scope of fewer lines": (
        "a: {type: CONSTANT, value: [1, 2]}, end: {type: SCOPE, vector: 3}",
        ["a -> end"],
        "wire 'a -> end': a is (2,), end takes (3,)",
        "vector",
    ),
}
ENDS = ("interpreter", "native")


def file_of(folder, blocks, wires):
    lines = "".join(f"  - {wire}\n" for wire in wires)
    path = folder / "diagram.yaml"
    text = f"clocks: {{c: {{T: 0.1}}}}\nblocks: {{{blocks}}}\nwires:\n{lines}run: {{T: 2}}\n"
    path.write_text(text)
    return path


@pytest.mark.parametrize("engine", ENDS)
@pytest.mark.parametrize("case", CASES)
def test_a_wire_of_a_wrong_shape_is_told_first(case, engine, tmp_path):
    blocks, wires, says, hint = CASES[case]
    path = file_of(tmp_path, blocks, wires)
    with pytest.raises(sb.DiagramError) as error:
        sb.simulate(sb.load(path), engine=engine)
    [fault] = error.value.faults
    assert fault.message == says
    assert fault.place.file == str(path)
    assert fault.place.line in range(4, 4 + len(wires))
    assert fault.place.column is not None
    assert hint is None or hint in fault.hint


@pytest.mark.parametrize("case", CASES)
def test_a_trace_tells_the_same(case, tmp_path):
    blocks, wires, says, _ = CASES[case]
    if "STOP" in blocks or "SCOPE" in blocks:
        pytest.skip("a trace leaves sinks out")
    with pytest.raises(sb.DiagramError) as error:
        sb.trace(sb.load(file_of(tmp_path, blocks, wires)))
    assert error.value.faults[0].message == says


@pytest.mark.parametrize("command", [["run", "--headless"], ["check"]])
def test_the_command_refuses_it_as_wrong_input(command, tmp_path):
    blocks, wires, says, _ = CASES["an integrator of too few"]
    path = file_of(tmp_path, blocks, wires)
    result = CliRunner().invoke(app(), [command[0], str(path), *command[1:]])
    assert result.exit_code == 2
    assert f"error: {path}:4:10: {says}" in " ".join(result.output.split("\n"))
    assert "warning" not in result.output


INNER = """
subsystems:
  loop:
    inputs: [u]
    outputs: [y]
    blocks:
      b: {type: CONSTANT, value: [1, 2]}
      s: {type: SUM, signs: "+-"}
    wires:
      - in.u -> s.0
      - b -> s.1
      - s -> out.y
blocks:
  a: {type: STEP, on: [1, 2, 3]}
  l: {type: loop}
  end: {type: INTEGRATOR, x0: [0, 0, 0]}
wires: [a -> l, l -> end]
run: {T: 2}
"""


@pytest.mark.parametrize("engine", ENDS)
def test_within_a_subsystem_too(load, engine):
    with pytest.raises(sb.DiagramError) as error:
        sb.simulate(load(INNER), engine=engine)
    [fault] = error.value.faults
    assert fault.message == "wire 'l/b -> l/s.1': l/b is (2,), l/s.1 takes (3,) or one number"
    assert (fault.place.line, fault.place.column) == (11, 14)


@pytest.mark.parametrize("engine", ENDS)
def test_into_and_out_of_a_subsystem(load, engine):
    text = INNER.replace("value: [1, 2]", "value: [1, 2, 3]")
    with pytest.raises(sb.DiagramError) as error:
        sb.simulate(load(text.replace("on: [1, 2, 3]", "on: [1, 2]")), engine=engine)
    message = "wire 'l/b -> l/s.1': l/b is (3,), l/s.1 takes (2,) or one number"
    assert error.value.faults[0].message == message
    with pytest.raises(sb.DiagramError) as error:
        sb.simulate(load(text.replace("x0: [0, 0, 0]", "x0: [0, 0]")), engine=engine)
    [fault] = error.value.faults
    assert fault.message == "wire 'l/s -> end': l/s is (3,), end takes (2,) or one number"
    assert fault.place.line == 17


@pytest.mark.parametrize("value", ["[]", "[1, 2]"])
@pytest.mark.parametrize("engine", ENDS)
def test_a_value_from_outside_is_told_where_it_comes_to_matter(tmp_path, value, engine):
    path = tmp_path / "loop.yaml"
    path.write_text(
        "params: {Kp: 3}\nblocks:\n  a: {type: STEP}\n  k: {type: GAIN, K: $Kp}\n"
        "  i: {type: INTEGRATOR}\nwires:\n  - a -> k\n  - k -> i\nrun: {T: 2}\n"
    )
    with pytest.raises(sb.DiagramError) as error:
        sb.simulate(path, overrides=[f"params.Kp={value}"], engine=engine)
    [fault] = error.value.faults
    if value == "[]":
        assert fault.message == "K of k (GAIN) takes numbers, not []"
    else:
        assert fault.message == "wire 'k -> i': k is (2,), i takes one number"
        assert "K of k is (2,)" in fault.hint
        assert fault.place.line == 8


def test_in_python_the_wire_has_no_place(diagram, wire, simulate):
    bd = diagram()
    bd.CONSTANT(np.ones(3), name="a")
    bd.INTEGRATOR(x0=[1, 2], name="i")
    wire(bd, "a -> i")
    with pytest.raises(sb.DiagramError, match=r"^wire 'a -> i': a is \(3,\), i takes \(2,\)"):
        simulate(bd, T=1)


def test_the_code_of_a_users_block_is_told_by_its_wires(diagram, wire, simulate):
    bd = diagram()
    bd.CONSTANT(np.ones(3), name="a")
    bd.CONSTANT(np.ones(2), name="b")
    bd.FUNCTION(lambda a, b: a * b, nin=2, name="f")
    bd.NULL(name="end")
    wire(bd, "a -> f.0", "b -> f.1", "f -> end")
    with pytest.raises(sb.DiagramError) as error:
        simulate(bd, T=1)
    [fault] = error.value.faults
    assert fault.message.startswith("wire 'b -> f.1': b is (2,)")
    assert "f.0 is (3,)" in fault.hint


FITTING = {
    "a number beside vectors": (
        "a: {type: CONSTANT, value: [1, 2, 3]}, n: {type: CONSTANT, value: 2}, end: {type: SUM}",
        ["a -> end.0", "n -> end.1"],
    ),
    "a vector before a number": (
        "a: {type: CONSTANT, value: [1, 2, 3]}, n: {type: CONSTANT, value: 2}, end: {type: PROD}",
        ["a -> end.0", "n -> end.1"],
    ),
    "one number into several states": (
        "a: {type: STEP}, end: {type: INTEGRATOR, x0: [1, 2]}",
        ["a -> end"],
    ),
    "a matrix before a vector": (
        "m: {type: CONSTANT, value: [[1, 2], [3, 4], [5, 6]]}, a: {type: CONSTANT, value: [1, 2]}, "
        "end: {type: PROD}",
        ["m -> end.0", "a -> end.1"],
    ),
    "limits for each": (
        "a: {type: CONSTANT, value: [1, 2]}, end: {type: CLIP, min: [0, 0], max: [1, 1]}",
        ["a -> end"],
    ),
}


@pytest.mark.parametrize("engine", ENDS)
@pytest.mark.parametrize("case", FITTING)
def test_what_fits_runs(case, engine, tmp_path):
    blocks, wires = FITTING[case]
    results = sb.simulate(sb.load(file_of(tmp_path, blocks, wires)), engine=engine)
    assert results.complete


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_an_array_without_axes_is_a_number(engine, tmp_path):
    """As SciPy's table gives it, in bdsim's INTERPOLATE; PROD multiplies arrays by @."""
    path = tmp_path / "table.yaml"
    path.write_text("""
blocks:
  table: {type: INTERPOLATE, x: [0, 2], y: [1, 5], time: true}
  three: {type: CONSTANT, value: 3}
  end: {type: PROD}
wires: [three -> end.0, table -> end.1]
run: {T: 1, log: [end]}
""")
    assert sb.simulate(path, engine=engine)["end"][-1] == pytest.approx(9, abs=1e-12)

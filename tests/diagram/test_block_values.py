"""Values of bdsim's blocks: told by block and parameter, in files and in Python alike."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb

WRONG = [
    ("GAIN", "K", "a", "'a'"),
    ("GAIN", "K", True, "True"),
    ("GAIN", "K", [1, "a"], "[1, 'a']"),
    ("STEP", "on", "a", "'a'"),
    ("STEP", "on", True, "True"),
    ("RAMP", "slope", "a", "'a'"),
    ("WAVEFORM", "amplitude", "a", "'a'"),
    ("POW", "p", "a", "'a'"),
    ("INTEGRATOR", "gain", "a", "'a'"),
]


ONLY_IN_PYTHON = [
    ("GAIN", "K", None, "takes numbers, not None"),
    ("CONSTANT", "value", "x", "takes numbers, not 'x'"),
    ("CONSTANT", "value", None, "takes numbers, not None"),
    ("CLIP", "min", "a", "takes numbers, not 'a'"),
    ("STEP", "T", [1, 2], "takes one number, not [1, 2]"),
    ("WAVEFORM", "freq", [1, 2], "takes one number, not [1, 2]"),
]


def made(kind, **arguments):
    bd = sb.new_diagram("values")
    block = getattr(bd, kind)(name="odd", **arguments)
    if block.nin:
        bd.connect(bd.CONSTANT(1.0, name="one"), block)
    bd.connect(block, bd.NULL(name="end"))
    return bd


@pytest.mark.parametrize(("kind", "key", "value", "says"), ONLY_IN_PYTHON)
def test_what_only_python_can_give(kind, key, value, says):
    with pytest.raises(sb.DiagramError) as error:
        sb.simulate(made(kind, **{key: value}), T=1)
    assert str(error.value) == f"{key} of odd ({kind}) {says}"


def test_a_constructor_that_refuses_says_of_which_block():
    with pytest.raises(TypeError) as error:
        sb.new_diagram("d").INTEGRATOR("a")
    assert "`spart blocks INTEGRATOR` shows what it takes" in error.value.__notes__[0]


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize(("kind", "key", "value", "shown"), WRONG)
def test_in_python(kind, key, value, shown, engine):
    with pytest.raises(sb.DiagramError) as error:
        sb.simulate(made(kind, **{key: value}), T=1, engine=engine)
    assert str(error.value).startswith(f"{key} of odd ({kind}) takes numbers, not {shown}")


@pytest.mark.parametrize(("kind", "key", "value", "shown"), WRONG)
def test_in_a_file(kind, key, value, shown, read):
    text = str(value).lower() if isinstance(value, bool) else value
    source = "" if kind in ("STEP", "RAMP", "WAVEFORM") else "  - one -> odd\n"
    with pytest.raises(sb.DiagramError) as error:
        read(
            "blocks:\n  one: {type: CONSTANT, value: 1}\n"
            f"  odd: {{type: {kind}, {key}: {text}}}\n"
            f"  end: {{type: 'NULL', nin: 1}}\nwires:\n{source}  - odd -> end\n"
        )
    assert f":3:{15 + len(kind) + len(key) + 4}: {key} of odd ({kind}) " in str(error.value)
    assert len(error.value.faults) == 1


@pytest.mark.parametrize("value", [np.array([]), [], ()])
def test_an_empty_gain_in_python(value):
    with pytest.raises(sb.DiagramError, match=r"K of odd \(GAIN\) takes numbers, not an empty"):
        sb.simulate(made("GAIN", K=value), T=1)


def test_in_a_subsystem_in_python():
    inner = sb.new_diagram("inner")
    into, out = inner.INPORT(1), inner.OUTPORT(1)
    inner.connect(into, inner.GAIN("a", name="k"))
    inner.connect(inner["k"], out)
    bd = sb.new_diagram("outer")
    part = bd.SUBSYSTEM(inner, name="part")
    bd.connect(bd.CONSTANT(1.0), part)
    bd.connect(part, bd.NULL())
    with pytest.raises(sb.DiagramError, match=r"^K of part/k \(GAIN\) takes numbers, not 'a'"):
        sb.simulate(bd, T=1)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("STEP", {"on": [1, 2, 3]}),
        ("STEP", {"off": np.ones(3)}),
        ("STEP", {"on": (1, 2, 3), "off": 2}),
        ("RAMP", {"slope": [1, 2, 3]}),
    ],
)
def test_a_number_beside_a_vector_is_repeated(kind, given, engine, read):
    bd = made(kind, **given)
    ours = sb.simulate(bd, T=2, engine=engine, log="odd", every=0.5)["odd"]
    listed = {key: np.asarray(value).tolist() for key, value in given.items()}
    values = ", ".join(f"{key}: {value}" for key, value in listed.items())
    text = f"blocks:\n  odd: {{type: {kind}, {values}}}\n  end: {{type: 'NULL'}}\n"
    theirs = sb.simulate(read(text + "wires: [odd -> end]"), T=2, log="odd", every=0.5)["odd"]
    assert ours.shape == theirs.shape == (len(ours), 3)
    np.testing.assert_array_equal(ours, theirs)


def test_vectors_of_two_lengths_in_python():
    with pytest.raises(sb.DiagramError, match=r"odd \(STEP\): the shapes of off \(2,\), on \(3,\)"):
        sb.simulate(made("STEP", on=[1, 2, 3], off=[0, 0]), T=1)


def test_a_constant_may_be_a_truth(read):
    text = "blocks: {a: {type: CONSTANT, value: true}, n: {type: 'NULL'}}\nwires: [a -> n]"
    assert sb.simulate(read(text), T=1).complete


@pytest.mark.parametrize("written", ["Kt", "'Kt'", "[Kt, 1]"])
def test_a_parameters_name_without_its_sign(written, read):
    text = f"params: {{Kt: 2}}\nblocks: {{k: {{type: GAIN, K: {written}}}, t: {{type: TIME}}}}\n"
    with pytest.raises(sb.DiagramError, match=r"K of k \(GAIN\) takes numbers.*") as error:
        read(text + "wires: [t -> k]")
    assert error.value.faults[0].hint == "write $Kt for the parameter Kt"


def test_a_subsystems_parameter_without_its_sign(read):
    with pytest.raises(sb.DiagramError) as error:
        read("""
subsystems:
  twice:
    inputs: [u]
    outputs: [y]
    params: {Kt: 2}
    blocks: {k: {type: GAIN, K: Kt}}
    wires: [in.u -> k, k -> out.y]
blocks: {t: {type: TIME}, two: {type: twice}, n: {type: "NULL"}}
wires: [t -> two, two -> n]
""")
    assert error.value.faults[0].hint == "write $Kt for the parameter Kt"

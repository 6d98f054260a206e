"""`sb.gradient`: gradients of smooth runs, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

import spart_blocks as sb

DECAY = """
params: {k: 3, u: [1, 2]}
blocks:
  u: {type: CONSTANT, value: $u}
  gain: {type: GAIN, K: $k}
  sum: {type: SUM, signs: "+-"}
  x: {type: INTEGRATOR, x0: [1, 0]}
  s: {type: SCOPE}
wires: [u -> sum.0, gain -> sum.1, sum -> x, x -> gain, x -> s]
run: {T: 0.8, rtol: 1e-10, atol: 1e-12}
"""


def test_metrics_and_parameters_have_their_shapes(written):
    found = sb.gradient(written(DECAY), of={"end": "final(x)", "size": "norm(final(x))"},
                        by=["k", "u", "u[1]", "x.x0"])  # fmt: skip
    end = found["end"]
    assert {name: d.shape for name, d in end.items()} == {
        "k": (2,), "u": (2, 2), "u[1]": (2,), "x.x0": (2, 2)
    }  # fmt: skip
    assert {name: d.shape for name, d in found["size"].items()} == {
        "k": (), "u": (2,), "u[1]": (), "x.x0": (2,)
    }  # fmt: skip
    left = np.exp(-3 * 0.8)
    np.testing.assert_allclose(end["x.x0"], left * np.eye(2), atol=1e-9)
    np.testing.assert_allclose(end["u"], (1 - left) / 3 * np.eye(2), atol=1e-9)
    np.testing.assert_allclose(end["u[1]"], end["u"][:, 1])
    x = found.values["end"]
    np.testing.assert_allclose(found["size"]["u"], x / np.linalg.norm(x) @ end["u"], rtol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=9, max_size=9))
def test_of_a_linear_system_it_is_the_matrix_exponential(tmp_path_factory, numbers):
    A = np.array(numbers).reshape(3, 3)
    path = tmp_path_factory.mktemp("linear") / "linear.yaml"
    path.write_text(
        "name: linear\nblocks:\n"
        "  x: {type: INTEGRATOR, x0: [1, 0, 0]}\n"
        f"  A: {{type: GAIN, K: {A.tolist()}, premul: true}}\n"
        "  s: {type: SCOPE}\nwires: [x -> A, A -> x, x -> s]\n"
        "run: {T: 1, rtol: 1.0e-10, atol: 1.0e-12}\n",
        encoding="utf-8",
    )
    found = sb.gradient(path, of="final(x)", by="x.x0")
    np.testing.assert_allclose(found["x.x0"], expm(A), rtol=1e-7, atol=1e-7)


def test_a_fast_mode_at_rest_needs_short_steps_of_the_changes_alone(written):
    """The run is at rest and takes long steps; a change of its start decays at 2,000 a second."""
    text = DECAY.replace("k: 3, u: [1, 2]", "k: 2000, u: [0, 0]").replace("[1, 0]", "[0, 0]")
    found = sb.gradient(written(text.replace("T: 0.8", "T: 0.005")), of="final(x)", by="x.x0")
    np.testing.assert_allclose(found["x.x0"], np.exp(-10) * np.eye(2), atol=1e-9)


def test_a_parameter_that_nothing_depends_on_has_zero(written):
    text = DECAY.replace("wires: [", "wires: [idle -> t, ").replace(
        "blocks:", "blocks:\n  idle: {type: CONSTANT, value: 7}\n  t: {type: SCOPE}"
    )
    assert not sb.gradient(written(text), of="final(x)", by="idle.value")["idle.value"].any()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"by": "q"}, "there is no parameter 'q'"),
        ({"by": []}, "by names no parameter"),
        ({"of": "final(y)"}, "y"),
        ({"of": 3}, "of takes metrics, not 3"),
        ({"of": {"m": lambda run: 1.0}}, "a metric in Python has no exact derivative"),
        ({"solver": "Radau"}, "repeats explicit steps, and solver Radau has none"),
    ],
)
def test_what_it_cannot_do_it_says(written, change, text):
    asked = {"of": "final(x)", "by": "k", **change}
    with pytest.raises(sb.InputError, match=text):
        sb.gradient(written(DECAY), **asked)


def test_steps_without_a_compiler_have_the_same_changes(written, monkeypatch):
    text = DECAY.replace("x -> s]", "x -> s, u -> z]").replace(
        "  s: {", "  z: {type: SCOPE}\n  s: {"
    )
    asked = {"of": {"end": "final(x)", "size": "rms(x[0])"}, "by": ["k", "u", "x.x0"]}
    compiled = sb.gradient(written(text), **asked)
    monkeypatch.setattr("spart_blocks.gradients.loops.loaded_library", lambda *_: None)
    plain = sb.gradient(written(text), **asked)
    for name, found in compiled.derivatives.items():
        for by, value in found.items():
            np.testing.assert_allclose(plain[name][by], value, rtol=1e-12, atol=1e-15)


def test_equations_that_are_so_long_that_they_become_loops_have_the_same(written, monkeypatch):
    """x' = -k sin(x) in 200 entries. tan(x/2) falls as exp(-k t)."""
    monkeypatch.setattr("spart_blocks.gradients.seeded._LONG", 1)
    begin = np.linspace(0.1, 3, 200)
    text = f"""
params: {{k: 1.5}}
blocks:
  rate: {{type: FCN, expression: "-k*sin(u)", params: {{k: $k}}}}
  x: {{type: INTEGRATOR, x0: {begin.tolist()}}}
wires: [rate -> x, x -> rate]
run: {{T: 0.5, rtol: 1.0e-10, atol: 1.0e-12}}
"""
    found = sb.gradient(written(text), of="final(x)", by="k", method="forward")
    ends = 2 * np.arctan(np.tan(begin / 2) * np.exp(-1.5 * 0.5))
    np.testing.assert_allclose(found["k"], -0.5 * np.sin(ends), rtol=1e-8)

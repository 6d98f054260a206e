"""Runs that grow without bound say so: since when, which state first, and what feeds it."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import spart_blocks as sb

DIAGRAM = """
blocks:
  one: {{type: CONSTANT, value: 2}}
  e: {{type: SUM, signs: "{signs}"}}
  k: {{type: GAIN, K: {K}}}
  j: {{type: INTEGRATOR, x0: 1}}
  i: {{type: INTEGRATOR, x0: 1}}
  s: {{type: SCOPE}}
wires: [one -> e.0, i -> e.1, e -> k, k -> i, i -> j, j -> s]
run: {{T: {T}}}
"""
ENGINES = ("native", "interpreter")


@pytest.fixture
def told(tmp_path):
    """The notes of a run of a diagram on what grew in it."""

    def notes(text, engine="native"):
        path = tmp_path / "d.yaml"
        path.write_text(text)
        found = sb.simulate(path, engine=engine).info.get("notes", "").splitlines()
        return [line for line in found if "grew" in line or "feeds" in line]

    return notes


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_state_and_its_time_are_told(told, engine):
    first, loop = told(DIAGRAM.format(signs="++", K=5, T=91), engine)
    # i = 3 exp(5 t) - 2 is 10 at ln(4)/5; j follows it. At the end it is 3 exp(455).
    assert "i, the first of 2 states, is 10 times its start" in first
    since = float(first.split("from t = ")[1].split(" s")[0])
    assert since == pytest.approx(np.log(4) / 5, rel=1e-2)
    assert float(first.split("on, and ")[1].split(" ")[0]) == pytest.approx(3 * np.exp(455), 0.01)
    assert loop.startswith("e -> k -> i -> e.1 feeds back with a plus (")
    assert "d.yaml:4:3); where e is to give a difference" in loop


@pytest.mark.parametrize(("signs", "K"), [("+-", 5), ("++", -5)])
def test_negative_feedback_tells_nothing(told, signs, K):
    assert told(DIAGRAM.format(signs=signs, K=K, T=5)) == []


def test_the_loop_is_named_where_the_sum_takes_the_wrong_sign_first(told):
    _, loop = told(DIAGRAM.format(signs="-+", K=5, T=20))
    assert "e.1 feeds back" in loop


def test_a_loop_through_two_sums_is_named_once(told):
    text = DIAGRAM.format(signs="++", K=5, T=20).replace("i -> j, ", "d -> j, ")
    text = text.replace("k -> i", "k -> f.0, one -> f.1, f -> i").replace("i -> e.1", "d -> e.1")
    text = text.replace(
        "  s: {type: SCOPE}", "  f: {type: SUM}\n  d: {type: GAIN}\n  s: {type: SCOPE}"
    )
    _, *loops = told(text.replace("d -> e.1", "i -> d, d -> e.1"))
    assert len(loops) == 1


def test_a_loop_of_an_unknown_sign_is_not_named(told):
    text = DIAGRAM.format(signs="++", K=5, T=20).replace(
        "type: GAIN, K: 5", 'type: FCN, expression: "5*u"'
    )
    assert len(told(text)) == 1


@pytest.mark.parametrize("power", [1, 2, 3])
def test_powers_of_time_are_no_growth_without_bound(told, power):
    names = [f"i{k}" for k in range(power)]
    blocks = "\n".join(f"  {name}: {{type: INTEGRATOR}}" for name in names)
    wires = ", ".join(f"{a} -> {b}" for a, b in zip(["one", *names], [*names, "s"], strict=True))
    text = f"blocks:\n  one: {{type: CONSTANT, value: 1.0e9}}\n{blocks}\n  s: {{type: SCOPE}}\n"
    assert told(f"{text}wires: [{wires}]\nrun: {{T: 1000}}\n") == []


def test_a_sampled_loop_and_its_held_output(tmp_path):
    path = tmp_path / "d.yaml"
    path.write_text(
        "clocks: {c: {T: 0.1}}\nblocks:\n  d: {type: UNIT_DELAY, initial: 1, clock: c}\n"
        "  g: {type: GAIN, K: -3}\n  s: {type: SCOPE}\n"
        "wires: [d -> g, g -> d, d -> s]\nrun: {T: 80}\n"
    )
    # The magnitude is 3^k: 10 is passed at the third tick, and the largest float at the 647th.
    with pytest.raises(sb.RunError, match=r"not finite.* t = 64.6 s") as error:
        sb.simulate(path)
    text = str(error.value)
    assert "the run grew without bound: d is 10 times its start from t = 0.3 s on" in text
    assert text in error.value.results.stopped
    assert "grew" not in error.value.results.info.get("notes", "")


def test_a_run_that_ends_in_finite_time_names_its_growth(tmp_path):
    path = tmp_path / "d.yaml"
    path.write_text(
        'blocks:\n  i: {type: INTEGRATOR, x0: 1}\n  f: {type: FCN, expression: "u*u"}\n'
        "  s: {type: SCOPE}\nwires: [i -> f, f -> i, i -> s]\nrun: {T: 3}\n"
    )
    # x = 1 / (1 - t)
    with pytest.raises(sb.RunError, match=r"i is 10 times its start from t = 0.(899|900)"):
        sb.simulate(path)


def test_a_controller_and_a_plant_with_a_forgotten_minus(told):
    text = """
clocks: {c: {T: 0.01}}
blocks:
  r: {type: STEP, T: 0.1}
  e: {type: SUM, signs: "++"}
  pid: {type: PT1, gain: 30, tau: 0.01}
  hold: {type: ZOH, clock: c}
  plant: {type: TRANSFER_FUNCTION, num: 1, den: [1, 1, 0]}
  s: {type: SCOPE}
wires: [r -> e.0, plant -> e.1, e -> pid, pid -> hold, hold -> plant, plant -> s]
run: {T: 20}
"""
    grown, loop = told(text)
    assert "the run grew without bound: plant" in grown or "pid" in grown
    assert loop.startswith("e -> pid -> hold -> plant -> e.1 feeds back with a plus")


def test_a_state_near_the_largest_number_is_compared_without_an_overflow(told):
    held = """
    clocks: {c: {T: 0.1}}
    blocks: {d: {type: UNIT_DELAY, clock: c, initial: 1.7e+308}, s: {type: SCOPE}}
    wires: ["d -> d, s"]
    run: {T: 1}
    """
    assert told(textwrap.dedent(held)) == []

"""`sb.tune`: designs whose best is known in closed form, alone and over cases."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.gradients.gradient import GradientRuns

ONCE = {"samples": 0, "searches": 1}


def test_the_least_integral_of_squared_error_has_damping_one_half(oscillator):
    """Source: A. Hall, The Analysis and Synthesis of Linear Servomechanisms (1943): zeta = 1/2."""
    found = sb.tune(oscillator, {"zeta": [0.05, 3]}, minimize="integral(e**2)")
    assert found["zeta"] == pytest.approx(0.5, abs=1e-6)
    assert found.objective == pytest.approx(1.0, abs=1e-7)
    assert found.objective_before == pytest.approx(0.2 + 1 / 0.8, abs=1e-6)
    assert found.good
    assert found.optimality.residual < 1e-5
    assert found.overrides == {"zeta": found["zeta"]}


def test_the_least_integral_of_time_times_error_is_that_of_the_known_answer(oscillator):
    """Source of the criterion: D. Graham, R. C. Lathrop, Trans. AIEE 72 (1953)."""
    t = np.linspace(0, 60, 200_001)

    def criterion(zeta):
        w = np.sqrt(1 - zeta**2)
        e = np.exp(-zeta * t) * (np.cos(w * t) + zeta / w * np.sin(w * t))
        return np.trapezoid(t * abs(e), t)

    best = minimize_scalar(criterion, (0.5, 0.7, 0.9), options={"xtol": 1e-7}).x
    found = sb.tune(oscillator, {"zeta": [0.05, 0.99]}, minimize="integral(t * abs(e))", samples=8)
    assert found["zeta"] == pytest.approx(best, abs=1e-4)


# --- cases: y = a k is to be 1 for several a ------------------------------------------------------


def test_the_worst_of_two_cases_is_least_where_both_are_equal(product):
    """(a k - 1)^2 for a = 1 and 3: k = 2/(1 + 3), and 1/4 in both."""
    found = sb.tune(product, {"k": [0, 2]}, minimize="(final(y) - 1)**2", over={"a": [1, 3]})
    assert found["k"] == pytest.approx(0.5, abs=1e-6)
    assert found.objective == pytest.approx(0.25, abs=1e-6)
    assert [case.name for case in found.problem.cases] == ["a = 1", "a = 3"]
    of_cases = found.found.demands.of_cases(found.found.best.numbers)
    np.testing.assert_allclose(of_cases, 0.25, atol=1e-6)
    assert found.optimality.residual < 1e-6


def test_the_mean_of_cases_is_that_of_least_squares(product):
    found = sb.tune(product, {"k": [0, 2]}, minimize="(final(y) - 1)**2", aggregate="mean",
                    over={"a": [1, 3]})  # fmt: skip
    assert found["k"] == pytest.approx(0.4, abs=1e-6)
    assert found.objective == pytest.approx(0.2, abs=1e-9)


def test_a_quantile_leaves_out_the_cases_that_it_may(product):
    """Of a = 1, ..., 5 the best three for one k are 3, 4, 5: k = 2/(3 + 5), and 1/16."""
    found = sb.tune(product, {"k": [0, 2]}, minimize="(final(y) - 1)**2",
                    aggregate={"quantile": 0.6}, over={"a": [1, 2, 3, 4, 5]})  # fmt: skip
    assert found["k"] == pytest.approx(0.25, abs=1e-6)
    assert found.objective == pytest.approx(1 / 16, abs=1e-8)


def test_a_constraint_may_hold_on_average_or_in_a_share_of_the_cases(product):
    def largest(aggregate):
        limit = {"metric": "final(y)", "max": 6, "aggregate": aggregate}
        options = {"maximize": "initial(y) / a", "constraints": {"limit": limit}}
        return sb.tune(product, {"k": [0, 9]}, over={"a": [1, 2, 3, 6]}, **options, samples=4)

    for aggregate, k in (("worst", 1.0), ("mean", 2.0), ({"quantile": 0.75}, 2.0),
                         ({"quantile": 0.5}, 3.0)):  # fmt: skip
        found = largest(aggregate)
        assert found["k"] == pytest.approx(k, rel=1e-5), aggregate
        assert found["k"] <= k
        assert found.objective == pytest.approx(k, rel=1e-5)


def test_draws_variants_and_faults_are_those_of_sweeps(written):
    """The metrics of each case are those of a sweep of the design, run by its own engine."""
    text = """
params: {k: 1.0, a: 2.0}
blocks:
  one: {type: CONSTANT, value: 1.0}
  e: {type: SUM, signs: "+-"}
  u: {type: GAIN, K: $k}
  x: {type: INTEGRATOR}
  s: {type: SCOPE}
variants:
  plant:
    default: fast
    choices:
      fast: {type: GAIN, K: $a}
      slow: {type: LTI_SISO, N: [1], D: [0.2, 1]}
wires: [one -> e.0, x -> e.1, e -> u, u -> plant, plant -> x, x -> s]
run: {T: 2}
"""
    path = written(text)
    cases = {
        "over": {"one.value": {"normal": {"mean": 1, "sd": 0.1}}}, "runs": 3, "seed": 4,
        "variants": "all", "faults": {"worn": {"at": 0.5, "set": {"one.value": 0.5}}},
    }  # fmt: skip
    metric = "integral(e**2) + 0.01 * k**2"
    found = sb.tune(path, {"k": [0.1, 9]}, minimize=metric, **cases, **ONCE)
    assert found.good
    assert found.optimality.residual < 1e-4
    options = {"metrics": {"f": metric}, "overrides": found.overrides}
    swept = sb.sweep(path, **cases, **options)["f"]
    of_cases = found.found.demands.of_cases(found.found.best.numbers)
    assert len(of_cases) == 12
    np.testing.assert_allclose(of_cases, swept, rtol=1e-5)
    names = [case.name for case in found.problem.cases]
    assert names[0] == "fast, fault none, draw 0"
    assert names[-1] == "slow, fault worn, draw 2"


def test_a_fault_may_set_another_element_of_what_is_tuned(written):
    """y = [y0, y1]: from t = 1 on the fault sets y1 = 5."""
    path = written("""
blocks:
  y: {type: CONSTANT, value: [1.0, 1.0]}
  s: {type: SCOPE}
wires: [y -> s]
run: {T: 2}
""")
    fault = {"faults": {"stuck": {"at": 1, "set": {"y.value[1]": 5}}}, "faultless": False}
    metric = "(final(y[0]) - 3)**2 + 0*final(y[1])"
    found = sb.tune(path, {"y.value[0]": [0, 9]}, minimize=metric, **fault, **ONCE)
    assert found["y.value[0]"] == pytest.approx(3, abs=1e-4)
    with pytest.raises(sb.InputError, match=r"y.value\[1\] is tuned, and a fault sets it"):
        sb.tune(path, {"y.value[1]": [0, 9]}, minimize="final(y[0])", **fault)


# --- constraints ----------------------------------------------------------------------------------


def test_a_price_is_how_much_a_bound_costs(product):
    """k^2 with k >= 1.5: the objective grows by 3 with a unit of the bound."""
    found = sb.tune(product, {"k": [0, 9]}, minimize="final(y)**2",
                    constraints={"least": "final(y) >= 1.5"}, **ONCE)  # fmt: skip
    assert 1.5 <= found["k"] <= 1.50001
    (judged,) = found.judged
    assert judged.active
    assert judged.price == pytest.approx(3, abs=1e-3)
    assert judged.slack == pytest.approx(0, abs=1e-5)
    assert "least: a bound larger by 1 changes the objective by +3" in str(found)


def test_an_equality_holds(product):
    constraints = {"sum": "final(y) + initial(y) == 5"}
    found = sb.tune(product, {"k": [0, 9]}, minimize="final(y)", constraints=constraints, **ONCE)
    assert found["k"] == pytest.approx(2.5, abs=1e-5)
    assert found.good


def test_what_cannot_be_fulfilled_is_named_with_how_much_is_lacking(product):
    """k <= 1 and k >= 3: nearest, relative to the bounds, is k = 3/2, off by a half of each."""
    both = {"low": "final(y) <= 1", "high": "final(y) >= 3"}
    found = sb.tune(product, {"k": [0, 9]}, minimize="final(y)", constraints=both, samples=8)
    assert not found.good
    assert found.ended
    assert found["k"] == pytest.approx(1.5, abs=1e-4)
    assert "not fulfilled: high is 1.5, asked is at least 3: off by 1.5" in str(found)
    assert "not fulfilled: low is 1.5, asked is at most 1: off by 0.5" in str(found)


def test_constraints_alone_get_the_most_slack(product):
    """1 <= k <= 3 in units of the bounds: (k - 1)/1 = (3 - k)/3 at k = 3/2."""
    found = sb.tune(product, {"k": [0, 9]}, constraints={"both": "1 <= final(y) <= 3"}, samples=8)
    assert found.good
    assert found.objective is None
    assert found["k"] == pytest.approx(1.5, abs=1e-4)


def test_a_vector_has_a_bound_for_each_element(written):
    path = written("""
blocks:
  one: {type: CONSTANT, value: [1.0, 2.0]}
  y: {type: GAIN, K: 1.0}
  s: {type: SCOPE}
wires: [one -> y, y -> s]
run: {T: 1}
""")
    limit = {"metric": "final(y)", "max": [4, 6]}
    found = sb.tune(path, {"y.K": [0, 9]}, maximize="final(y[0])", constraints={"limit": limit})
    assert found["y.K"] == pytest.approx(3, rel=1e-5)
    assert [one.name for one in found.judged] == ["limit[0]", "limit[1]"]
    assert [one.active for one in found.judged] == [False, True]
    with pytest.raises(sb.InputError, match="objective is to be one number, and has 2 elements"):
        sb.tune(path, {"y.K": [0, 9]}, minimize="final(y)")


def test_claims_of_the_file_are_constraints(oscillator):
    text = (
        oscillator.read_text()
        + """
expect:
  stays_within: [{signal: x, high: 1.1}, {signal: e, low: -0.2, from: 1, until: 5}]
  never_exceeds: [{signal: v, limit: 0.7}]
  settles: [{signal: x, to: 1, within: 0.02, by: 14}]
  final: [{signal: x, value: 1, within: 0.01}]
  conserved: [{signal: goal, within: 0}]
  monotone: [{signal: goal, direction: rising}]
"""
    )
    oscillator.write_text(text)
    options = {"minimize": "integral(e**2)", "samples": 4}
    found = sb.tune(oscillator, {"zeta": [0.05, 3]}, claims="all", **options)
    # The overshoot exp(-pi zeta / sqrt(1 - zeta^2)) is 0.1.
    zeta = np.log(10) / np.hypot(np.pi, np.log(10))
    assert found["zeta"] == pytest.approx(zeta, abs=1e-4)
    names = [one.name for one in found.judged]
    assert names[:2] == ["settles x, most", "settles x, least"]
    assert "monotone goal" not in names
    assert {"stays_within x", "stays_within e", "conserved goal", "final x"} <= set(names)
    found.write(oscillator)
    assert sb.gradient(oscillator, of="most(x)", by="zeta").values["metric"] <= 1.1
    one = sb.tune(oscillator, {"zeta": [0.05, 3]}, claims=["never_exceeds v"], **options)
    assert one["zeta"] == pytest.approx(0.5, abs=1e-5)
    with pytest.raises(sb.InputError, match="the claim 'monotone goal' is no bound of a metric"):
        sb.tune(oscillator, {"zeta": [0.05, 3]}, claims=["monotone goal"], **options)


# --- runs that fail, jump or have no derivative ---------------------------------------------------

ESCAPE = """
params: {k: -1.0}
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  f: {type: FCN, expression: k*u**2, params: {k: $k}}
  s: {type: SCOPE}
wires: [x -> f, f -> x, x -> s]
run: {T: 1}
"""
"""x' = k x^2: x(1) = 1/(1 - k), and none from k = 1 on."""


@pytest.mark.parametrize("search", ["gradient", "derivative-free"])
def test_a_design_whose_run_fails_is_stepped_back_from(written, search):
    found = sb.tune(written(ESCAPE), {"k": [-9, 9]}, minimize="(final(x) - 20)**2", search=search,
                    **ONCE)  # fmt: skip
    assert found["k"] == pytest.approx(0.95, abs=1e-4)
    assert found.found.refused[0] > 0
    assert "had no numbers; the first: " in str(found)


def test_a_stop_moves_with_the_design(written):
    """Falling from h takes sqrt(2 h / g)."""
    path = written("""
params: {h: 5.0}
blocks:
  g: {type: CONSTANT, value: -10}
  v: {type: INTEGRATOR}
  h: {type: INTEGRATOR, x0: $h}
  down: {type: FCN, expression: u < 0}
  end: {type: STOP}
  s: {type: SCOPE}
wires: [g -> v, v -> h, h -> down, down -> end, h -> s]
run: {T: 9}
""")
    found = sb.tune(path, {"h": [1, 100]}, minimize="(duration - 2)**2", **ONCE)
    assert found["h"] == pytest.approx(20, abs=1e-2)


TICKED = """
clocks: {c: {rate: 10}}
params: {when: 0.3}
blocks:
  step: {type: STEP, T: $when}
  held: {type: ZOH, clock: c}
  s: {type: SCOPE}
wires: [step -> held, held -> s]
run: {T: 1}
"""


def test_where_no_derivative_exists_block_and_time_are_named_and_values_do(written):
    path, asked = written(TICKED), {"minimize": "(integral(held) - 0.45)**2"}
    with pytest.raises(sb.NoGradientError, match=r"step: .*at a tick.*t = 0.3") as raised:
        sb.tune(path, {"when": [0, 1]}, **asked, **ONCE)
    assert "--derivative-free" in str(raised.value)
    found = sb.tune(path, {"when": [0, 1]}, **asked, search="derivative-free", samples=32)
    assert found.objective == pytest.approx(0.05**2, abs=1e-9)
    assert found.optimality is None


def test_a_diagram_that_cannot_be_traced_is_searched_by_values(written, tmp_path):
    own = tmp_path / "own.py"
    own.write_text('''
from bdsim.components import FunctionBlock


class Branching(FunctionBlock):
    """Twice what is above a level."""

    nin = 1
    nout = 1

    def __init__(self, level=0.0, **blockargs):
        super().__init__(**blockargs)
        self.level = level

    def output(self, t, inputs, x):
        return [2 * inputs[0] if inputs[0] > self.level else inputs[0]]
''')
    path = written("""
blocks:
  one: {type: CONSTANT, value: 1.0}
  y: {type: GAIN, K: 1.0}
  bend: {type: BRANCHING, level: 0.5}
  s: {type: SCOPE}
wires: [one -> y, y -> bend, bend -> s]
run: {T: 1}
""")
    asked = {"minimize": "(final(bend) - 3)**2", "blocks": own, "over": {"bend.level": [0.2, 0.5]}}
    with pytest.raises(sb.InputError, match=r"cannot be traced.*\n.*--derivative-free"):
        sb.tune(path, {"y.K": [0, 9]}, **asked)
    with pytest.warns(SpartWarning, match="one by one"):
        found = sb.tune(path, {"y.K": [0, 9]}, **asked, search="derivative-free", samples=0,
                        iterations=15)  # fmt: skip
    assert found["y.K"] == pytest.approx(1.5, abs=1e-3)


def test_both_searches_agree(oscillator):
    asked = {"minimize": "integral(e**2)", "constraints": {"limit": "most(x) <= 1.1"}, "samples": 8}
    exact = sb.tune(oscillator, {"zeta": [0.05, 3]}, **asked)
    free = sb.tune(oscillator, {"zeta": [0.05, 3]}, **asked, search="derivative-free")
    assert free["zeta"] == pytest.approx(exact["zeta"], abs=1e-4)
    assert free.good


# --- parameters -----------------------------------------------------------------------------------


def test_a_parameter_at_its_bound_is_told(product):
    found = sb.tune(product, {"k": [0.5, 2]}, minimize="final(y)", **ONCE)
    assert found["k"] == pytest.approx(0.5, abs=1e-12)
    assert "at its lower bound" in str(found)


def test_logarithms_and_elements_and_initial_states_are_searched(written):
    path = written("""
params: {k: 1.0}
blocks:
  x: {type: INTEGRATOR, x0: [1.0, 2.0]}
  f: {type: GAIN, K: $k}
  flip: {type: GAIN, K: -1}
  s: {type: SCOPE}
wires: [x -> f, f -> flip, flip -> x, x -> s]
run: {T: 1, rtol: 1.0e-9, atol: 1.0e-11}
""")
    metric = "(final(x[0]) - 0.1)**2 + (final(x[1]) - 0.4)**2 + (initial(x[1]) - 3)**2"
    parameters = {"k": {"min": 1e-3, "max": 1e3, "scale": "log"}, "x.x0": [-9, 9]}
    found = sb.tune(path, parameters, minimize=metric, **ONCE)
    k = np.log(3 / 0.4)
    assert found["k"] == pytest.approx(k, abs=1e-4)
    np.testing.assert_allclose(found["x.x0"], [0.1 * np.exp(k), 3], atol=1e-4)


def test_a_parameter_without_effect_is_told(product, written):
    found = sb.tune(product, {"k": [0.5, 2], "one.value": [0, 1]},
                    minimize="(final(y)/final(one) - 1)**2 + k**2", **ONCE)  # fmt: skip
    assert found.good
    path = written("""
blocks:
  one: {type: CONSTANT, value: 1.0}
  y: {type: GAIN, K: 1.0}
  z: {type: GAIN, K: 1.0}
  s: {type: SCOPE, nin: 2}
wires: [one -> y, one -> z, y -> s.0, z -> s.1]
run: {T: 1}
""")
    found = sb.tune(path, {"y.K": [0, 2], "z.K": [0, 2]}, minimize="(final(y) - 1.5)**2", **ONCE)
    assert "nothing that is asked depends on z.K in the designs that were tried" in str(found)
    with pytest.raises(sb.InputError, match=r"nothing that is asked depends on z\.K"):
        sb.tune(path, {"z.K": [0, 2]}, minimize="final(y)")


# --- results --------------------------------------------------------------------------------------


def test_an_interrupt_keeps_the_best_so_far(oscillator):
    def stop(step, objective, violation):
        if step == 3:
            raise KeyboardInterrupt

    asked = {"minimize": "integral(e**2)", "samples": 0}
    found = sb.tune(oscillator, {"zeta": [0.05, 3]}, **asked, progress=stop)
    assert not found.ended
    assert found.found.why == "interrupted"
    assert found.objective < found.objective_before
    assert "not at its end: interrupted" in str(found)


def test_a_result_is_saved_and_started_from(oscillator, tmp_path):
    parameters, asked = {"zeta": [0.05, 3]}, {"minimize": "integral(e**2)"}
    found = sb.tune(oscillator, parameters, **asked)
    path = found.save(tmp_path / "new" / "design.json")
    content = json.loads(path.read_text())
    assert content["parameters"] == [{"name": "zeta", "before": 0.2, "value": found["zeta"]}]
    assert content["objective"]["after"] == pytest.approx(1, abs=1e-6)
    for start in (found, path):
        again = sb.tune(oscillator, parameters, **asked, **ONCE, start=start)
        assert again.before["zeta"] == found["zeta"]
        assert again.found.evaluations < 10
    with pytest.raises(sb.InputError, match="is not the file of a design"):
        sb.tune(oscillator, parameters, **asked, start=oscillator)


def test_pictures_show_what_was_asked(product, tmp_path):
    found = sb.tune(product, {"k": [0, 2]}, minimize="(final(y) - 1)**2", over={"a": [1, 2, 3]},
                    constraints={"limit": "most(y) <= 1.4"})  # fmt: skip
    figures = found.plot()
    assert [figure.get_label() for figure in figures][-1] == "cases"
    text = found.report(tmp_path / "design.html").read_text()
    assert text.count("<img") == len(figures)
    assert "fulfilled" in text
    assert "a = 3" in text


def test_a_diagram_in_memory_is_tuned(product):
    diagram = sb.load(product)
    found = sb.tune(diagram, {"k": [0, 2]}, minimize="(final(y) - 1)**2", over={"a": [1, 3]})
    assert found["k"] == pytest.approx(0.5, abs=1e-6)


def test_the_largest_element_is_bounded_as_all_elements(written):
    """With k = 2 both elements of y = k [1, 1] are at the bound at once: a kink of max(...)."""
    path = written("""
blocks:
  one: {type: CONSTANT, value: [1.0, 1.0]}
  y: {type: GAIN, K: 1.0}
  s: {type: SCOPE}
wires: [one -> y, y -> s]
run: {T: 1}
""")
    options = {"maximize": "final(y[0])", "constraints": {"limit": "max(peak(y)) <= 2"}, **ONCE}
    found = sb.tune(path, {"y.K": [0, 9]}, **options)
    assert [one.name for one in found.judged] == ["limit[0]", "limit[1]"]
    assert found["y.K"] == pytest.approx(2, rel=1e-5)
    of_signal = {"constraints": {"a": "max(y[0]) <= 2"}}  # a measurement
    (judged,) = sb.tune(path, {"y.K": [0, 9]}, **options | of_signal).judged
    assert judged.name == "a"


def test_of_many_cases_derivatives_are_those_that_decide(product, monkeypatch):
    """(a k - 1)^2 for a = 1, 1.1, ..., 3: from k = 1 the largest a decides, then the least, too."""
    asked = []
    runs = GradientRuns.at
    monkeypatch.setattr(GradientRuns, "at", lambda *given: asked.append(1) or runs(*given))
    over = {"a": np.linspace(1, 3, 21).tolist()}
    found = sb.tune(product, {"k": [0, 2]}, minimize="(final(y) - 1)**2", over=over, **ONCE)
    assert found["k"] == pytest.approx(0.5, abs=1e-6)
    assert found.objective == pytest.approx(0.25, abs=1e-6)
    assert found.optimality.residual < 1e-6
    assert len(asked) < 3 * found.found.evaluations + 2 * 21


def test_the_case_that_decides_is_named_also_where_programs_differ(written):
    """The cases of two variants are two programs: those of one do not come one after another."""
    path = written("""
params: {k: 1.0}
blocks:
  one: {type: CONSTANT, value: 1.0}
  s: {type: SCOPE}
variants:
  y:
    default: plain
    choices:
      plain: {type: GAIN, K: $k}
      twice: {type: FCN, expression: 2*k*u, params: {k: $k}}
wires: [one -> y, y -> s]
run: {T: 1}
""")
    cases = {"over": {"one.value": [1, 2]}, "variants": "all"}
    limit = {"constraints": {"limit": "final(y) <= 6"}}
    found = sb.tune(path, {"k": [0, 9]}, maximize="final(y)", **limit, **cases, **ONCE)
    assert found["k"] == pytest.approx(1.5, rel=1e-5)
    (judged,) = found.judged
    assert judged.case == "one.value = 2, twice"


def test_the_parts_of_an_objective_are_told(product):
    """k^2 - 2 * 3 k is least at k = 3."""
    parts = {"minimize": {"square": "final(y)**2"}, "maximize": {"gain": {"metric": "final(y)",
                                                                        "weight": 6}}}  # fmt: skip
    found = sb.tune(product, {"k": [0, 9]}, **parts, **ONCE)
    assert found["k"] == pytest.approx(3, abs=1e-5)
    rows = {row[0]: row for row in found.demands_table().rows}
    assert rows["objective"][1:4] == ("to be small", "-5", "-9")
    assert rows["- square"][1:4] == ("to be small", "1", "9")
    assert rows["- gain"][1:4] == ("to be large, times 6", "1", "3")


def test_a_parameter_stays_within_what_the_file_declares(product):
    product.write_text(product.read_text() + "declare: {k: {min: 0.5, max: 3}}\n")
    found = sb.tune(product, {"k": [0, 9]}, minimize="final(y)", samples=4)
    assert found["k"] == pytest.approx(0.5, abs=1e-12)
    assert "at its lower bound" in str(found)
    with pytest.raises(sb.InputError, match=r"bounds of k are beyond those declared, 0\.5 to 3"):
        sb.tune(product, {"k": {"min": 0, "max": 0.2, "start": 0.1}}, minimize="final(y)")


def test_a_kink_of_a_metric_does_not_end_the_search(written):
    """The larger of |y0 - 1| and |y1 - 2|, from where both are equal."""
    path = written("""
blocks:
  y: {type: CONSTANT, value: [5.0, 6.0]}
  s: {type: SCOPE}
wires: [y -> s]
run: {T: 1}
""")
    metric = "max(abs(final(y[0]) - 1), abs(final(y[1]) - 2))"
    found = sb.tune(path, {"y.value": [-9, 9]}, minimize=metric, **ONCE)
    assert found.objective < 1e-3
    assert found.optimality.residual < 1e-3 or "do not balance" in str(found)

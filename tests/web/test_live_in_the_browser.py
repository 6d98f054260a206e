"""Pages that run, in Chromium from files and without a network: their rows have the bits of a lane,
and sliders, addresses, claims and sweeps do what they say.
"""

from __future__ import annotations

import base64
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from browsers import needs_chromium

import spart_blocks as sb
from spart_blocks.base.web_build import VIEWER, found_node, is_fresh
from spart_blocks.claims.check import check_file
from spart_blocks.web.page import page_of_runs
from spart_blocks.web.runnable import Runnable

pytestmark = [
    needs_chromium,
    pytest.mark.skipif(not find_spec("ziglang"), reason="needs ziglang"),
    pytest.mark.skipif(not (is_fresh(VIEWER) or found_node()), reason="needs Node.js"),
]
SHOWN = {
    "arm": "diagrams/arm_computed_torque.yaml",
    "spacecraft": "diagrams/spacecraft_pd.yaml",
    "sampled": "diagrams/spacecraft_sampled.yaml",
    "servo with clocks": "diagrams/control/dc_motor.yaml",
}
ROWS = """
const bytes = new Uint8Array(spartLive.run.rows.buffer);
let text = "";
for (let at = 0; at < bytes.length; at += 8192)
  text += String.fromCharCode(...bytes.subarray(at, at + 8192));
return btoa(text);
"""
AXE = Path("studio/node_modules/axe-core/axe.min.js")
RAN = "window.spartLive && spartLive.run"
PULSED = """
name: pulses
params: {period: 1.1, width: 0.4, frequency: 3.0}
blocks:
  pulse: {type: PULSE, period: $period, width: $width}
  wave: {type: WAVEFORM, wave: square, freq: $frequency}
  state: {type: LTI_SISO, N: [4], D: [1, 1.2, 3]}
  both: {type: SUM, signs: "++"}
wires:
  - pulse -> both.0
  - wave -> both.1
  - both -> state
run: {T: 10.0}
"""
EVERY_CLAIM = """
name: every claim
blocks:
  ref: {type: STEP, T: 0.3}
  err: {type: SUM, signs: "+-"}
  state: {type: LTI_SISO, N: [4], D: [1, 1.2, 0]}
  two: {type: CONSTANT, value: [1, 2]}
  ramp: {type: INTEGRATOR, x0: [0, 0]}
wires:
  - ref -> err.0
  - err -> state
  - state -> err.1
  - two -> ramp
run: {T: 8.0}
expect:
  settles:
    - {signal: state, to: 1, by: 7, within: 0.1}
    - {signal: state, to: 1, by: 1, within: 0.1}
    - {signal: state, to: 0, by: 0, within: 0.1, until: 0.3}
  final:
    - {signal: ramp, value: [8, 16], within: 0.1}
    - {signal: ramp, value: 8, within: 0.1}
  stays_within:
    - {signal: state, high: 2}
    - {signal: state, low: 0.1}
    - {signal: state, low: 0, high: 3, from: 9}
  never_exceeds:
    - {signal: state, limit: 1.9}
    - {signal: state, limit: 1}
  conserved:
    - {signal: state, within: 2}
    - {signal: state, within: 0.1}
  monotone:
    - {signal: ramp, direction: rising, within: 0.1}
    - {signal: state, direction: rising, within: 0.1}
    - {signal: ramp, within: 0.1, direction: falling}
    - {signal: two, direction: rising, within: 0.1}
  rise_time:
    - {signal: state, to: ref, limit: 2}
    - {signal: state, to: ref, limit: 0.1}
  settling_time:
    - {signal: state, to: ref, limit: 7}
    - {signal: state, to: ref, limit: 0.1}
    - {signal: state, to: two, limit: 1}
  overshoot:
    - {signal: state, to: ref, limit: 70}
    - {signal: state, to: ref, limit: 5}
"""
HOSTILE = """
name: "</script><img src=x onerror=alert(1)>"
params: {"k": 2.0}
declare: {k: {unit: "<b>m</b>", doc: "<script>alert(2)</script>", min: 0, max: 4}}
blocks:
  one: {type: CONSTANT, value: $k}
  state: {type: INTEGRATOR}
  show: {type: SCOPE, title: "<i onclick=alert(3)>x</i>"}
wires:
  - one -> state
  - state -> show
run: {T: 1.0}
expect:
  final: [{signal: state, value: 2, within: 0.1}]
"""


def open_page(browser, path, *diagrams, ending=""):
    made = [Runnable.of(diagram) for diagram in diagrams]
    path.write_text(page_of_runs(made), encoding="utf-8")
    browser.visit(path.as_uri() + ending)
    browser.wait(RAN)
    return made


def rows_of(browser, made):
    width = len(made.program.x0) + len(made.program.xd0)
    return np.frombuffer(base64.b64decode(browser.run(ROWS)), dtype=float).reshape(-1, width)


@pytest.mark.parametrize("name", SHOWN)
def test_the_page_s_rows_are_a_lane_s(name, browser, tmp_path):
    (made,) = open_page(browser, tmp_path / "page.html", sb.load(SHOWN[name]))
    np.testing.assert_array_equal(rows_of(browser, made), made.reference().rows[0])
    assert browser.requests() == []
    assert browser.complaints() == []


def test_a_moved_time_of_a_step_switches_where_a_lane_switches(browser, tmp_path):
    path = tmp_path / "page.html"
    (made,) = open_page(browser, path, sb.load("diagrams/spacecraft_pd.yaml"), ending="#qd.T=0.7")
    wanted = made.reference(made.program.with_parameters({"qd.T": 0.7}).p)
    np.testing.assert_array_equal(rows_of(browser, made), wanted.rows[0])


@pytest.mark.parametrize("moved", [{}, {"period": 0.7, "width": 0.3, "frequency": 7.0}])
def test_sources_switch_at_exact_sums_and_products(moved, browser, load, tmp_path):
    ending = "#" + "&".join(f"{name}={value}" for name, value in moved.items())
    (made,) = open_page(browser, tmp_path / "page.html", load(PULSED), ending=ending)
    wanted = made.reference(made.program.with_parameters(moved).p)
    np.testing.assert_array_equal(rows_of(browser, made), wanted.rows[0])


def test_a_slider_runs_anew_judges_claims_and_is_kept_in_the_address(browser, load, tmp_path):
    (made,) = open_page(browser, tmp_path / "page.html", load(HOSTILE))
    assert browser.find(".claims li").get_attribute("class") == "held"
    browser.run(
        "const s = document.querySelector('.knob [type=range]');"
        "s.value = 3; s.dispatchEvent(new Event('input'))"
    )
    browser.wait("spartLive.run.p[0] === 3")
    assert browser.find(".claims li").get_attribute("class") == "missed"
    assert browser.run("return location.hash") == "#k=3"
    np.testing.assert_allclose(rows_of(browser, made)[-1], [3.0], rtol=1e-12)
    browser.find(".buttons button").click()
    browser.wait("spartLive.run.p[0] === 2")
    assert browser.find(".claims li").get_attribute("class") == "held"


def test_claims_of_every_kind_are_judged_as_by_spart_test(browser, tmp_path):
    file = tmp_path / "claims.yaml"
    file.write_text(EVERY_CLAIM, encoding="utf-8")
    diagram = sb.load(file)
    open_page(browser, tmp_path / "page.html", diagram)
    outcome = check_file(file)
    missed = {failure.claim for failure in outcome.failures}
    wanted = [keys not in missed for keys, _ in diagram.sections.expect.claims()]
    assert len(missed) == 12
    rows = browser.run(
        "return [...document.querySelectorAll('.claims li')].map((r) => r.className)"
    )
    assert [row == "held" for row in rows] == wanted


def test_an_address_that_is_changed_is_followed(browser, load, tmp_path):
    open_page(browser, tmp_path / "page.html", load(HOSTILE), ending="#k=1")
    browser.run("location.hash = '#k=3'")
    browser.wait("spartLive.run.p[0] === 3")
    browser.run("location.hash = ''")
    browser.wait("spartLive.run.p[0] === 2")


def test_a_field_says_which_numbers_it_takes_until_it_is_reset(browser, load, tmp_path):
    open_page(browser, tmp_path / "page.html", load(HOSTILE))
    browser.run(
        "const f = document.querySelector('.knob [type=text]');"
        "f.value = '9'; f.dispatchEvent(new Event('change'))"
    )
    field = browser.find(".knob [type=text]")
    assert field.get_attribute("aria-invalid") == "true"
    assert field.get_property("validationMessage") == "a number, at least 0 and at most 4"
    assert browser.run("return spartLive.run.p[0]") == 2
    browser.find(".buttons button").click()
    assert field.get_attribute("aria-invalid") == "false"
    assert field.get_property("value") == "2"


def test_names_and_texts_are_never_markup(browser, load, tmp_path):
    open_page(browser, tmp_path / "page.html", load(HOSTILE))
    assert (
        browser.run("return document.querySelectorAll('img, #app b, #app i[onclick]').length") == 0
    )
    assert browser.find("h1").text == "</script><img src=x onerror=alert(1)>"
    assert browser.complaints() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["spacecraft", "servo with clocks"])
def test_axe_finds_nothing(name, scheme, browser, tmp_path):
    if not AXE.exists():
        pytest.skip("needs axe-core: npm ci in studio/")
    browser.show_in(scheme)
    try:
        open_page(browser, tmp_path / "page.html", sb.load(SHOWN[name]))
        browser.run("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        browser.run(AXE.read_text(encoding="utf-8"))
        found = browser.run_async("axe.run(document).then((found) => done(found.violations))")
    finally:
        browser.show_in()
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


def test_a_sweep_is_a_curve_of_what_runs_with_these_values_give(browser, load, tmp_path):
    open_page(browser, tmp_path / "page.html", load(HOSTILE))
    browser.run("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    browser.find(".sweep button").click()
    note = browser.wait(
        "/; 41 runs$/.test(document.querySelector('.sweep .note').textContent)"
        " && document.querySelector('.sweep .note').textContent"
    )
    assert note == "final state: last over k: from 0.000 to 4.000; 41 runs"


def test_each_variant_has_a_button_and_its_own_program(browser, tmp_path):
    file = "diagrams/spacecraft_controllers.yaml"
    choices = ("pd", "computed_torque")
    diagrams = [sb.load(file, variants=[f"controller={one}"]) for one in choices]
    made = open_page(browser, tmp_path / "page.html", *diagrams)
    np.testing.assert_array_equal(rows_of(browser, made[0]), made[0].reference().rows[0])
    browser.run("spartLive.run && document.querySelectorAll('.variants button')[1].click()")
    browser.wait("document.querySelectorAll('.variants button')[1].ariaPressed === 'true'")
    np.testing.assert_array_equal(rows_of(browser, made[1]), made[1].reference().rows[0])


def test_a_run_that_becomes_stiff_goes_on_by_an_implicit_method(browser, tmp_path):
    path = tmp_path / "page.html"
    (made,) = open_page(browser, path, sb.load("diagrams/tunes/servo.yaml"), ending="#kd=1e5")
    p = made.program.with_parameters({"kd": 1e5}).p
    assert made.when_stiff.setup.made.method.implicit is not None
    np.testing.assert_array_equal(rows_of(browser, made), made.when_stiff.reference(p).rows[0])
    assert browser.run("return [spartLive.run.ending, spartLive.run.steps < 200]") == [
        "complete",
        True,
    ]


def test_a_run_that_fails_is_told_with_its_time(browser, load, tmp_path):
    text = """
name: blows up
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  law: {type: FCN, expression: "x**2", arguments: [x]}
wires:
  - x -> law
  - law -> x
run: {T: 0.5}
"""
    open_page(browser, tmp_path / "page.html", load(text), ending="#x.x0=4")
    told = browser.find(".problem").text
    assert told.startswith("the solver failed")
    assert "t = 0.25" in told


def test_a_kept_signal_that_is_no_number_is_told_with_its_time(browser, load, tmp_path):
    text = """
name: out of range
blocks:
  clock: {type: TIME}
  root: {type: FCN, expression: "sqrt(0.5 - u)", arguments: [u]}
  show: {type: SCOPE}
wires:
  - clock -> root
  - root -> show
run: {T: 1.0}
"""
    open_page(browser, tmp_path / "page.html", load(text))
    assert browser.find(".problem").text == "root.y is not finite, at t = 0.501 s"


def test_a_stop_between_samples_is_the_last_row(browser, load, tmp_path):
    text = """
name: stops
blocks:
  clock: {type: TIME}
  far: {type: COMPARE, operator: ">", constant: 0.5}
  stop: {type: STOP}
  one: {type: CONSTANT, value: 1}
  x: {type: INTEGRATOR}
  show: {type: SCOPE}
wires:
  - clock -> far
  - far -> stop
  - one -> x
  - x -> show
run: {T: 1.0, every: 0.3}
"""
    (made,) = open_page(browser, tmp_path / "page.html", load(text))
    assert browser.run("return spartLive.run.ending") == "stopped"
    times = browser.run("return [...spartLive.run.t]")
    np.testing.assert_allclose(times, [0.0, 0.3, 0.5], rtol=1e-9)
    np.testing.assert_allclose(rows_of(browser, made)[:, 0], times, rtol=1e-9)

"""A test run: what passes, what fails and how it is told, and what is recorded."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mcap_writing import write_json

from spart_blocks.analysis.agreement import EngineDifference
from spart_blocks.base.errors import RunError, SpartWarning
from spart_blocks.claims import baselines
from spart_blocks.claims import check as module
from spart_blocks.claims.check import Manner, check, check_file
from spart_blocks.claims.files import cases, found_below, is_test, line_of_expect

PNG = b"\x89PNG\r\n\x1a\n"
UPDATE = Manner(update=True)


def updated(file, manner=UPDATE, **options):
    """Test with --update, and record what came of it."""
    outcome = check_file(file, manner=manner, **options)
    if outcome.change is not None:
        baselines.record(outcome.change)
    return outcome


def test_a_diagram_that_shows_what_it_says_passes(ramp):
    file = ramp(
        "settles: [{signal: x, to: 4, within: 0.5, by: 1.8}]",
        "monotone: [{signal: x, direction: rising}]",
        "final: [{signal: x, value: 4, within: 1e-6}, {signal: slope, value: $rate, within: 1e-9}]",
        "conserved: [{signal: slope, within: 0}]",
        "engines: true",
    )
    outcome = check_file(file)
    assert outcome.passed, outcome.troubles
    assert outcome.claims == 6
    assert outcome.change is None


BESIDE = """
name: beside
params: {{rate: {rate}}}
blocks:
  slope: {{type: CONSTANT, value: $rate}}
  x: {{type: INTEGRATOR}}
  measured: {{type: DATA, file: log.mcap, signals: /arm.x}}
  miss: {{type: SUM, signs: "+-"}}
wires: [slope -> x, x -> miss.0, measured -> miss.1]
run: {{T: 2, log: [x]}}
expect:
  never_exceeds: [{{signal: miss, limit: 0.05}}]
"""


@pytest.mark.parametrize(("rate", "passes"), [(2.0, True), (2.1, False)])
def test_a_claim_may_hold_a_run_to_a_recording(tmp_path, rate, passes):
    t = np.linspace(0, 2, 41)
    write_json(tmp_path / "log.mcap", _arm=(t, [{"x": 2 * s + 0.04 * np.sin(9 * s)} for s in t]))
    file = tmp_path / "beside.yaml"
    file.write_text(BESIDE.format(rate=rate))
    outcome = check_file(file)
    assert outcome.passed == passes
    assert [failure.signal for failure in outcome.failures] == [] if passes else ["miss"]


def test_a_failure_names_signal_time_numbers_place_and_picture(ramp, tmp_path):
    file = ramp("stays_within: [{signal: x, high: 3}]")
    outcome = check_file(file, manner=Manner(plots=tmp_path / "out"))
    [failure] = outcome.failures
    assert (failure.kind, failure.signal, failure.t) == ("stays_within", "x", 2.0)
    assert failure.got == pytest.approx(4.0)
    assert (failure.high, failure.low, failure.expected) == (3.0, -float("inf"), None)
    assert (failure.place.line, failure.place.column) == (10, 18)
    assert failure.picture == tmp_path / "out" / "ramp" / "stays_within_x.png"
    assert failure.picture.read_bytes().startswith(PNG)
    assert str(failure) == (
        f"{file}:10:18: stays_within x: got 4 at t = 2 s, expected at most 3\n"
        f"  picture: {failure.picture}"
    )


def test_every_claim_that_fails_is_told(ramp):
    outcome = check_file(
        ramp(
            "final: [{signal: x, value: 3, within: 0.1}, {signal: slope, value: 3, within: 0.1}]",
            "conserved: [{signal: x, within: 1}, {signal: slope, within: 1}]",
        )
    )
    assert [(f.kind, f.signal) for f in outcome.failures] == [
        ("conserved", "x"), ("final", "x"), ("final", "slope")
    ]  # fmt: skip


def test_signals_that_are_not_kept_are_held_too(tmp_path, spacecraft):
    """0.3 N m turns the first joint at once; a step at a place of no scope, and an output of
    the companion."""
    text = spacecraft + "expect: {never_exceeds: [{signal: 'plant.umdot[0]', limit: 1e-3}]}\n"
    (tmp_path / "sc.yaml").write_text(text)
    [failure] = check_file(tmp_path / "sc.yaml", root=Path("/")).failures
    assert failure.signal == "plant.umdot[0]"
    assert failure.got > 1e-3


def test_values_that_do_not_fit_are_faults_of_the_file(ramp):
    outcome = check_file(
        ramp("final: [{signal: x, value: [1, 2], within: 1}]", "audit: {within: 1e-3}")
    )
    assert not outcome.passed
    assert [str(fault.place.line) for fault in outcome.faults] == ["10"]
    assert "the value has shape (2,)" in outcome.troubles[0]
    [fault] = check_file(ramp("audit: {within: 1e-3}")).faults
    assert "no plant is audited" in str(fault)


def test_a_time_after_the_run_is_a_failure(ramp):
    [failure] = check_file(ramp("settles: [{signal: x, to: 4, within: 1, by: 3}]")).failures
    assert failure.message == "no sample lies in its time: the run goes from 0 to 2 s"


def test_a_file_without_the_section_or_with_mistakes_is_wrong(ramp, tmp_path):
    file = ramp()
    file.write_text(file.read_text().replace("expect:", ""))
    [fault] = check_file(file).faults
    assert "has no section expect:" in str(fault)
    [fault] = check_file(ramp("settle: []")).faults
    assert "did you mean 'settles'" in str(fault)
    [fault] = check_file(tmp_path / "none.yaml").faults
    assert "there is no such file" in str(fault)


def test_a_run_that_fails_fails_its_test(ramp):
    """1/(1 - t) has no integral beyond t = 1."""
    text = """\
blocks:
  one: {type: CONSTANT, value: 1.0}
  time: {type: TIME}
  gap: {type: SUM, signs: "+-"}
  inverse: {type: POW, p: -1}
  int: {type: INTEGRATOR}
wires: [one -> gap.0, time -> gap.1, gap -> inverse, inverse -> int]
run: {T: 5}
expect:
"""
    [failure] = check_file(ramp(text=text)).failures
    assert failure.kind == "run"
    assert "t = 1" in failure.message


def test_a_run_that_a_stop_ends_is_complete(ramp):
    """x = 2 t meets 3 at 1.5 s."""
    file = ramp("final: [{signal: x, value: 3, within: 1e-6}]", "baseline: {signals: [x]}")
    text = file.read_text().replace("  scope: {", "  three: {type: CONSTANT, value: 3}\n"
        "  over: {type: SUM, signs: '+-'}\n  stop: {type: STOP}\n  scope: {").replace(
        "x -> scope]", 'x -> scope, x -> over.0, three -> over.1, over -> stop]')  # fmt: skip
    file.write_text(text)
    assert updated(file).passed
    outcome = check_file(file)
    assert outcome.passed, outcome.troubles
    assert baselines.read(file.parent / "baselines" / "ramp.csv").t[-1] <= 1.5


# The baseline


def test_a_missing_baseline_fails_and_is_recorded_when_asked(ramp):
    file = ramp("baseline:")
    [failure] = check_file(file).failures
    assert failure.message == (
        "there is no file baselines/ramp.csv; record it: spart test --update"
    )
    outcome = updated(file)
    assert outcome.passed
    assert outcome.change.lines == ("new",)
    assert check_file(file).passed
    assert check_file(file, manner=UPDATE).change is None


def test_a_run_that_differs_fails_at_its_worst_time(ramp, tmp_path):
    file = ramp("baseline: {rtol: 1e-3}")
    updated(file)
    assert check_file(file, overrides=("rate=2.0015",)).passed
    manner = Manner(plots=tmp_path)
    [failure] = check_file(file, overrides=("rate=2.1",), manner=manner).failures
    assert (failure.kind, failure.signal, failure.t) == ("baseline", "x", 2.0)
    assert failure.got == pytest.approx(4.2)
    assert failure.expected == pytest.approx(4.0)
    assert failure.high - failure.expected == pytest.approx(4e-3 + 1e-6)
    assert failure.picture.read_bytes().startswith(PNG)


def test_a_baseline_that_holds_is_left_alone_unless_forced(ramp):
    file = ramp("baseline: {rtol: 1e-3}")
    updated(file)
    path = file.parent / "baselines" / "ramp.csv"
    before = path.read_bytes()
    assert updated(file, overrides=("rate=2.0015",)).change is None
    assert path.read_bytes() == before
    forced = updated(file, Manner(update=True, force=True), overrides=("rate=2.0015",))
    assert forced.change.lines == ("x: by 0.003 at most, at t = 2 s from 4 to 4.003",)
    assert path.read_bytes() != before


def test_an_update_shows_what_changes_and_records_it(ramp):
    file = ramp("baseline:")
    updated(file)
    outcome = updated(file, overrides=("rate=2.5",))
    assert outcome.passed
    assert outcome.change.lines == ("x: by 1 at most, at t = 2 s from 4 to 5",)
    assert check_file(file, overrides=("rate=2.5",)).passed
    ramp("baseline: {signals: [slope]}")
    assert [f.message.split(";")[0] for f in check_file(file).failures] == [
        "slope is not in the baseline", "x is in the baseline but recorded no more"
    ]  # fmt: skip
    assert updated(file).change.lines == ("slope: new", "x: gone")
    assert check_file(file).passed


def test_a_diagram_that_fails_another_claim_gets_no_baseline(ramp):
    outcome = updated(ramp("baseline:", "final: [{signal: x, value: 3, within: 0.1}]"))
    assert [f.kind for f in outcome.failures] == ["final"]
    assert outcome.change is None


def test_a_broken_baseline_is_wrong_and_can_be_recorded_again(ramp):
    file = ramp("baseline:")
    updated(file)
    path = file.parent / "baselines" / "ramp.csv"
    path.write_text(path.read_text() + "words\n")
    [fault] = check_file(file).faults
    assert str(fault).startswith(f"{path}:")
    assert updated(file).change.lines == ("the old one cannot be read",)
    assert check_file(file).passed


def test_another_file_is_never_recorded_over(ramp, tmp_path):
    (tmp_path / "data.csv").write_text("t,x\n0,1\n")
    outcome = updated(ramp("baseline: {file: data.csv}"), Manner(update=True, force=True))
    assert "is no baseline" in str(outcome.faults[0])
    assert (tmp_path / "data.csv").read_text() == "t,x\n0,1\n"


CHOICES = """\
variants:
  slope:
    default: slow
    choices:
      slow: {type: CONSTANT, value: $rate}
      fast: {type: CONSTANT, value: 3}
      late: {type: STEP, T: 1, on: 3}
blocks:
"""


def swapping(text):
    return text.replace("blocks:\n  slope: {type: CONSTANT, value: $rate}\n", CHOICES)


def test_each_choice_is_a_case_with_a_baseline_of_its_own(ramp):
    file = ramp("baseline:", "each_variant: true", text=swapping(ramp.text))
    every = cases(file)
    assert [case.name for case in every] == ["ramp", "ramp-slope=fast", "ramp-slope=late"]
    for case in every:
        baselines.record(check(case, UPDATE).change)
        assert check(case).passed
    folder = file.parent / "baselines"
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["ramp.csv", "ramp.slope=fast.csv", "ramp.slope=late.csv"]
    ends = [float((folder / name).read_text().splitlines()[-1].split(",")[1]) for name in names]
    assert ends == pytest.approx([4, 6, 3], abs=1e-6)


def test_only_the_default_is_a_case_unless_each_variant_is_asked_for(ramp):
    assert len(cases(ramp("baseline:", text=swapping(ramp.text)))) == 1
    assert len(cases(ramp("each_variant: false", text=swapping(ramp.text)))) == 1
    assert len(cases(ramp("each_variant: true"))) == 1
    broken = swapping(ramp.text).replace("default: slow", "default: none")
    [case] = cases(ramp("each_variant: true", text=broken))
    assert "has no choice 'none'" in str(check(case).faults[0])


def test_a_case_may_need_blocks_of_the_user_s_own(ramp, tmp_path):
    (tmp_path / "own.py").write_text(
        "from bdsim.components import SourceBlock\n\n\n"
        "class Seven(SourceBlock):\n"
        "    nin = 0\n    nout = 1\n\n"
        "    def output(self, t, inputs, x):\n        return [7.0]\n"
    )
    text = ramp.text.replace("{type: CONSTANT, value: $rate}", "{type: SEVEN}")
    file = ramp("final: [{signal: x, value: 14, within: 1e-6}]", text=text)
    assert "there is no block type 'SEVEN'" in str(check_file(file).faults[0])
    assert check_file(file, blocks=(str(tmp_path / "own.py"),)).passed


# Engines, speed, audits, interrupts, warnings


def test_engines_that_differ_are_a_failure(ramp, monkeypatch):
    def compared(diagram, T, samples, file):
        return (EngineDifference("states.x", 3e-7, 4.0, 1.5), EngineDifference("x", 1e-8, 4.0, 1.0))

    monkeypatch.setattr("spart_blocks.claims.check.compare_engines", compared)
    [failure] = check_file(ramp("engines: true")).failures
    assert (failure.kind, failure.signal, failure.t) == ("engines", "states.x", 1.5)
    assert "3e-07 apart" in failure.message
    assert check_file(ramp("engines: {within: 1e-6}")).passed


def test_a_miss_of_speed_is_a_failure_only_when_asked(ramp):
    file = ramp("speed: {times_real_time: 1e12}")
    outcome = check_file(file)
    assert outcome.passed
    assert "times as fast as real time, expected 1e+12" in outcome.slow
    outcome = check_file(file, manner=Manner(timing=True))
    assert [f.kind for f in outcome.failures] == ["speed"]
    assert check_file(ramp("speed: {times_real_time: 1e-9}"), manner=Manner(timing=True)).passed


def test_a_run_that_claims_slow_down_is_timed_without_them(ramp, monkeypatch):
    speeds = iter([1.0, 100.0])
    monkeypatch.setattr(module, "real_time_factor", lambda results: next(speeds))
    outcome = check_file(ramp("speed: {times_real_time: 50}"))
    assert (outcome.slow, list(speeds)) == (None, [])


AUDITED = """\
  wrong: {type: CONSTANT, value: [-0.3, 0.2, -0.1]}
  audit: {type: AUDIT, robot: sc}
wires:
  - torque -> plant.taum
  - TORQUE -> audit.taum
  - plant.R0 -> audit.R0
  - plant.r0 -> audit.r0
  - plant.qm -> audit.qm
  - plant.u0 -> audit.u0
  - plant.um -> audit.um
run:
  T: 1
  log: [audit.p, audit.h, audit.energy, audit.p_balance, audit.h_balance, audit.energy_balance]
expect:
"""


@pytest.mark.parametrize(("torque", "failing"), [("torque", []), ("wrong", ["energy_balance"])])
def test_balances_of_an_audited_plant_are_held_unasked(
    tmp_path, spacecraft, monkeypatch, torque, failing
):
    """Work told with the wrong sign shows as a balance that drifts."""
    honest = module.finish

    def as_of_a_plant(run):
        results = honest(run)
        return replace(results, signals={f"plant.{k}": x for k, x in results.signals.items()})

    monkeypatch.setattr(module, "finish", as_of_a_plant)
    text = spacecraft.partition("wires:")[0] + AUDITED.replace("TORQUE", torque)
    (tmp_path / "sc.yaml").write_text(text)
    outcome = check_file(tmp_path / "sc.yaml", root=Path("/"))
    assert outcome.claims == 3
    assert [f.signal for f in outcome.failures] == [f"plant.audit.{name}" for name in failing]


def test_an_interrupted_run_is_no_pass(ramp):
    def interrupt(t, end):
        raise KeyboardInterrupt

    text = ramp().read_text().replace("run: {T: 2}", "run: {T: 2, solver: RK23}")
    outcome = check(cases(ramp(text=text))[0], progress=interrupt)
    assert outcome.interrupted
    assert not outcome.passed


def test_an_interrupted_comparison_is_no_pass(ramp, monkeypatch):
    def compared(diagram, T, samples, file):
        raise RunError("the comparison was interrupted at t = 1 s")

    monkeypatch.setattr("spart_blocks.claims.check.compare_engines", compared)
    assert check_file(ramp("engines: true")).interrupted


def test_warnings_about_the_diagram_are_in_the_outcome(ramp, monkeypatch):
    honest = module.finish

    def warned(run):
        warnings.warn("doubtful", SpartWarning, stacklevel=2)
        warnings.warn("of others", UserWarning, stacklevel=2)
        return honest(run)

    monkeypatch.setattr(module, "finish", warned)
    assert check_file(ramp()).warnings == ("doubtful",)


# Finding tests


def test_tests_are_told_by_their_text(tmp_path):
    texts = {
        "yes.yaml": "blocks: {}\nexpect:\n",
        "quoted.yml": '"expect": {}\r\n"blocks" : {}\r\n',
        "bom.yaml": "\ufeffexpect: {}\nblocks: {}\n",
        "no_expect.yaml": "blocks: {}\n# expect:\n",
        "nested.yaml": "blocks: {}\nspec:\n  expect: 1\n",
        "no_blocks.yaml": "expect: {}\n",
        "longer.yaml": "blocks: {}\nexpected: 1\nexpect:1\n",
        "text.txt": "blocks: {}\nexpect:\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\0blocks:")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    found = {path.name for path in tmp_path.iterdir() if is_test(path)}
    assert found == {"yes.yaml", "quoted.yml", "bom.yaml"}
    assert line_of_expect(tmp_path / "yes.yaml") == 1


def test_folders_are_searched_but_for_hidden_and_installed_ones(tmp_path):
    text = "blocks: {}\nexpect:\n"
    for folder in ("b", "a/deep", ".git", "venv/lib", "node_modules"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "d.yaml").write_text(text)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    (tmp_path / "c.yaml").write_text(text)
    found = [path.relative_to(tmp_path).as_posix() for path in found_below(tmp_path)]
    assert found == ["c.yaml", "a/deep/d.yaml", "b/d.yaml"]


@pytest.mark.parametrize("compiler", ["if there", "none"])
def test_a_run_that_takes_too_many_steps_fails_and_ends(ramp, monkeypatch, compiler):
    if compiler == "none":
        monkeypatch.setenv("SPART_COMPILER", "none")
    monkeypatch.setattr(module, "MOST_STEPS", 50)
    text = ramp.text.replace("run: {T: 2}", "run: {T: 2, max_step: 1e-4}")
    failure = check_file(ramp("baseline:", text=text)).failures[0]
    assert failure.kind == "run"
    assert "the run has taken more than 50 steps" in failure.message


def test_what_holds_is_told_with_what_comes_closest_to_its_limit(ramp):
    file = ramp(
        "stays_within: [{signal: x, high: 5}, {signal: x, low: -1, until: 1}]",
        "final: [{signal: x, value: 4.25, within: 0.5}, {signal: x, value: 5, within: 0.5}]",
        "conserved: [{signal: slope, within: 0}]",
        "baseline:",
        "engines: true",
        "speed: {times_real_time: 1e-3}",
    )
    outcome = updated(file)
    assert [one.claim for one in outcome.failures] == [("final", 1)]
    found = {one.claim: one for one in outcome.held}
    keys = [("stays_within", 0), ("stays_within", 1), ("conserved", 0), ("final", 0)]
    assert [*found] == [*keys, ("engines",), ("speed",)]  # no baseline is recorded yet
    upper, lower, _, final, *_ = found.values()
    assert (upper.signal, upper.t, upper.high) == ("x", 2.0, 5.0)
    assert upper.message == "got 4 at t = 2 s, expected at most 5"
    assert lower.t == 0.0
    assert lower.message == "got 0 at t = 0 s, expected at least -1"
    assert final.message == "got 4 at t = 2 s, expected 4.25 within 0.5, off by 0.25"
    assert found["engines",].got < 1e-7
    assert found["speed",].message.endswith("times as fast as real time, expected 0.001")
    assert final.place.line == 11


def test_of_a_baseline_each_signal_is_told(ramp):
    text = ramp.text.replace("{T: 2}", "{T: 2, log: [slope]}")
    file = ramp("baseline: {atol: 0.1}", text=text)
    updated(file)
    outcome = check_file(file, overrides=("rate=2.06",))
    assert [one.signal for one in outcome.held] == ["slope"]
    assert [one.signal for one in outcome.failures] == ["x"]
    assert {one.claim for one in (*outcome.held, *outcome.failures)} == {("baseline",)}

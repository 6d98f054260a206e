"""The claims of a file: listed, written, tested claim by claim, their baseline recorded."""

from __future__ import annotations

import os

import numpy as np
import pytest
from asking import Asking
from fake_page import in_page

from spart_blocks.base.document import parse_value
from spart_blocks.base.errors import InputError
from spart_blocks.claims.check import check_file
from spart_blocks.results import FinalState, Results
from spart_blocks.run import DiagramFile, begin, finish
from spart_blocks.studio.claims import testing
from spart_blocks.studio.runs.suggestions import rounded_up, suggested
from spart_blocks.versions.edits import Append, edit

SERVO = """\
name: servo
params: {k: 2, goal: 0.5}
blocks:
  goal: {type: STEP, T: 0.25, on: $goal}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $k}
  x: {type: INTEGRATOR}
  both: {type: MUX, nin: 2}
  scope: {type: SCOPE}
wires:
  - goal -> error.0, both.0
  - error -> gain
  - gain -> x
  - x -> error.1, scope, both.1
run: {T: 5}
"""
LONG = SERVO.replace("{T: 5}", "{T: 1500, max_step: 1e-3}")
CLAIMS = """\
expect:
  baseline:
  final:
    - {signal: x, value: $goal, within: 0.01} # settled
    - {signal: gain, value: 0, within: 1e-9}
  stays_within: [{signal: "both[0:2]", high: 0.6, from: 1}]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "spart.toml").touch()
    (tmp_path / "servo.yaml").write_text(SERVO + CLAIMS)
    (tmp_path / "bare.yaml").write_text(SERVO)
    return tmp_path


@pytest.fixture
def asking(folder):
    found = Asking(folder)
    for name in ("servo.yaml", "bare.yaml"):
        found.ok("open", path=name)
    return found


def test_claims_are_listed_with_their_lines_and_values(asking):
    found = asking.ok("claims", path="servo.yaml")
    assert found["tested"]
    assert found["test"] is None
    listed = [(one["path"], one["line"], one["signal"]) for one in found["claims"]]
    assert listed == [
        ("expect.stays_within[0]", 21, "both[0:2]"),
        ("expect.final[0]", 19, "x"),
        ("expect.final[1]", 20, "gain"),
        ("expect.baseline", 17, ""),
    ]
    high, first, *_ = found["claims"]
    assert first["key"] == "final {signal: x, value: $goal, within: 0.01}"
    texts = {field["path"]: field["text"] for field in first["fields"]}
    assert texts == {"expect.final[0].signal": "x", "expect.final[0].value": "$goal",
                     "expect.final[0].within": "0.01"}  # fmt: skip
    start = next(field for field in high["fields"] if field["name"] == "from")
    assert (start["path"], start["unit"], start["text"]) == (
        "expect.stays_within[0].from",
        "s",
        "1",
    )
    kinds = {one["kind"]: one for one in found["kinds"]}
    assert [*kinds][:2] == ["settles", "stays_within"]
    assert [field["name"] for field in kinds["monotone"]["fields"]] == [
        "signal", "direction", "within"]  # fmt: skip
    assert kinds["monotone"]["fields"][1]["choices"] == ["rising", "falling"]
    assert (kinds["baseline"]["several"], kinds["final"]["several"]) == (False, True)
    bare = asking.ok("claims", path="bare.yaml")
    assert (bare["tested"], bare["claims"]) == (False, [])


@pytest.mark.parametrize(
    ("section", "kinds"),
    [
        ("", []),
        ("[1]", []),
        ("{final: {a: 1}}", []),
        ("{nothing: [1]}", []),
        ("{final: [1, x, null]}", ["final"] * 3),
        ("{baseline: 3, engines: false, settles: [[]]}", ["settles", "baseline"]),
    ],
)
def test_claims_that_are_wrong_are_listed_too(asking, folder, section, kinds):
    (folder / "wrong.yaml").write_text(f"{SERVO}expect: {section}\n")
    asking.ok("open", path="wrong.yaml")
    found = asking.ok("claims", path="wrong.yaml")
    assert found["tested"]
    assert [one["kind"] for one in found["claims"]] == kinds


def test_a_claim_is_added_changed_removed_and_taken_back(asking, folder):
    file = folder / "bare.yaml"
    text = "{signal: x, value: 0.5, within: 0.01}"
    found = asking.edit("bare.yaml", {"op": "append", "path": "expect.final", "text": text})
    assert found["opened"]["undo"] == "add to expect.final"
    assert found["opened"]["problems"] == []
    assert file.read_text() == SERVO + f"expect:\n  final:\n    - {text}\n"
    asking.edit("bare.yaml", {"op": "set", "path": "expect.final[0].within", "text": "0.1"},
                {"op": "set", "path": "expect.final[0].signal", "text": "gain"})  # fmt: skip
    assert "- {signal: gain, value: 0.5, within: 0.1}\n" in file.read_text()
    asking.edit("bare.yaml", {"op": "unset", "path": "expect.final"})
    assert asking.ok("claims", path="bare.yaml")["claims"] == []
    for _ in range(3):
        asking.ok("undo", path="bare.yaml", at="")
    assert file.read_text() == SERVO


def test_a_claim_about_nothing_is_told_before_it_is_written(asking):
    opened = asking.ok("open", path="bare.yaml")
    claim = {"op": "append", "path": "expect.final", "text": "{signal: none, value: 1, within: 1}"}
    tried = asking.ok("try", path="bare.yaml", revision=opened["revision"], operations=[claim])
    assert "none" in tried["problems"][0]["message"]
    claim["text"] = "{signal: x, value: soon, within: 1}"
    tried = asking.ok("try", path="bare.yaml", revision=opened["revision"], operations=[claim])
    assert "must be a finite number" in tried["problems"][0]["message"]


# --- tests --------------------------------------------------------------------------------------


def told(page):
    """The test as it was told last."""
    return next((m["test"] for m in reversed(page.told) if m["tell"] == "test"), None)


async def outcome_of(page, path="servo.yaml", **given):
    """The facts of a test that has ended."""
    page.told.clear()
    begun = await page.ask("test", path=path, **given)
    assert begun["state"] == "running"
    await page.until(lambda: told(page) is not None and told(page)["state"] != "running")
    return told(page)


def verdicts(test):
    """What the only case says of each claim."""
    (case,) = test["cases"]
    return {(one["key"], one["signal"]): one["verdict"] for one in case["findings"]}


def test_each_claim_is_judged_as_the_command_judges_it(folder):
    async def work(page):
        opened = await page.ask("open", path="servo.yaml")
        test = await outcome_of(page)
        assert (test["state"], test["revision"]) == ("ended", opened["revision"])
        (case,) = test["cases"]
        outcome = check_file(folder / "servo.yaml", root=folder)
        assert [one["message"] for one in case["findings"]] == [
            one.message for one in (*outcome.failures, *outcome.held)]  # fmt: skip
        listed = (await page.ask("claims", path="servo.yaml"))["claims"]
        found = {one["key"]: (one["verdict"], one["t"]) for one in case["findings"]}
        assert [found[one["key"]] for one in listed] == [
            ("passed", 1.0), ("passed", 5.0), ("failed", 5.0), ("failed", None)]  # fmt: skip
        assert not case["passed"]
        assert "spart test --update" in next(one["message"] for one in case["findings"]
                                             if one["kind"] == "baseline")  # fmt: skip
        assert (await page.ask("claims", path="servo.yaml"))["test"] == test

    in_page(folder, work)


def test_a_baseline_is_recorded_and_not_overwritten_without_being_asked(folder):
    (folder / "servo.yaml").write_text(SERVO + "expect: {baseline: }\n")
    baseline = folder / "baselines" / "servo.csv"

    async def work(page):
        await page.ask("open", path="servo.yaml")
        test = await outcome_of(page, update=True)
        wanted = {"file": "baselines/servo.csv", "lines": ["new"], "written": True}
        assert test["cases"][0]["change"] == wanted
        before = baseline.read_text()
        assert "no baseline is to be written" in await page.refused("record", path="servo.yaml")

        opened = (await page.ask("open", path="servo.yaml"))["revision"]
        change = {"op": "set", "path": "params.k", "text": "3"}
        await page.ask("edit", path="servo.yaml", at="", revision=opened, operations=[change])
        test = await outcome_of(page, update=True)
        told_change = test["cases"][0]["change"]
        assert told_change["written"] is False
        assert told_change["lines"][0].startswith("x: by 0.0")
        assert baseline.read_text() == before
        (folder / "servo.yaml").write_text((folder / "servo.yaml").read_text() + "# mine\n")
        assert "has changed" in await page.refused("record", path="servo.yaml")
        await page.ask("open", path="servo.yaml")
        await outcome_of(page, update=True)
        recorded = await page.ask("record", path="servo.yaml")
        assert recorded["cases"][0]["change"]["written"]
        assert baseline.read_text() != before
        assert verdicts(await outcome_of(page)) == {("baseline null", "x"): "passed"}

    in_page(folder, work)


def test_each_variant_is_a_case_and_what_is_wrong_is_told(folder):
    text = SERVO.replace("  gain: {type: GAIN, K: $k}\n", "") + (
        "variants:\n  gain:\n    default: soft\n    choices:\n"
        "      soft: {type: GAIN, K: $k}\n      wrong: {type: GAIN, K: 0}\n"
        "expect: {each_variant: true, final: [{signal: x, value: $goal, within: 0.01}]}\n"
    )
    (folder / "servo.yaml").write_text(text)
    (folder / "bad.yaml").write_text(text.replace("signal: x", "signal: y"))

    async def work(page):
        await page.ask("open", path="servo.yaml")
        test = await outcome_of(page)
        assert [(one["name"], one["passed"]) for one in test["cases"]] == [
            ("servo", True), ("servo-gain=wrong", False)]  # fmt: skip
        await page.ask("open", path="bad.yaml")
        test = await outcome_of(page, path="bad.yaml")
        (fault, *_) = test["cases"][0]["faults"]
        assert fault["place"].startswith("bad.yaml:")
        assert "y" in fault["message"]
        await page.ask("open", path="bare.yaml")
        test = await outcome_of(page, path="bare.yaml")
        assert test["cases"][0]["faults"][0]["message"] == "has no section expect:"

    in_page(folder, work)


def alive(process):
    """Whether the process of a test is there."""
    return process is not None and process.alive


def test_a_test_is_stopped_and_ends_with_its_page_and_the_session(folder, monkeypatch):
    (folder / "servo.yaml").write_text(LONG + CLAIMS)
    monkeypatch.setattr(testing.FileTest, "patience", 60.0)

    async def begun(page):
        await page.ask("open", path="servo.yaml")
        page.told.clear()
        await page.ask("test", path="servo.yaml")
        await page.until(lambda: told(page) and told(page)["done"] > 0)
        test = testing.tests_of(page.client.session).tests["servo.yaml"]
        assert alive(test.process)
        return test, test.process

    async def work(page):
        test, process = await begun(page)
        await page.ask("stop-test", path="servo.yaml")
        assert test.facts["state"] == "stopped"
        assert not alive(process)
        _, process = await begun(page)
        await page.ask("close", path="servo.yaml")
        assert not alive(process)
        first, process = await begun(page)
        await begun(page)  # one of a file at a time
        assert (first.facts["state"], alive(process)) == ("stopped", False)
        found = testing.tests_of(page.client.session).tests["servo.yaml"].process
        await page.client.session.left_by(page.client)
        assert not alive(found)
        page.client.session.clients.add(page.client)
        processes.append((await begun(page))[1])

    processes = []
    in_page(folder, work)
    assert not alive(processes[0])


def test_a_test_whose_process_is_killed_is_told(folder):
    (folder / "servo.yaml").write_text(LONG + CLAIMS)

    async def work(page):
        await page.ask("open", path="servo.yaml")
        await page.ask("test", path="servo.yaml")
        await page.until(lambda: told(page) and told(page)["done"] > 0)
        test = testing.tests_of(page.client.session).tests["servo.yaml"]
        os.kill(test.process._process.pid, 9)
        await page.until(lambda: told(page)["state"] != "running")
        assert told(page)["state"] == "failed"
        assert "signal 9" in told(page)["problem"]["message"]

    in_page(folder, work)


def test_tests_are_of_open_files(folder):
    async def work(page):
        for what in ("claims", "test", "stop-test", "record"):
            assert "is not open" in await page.refused(what, path="servo.yaml")

    in_page(folder, work)


# --- suggestions -----------------------------------------------------------------------------


@pytest.mark.parametrize("signal", ["x", "gain", "goal", "both", "both[1]"])
def test_suggested_claims_hold_for_the_diagram_that_was_run(folder, signal):
    file = folder / "bare.yaml"
    results = finish(begin(DiagramFile(file)))
    for kind, texts in suggested(results, signal).items():
        claim = {"signal": signal} | {k: parse_value(text, k) for k, text in texts.items()}
        edit(file, Append(f"expect.{kind}", claim))
    outcome = check_file(file, root=folder)
    assert outcome.passed, outcome.troubles
    assert outcome.claims == 6


def results_of(x):
    t = np.linspace(0, 10, len(x))
    return Results(t=t, signals={"x": np.asarray(x)}, states={}, final_state=FinalState(10.0),
                   diagram_name="known", info={"T": 10.0})  # fmt: skip


def test_suggestions_are_short_and_leave_room():
    t = np.linspace(0, 10, 1001)
    found = suggested(results_of(2 * (1 - np.exp(-t))), "x")
    assert found["final"] == {"within": "0.02", "value": "2"}
    assert found["settles"] == {"within": "0.04", "to": "2", "by": "4.1"}
    assert found["never_exceeds"] == {"limit": "2.1"}
    assert found["stays_within"] == {"low": "-0.1", "high": "2.1"}
    assert found["monotone"] == {"direction": "rising"}
    found = suggested(results_of(np.zeros(5)), "x")
    assert float(found["never_exceeds"]["limit"]) > 0
    assert float(found["final"]["within"]) > 0
    found = suggested(results_of(np.cos(t)), "x")
    assert found["monotone"]["direction"] == "falling"
    assert float(found["monotone"]["within"]) > 2
    found = suggested(results_of(np.stack([t, -t], axis=1)), "x")
    assert found["final"]["value"] == "[10, -10]"
    assert "value" not in suggested(results_of(np.zeros((4, 7, 7))), "x")["final"]
    with pytest.raises(InputError, match="not finite"):
        suggested(results_of(np.array([1.0, np.nan])), "x")


@pytest.mark.parametrize(
    ("value", "step", "wanted"),
    [
        (0.012, None, 0.012),
        (0.0121, None, 0.013),
        (7, 0.5, 7),
        (7.01, 0.5, 7.1),
        (-0.26, 0.1, -0.2),
    ],
)
def test_rounding_up(value, step, wanted):
    assert rounded_up(value, step) == pytest.approx(wanted)

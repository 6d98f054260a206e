"""`spart test`: what it runs, prints, writes and answers."""

from __future__ import annotations

import os

import pytest

EXPECTING = """
name: ramp
params: {height: 2.0}
blocks:
  step: {type: STEP, T: 1.0, on: $height}
  int: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires:
  - step -> int
  - int -> scope
run: {T: 2}
expect:
  final: [{signal: int, value: 2, within: 1e-6}]
"""


@pytest.fixture
def expecting(tmp_path):
    """expecting("diagrams/a.yaml", "baseline:"): a ramp to 2 with these claims besides."""

    def written(name, *claims, text=EXPECTING):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "".join(f"  {claim}\n" for claim in claims), encoding="utf-8")
        return file

    return written


def test_each_diagram_that_passes_has_a_line(spart, expecting):
    expecting("diagrams/a.yaml")
    expecting("diagrams/deep/b.yml")
    expecting("elsewhere/c.yaml")
    answer = spart("test")
    assert answer.code == 0
    first, second, last = answer.out.splitlines()
    assert first.startswith("passed  diagrams/a.yaml  (1 claim, ")
    assert second.startswith("passed  diagrams/deep/b.yml  (1 claim, ")
    assert last == "2 diagrams passed"
    assert "testing 2 diagrams" in answer.err


def test_without_a_folder_of_diagrams_the_folder_here_is_searched(spart, expecting, ramp):
    expecting("a.yaml")
    answer = spart("test", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_a_file_is_tested_once_however_named(spart, expecting):
    file = expecting("diagrams/a.yaml")
    answer = spart("test", "diagrams", file, "./diagrams/a.yaml")
    assert answer.out.splitlines()[-1] == "1 diagram passed"


def test_a_failure_is_told_with_its_picture_and_exit_code_1(spart, expecting, tmp_path):
    expecting("diagrams/a.yaml", "never_exceeds: [{signal: int, limit: 1}]")
    expecting("diagrams/b.yaml")
    answer = spart("test")
    assert answer.code == 1
    lines = answer.out.splitlines()
    assert lines[0].startswith("FAILED  diagrams/a.yaml  (2 claims, ")
    assert lines[1] == (
        "    diagrams/a.yaml:14:19: never_exceeds int: got 2 at t = 2 s, "
        "expected a magnitude of at most 1"
    )
    assert lines[2] == "      picture: out/ramp/never_exceeds_int.png"
    assert lines[-1] == "1 diagram passed, 1 failed: diagrams/a.yaml"
    assert (tmp_path / "out/ramp/never_exceeds_int.png").is_file()
    assert spart("test", "--plots", "pictures", "--quiet").code == 1
    assert (tmp_path / "pictures/ramp/never_exceeds_int.png").is_file()


def test_a_file_that_is_wrong_is_exit_code_2_and_the_others_are_tested(spart, expecting):
    expecting("diagrams/a.yaml", "finall: []")
    expecting("diagrams/b.yaml")
    answer = spart("test")
    assert answer.code == 2
    assert "diagrams/a.yaml:14:3: unknown key 'finall' in expect" in answer.out
    assert answer.out.splitlines()[-1] == "1 diagram passed, 1 wrong: diagrams/a.yaml"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no diagram in . has a section expect:"),
        (["none.yaml"], "none.yaml: there is no such file or folder"),
        (["ramp.yaml", "--force"], "--force goes with --update"),
        (["ramp.yaml", "--plots", "ramp.yaml"], "--plots ramp.yaml: "),
    ],
)
def test_nothing_to_test_is_wrong_input(spart, ramp, arguments, message):
    answer = spart("test", *arguments)
    assert answer.code == 2
    assert message in answer.err


def test_a_file_that_is_named_must_have_claims(spart, ramp):
    answer = spart("test", ramp)
    assert answer.code == 2
    assert "has no section expect:" in answer.out


def test_a_pipe_is_no_diagram_and_nobody_waits_for_it(spart, expecting, tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    answer = spart("test", "pipe.yaml")
    assert answer.code == 2
    assert "pipe.yaml: is not a file" in answer.out


def test_update_shows_what_changes_and_then_records_it(spart, expecting, tmp_path):
    text = EXPECTING.replace("value: 2,", "value: $height,")
    expecting("diagrams/a.yaml", "baseline: {samples: 4}", text=text)
    answer = spart("test")
    assert answer.code == 1
    assert "there is no file baselines/a.csv; record it: spart test --update" in answer.out
    answer = spart("test", "--update")
    assert answer.code == 0
    assert answer.out.splitlines()[1:] == [
        "    new", "    recorded diagrams/baselines/a.csv",
        "1 diagram passed, 1 baseline recorded",
    ]  # fmt: skip
    before = (tmp_path / "diagrams/baselines/a.csv").read_text()
    assert before.splitlines()[-1] == "2,2"
    assert spart("test", "--update").out.splitlines()[1:] == ["1 diagram passed"]
    expecting("diagrams/a.yaml", "baseline: {samples: 4}", text=text.replace("2.0", "3.0"))
    answer = spart("test", "--update")
    assert answer.code == 0
    assert "    int: by 1 at most, at t = 2 s from 2 to 3" in answer.out
    assert (tmp_path / "diagrams/baselines/a.csv").read_text().splitlines()[-1] == "2,3"


def test_a_diagram_that_fails_gets_no_new_baseline(spart, expecting, tmp_path):
    expecting("a.yaml", "baseline:", "conserved: [{signal: int, within: 1}]")
    answer = spart("test", "--update")
    assert answer.code == 1
    assert "conserved int: " in answer.out
    assert "a diagram that fails gets no new baseline" in answer.err
    assert not (tmp_path / "baselines").exists()


def test_a_baseline_that_cannot_be_written_is_wrong_input(spart, expecting, tmp_path):
    expecting("a.yaml", "baseline:")
    (tmp_path / "baselines").write_text("a file")
    answer = spart("test", "--update")
    assert answer.code == 2
    assert "cannot make the folder" in answer.err


def test_a_slow_run_is_a_warning_unless_timing_is_asked_for(spart, expecting):
    expecting("a.yaml", "speed: {times_real_time: 1e12}")
    answer = spart("test")
    assert answer.code == 0
    assert "warning: a.yaml: ran " in answer.err
    answer = spart("test", "--timing")
    assert answer.code == 1
    assert "speed: ran " in answer.out


def test_an_interrupt_ends_the_tests_and_says_what_was_done(spart, expecting, monkeypatch):
    for name in "abc":
        expecting(f"{name}.yaml")
    from spart_blocks.claims import check as module

    honest, seen = module.check, []

    def checked(case, manner, *progress):
        if seen:
            raise KeyboardInterrupt
        seen.append(case)
        return honest(case, manner, *progress)

    monkeypatch.setattr(module, "check", checked)
    answer = spart("test")
    assert answer.code == 1
    assert answer.out.splitlines()[-1] == "1 diagram passed"
    assert "error: interrupted: 2 diagrams of 3 not tested" in answer.err


def test_ctrl_c_within_a_run_is_no_pass(spart, expecting, monkeypatch):
    """The progress callback is where a Ctrl-C can be placed at will."""

    def interrupt(self, t, end):
        raise KeyboardInterrupt

    monkeypatch.setattr("spart_blocks.cli.terminal.ProgressBar.__call__", interrupt)
    expecting("a.yaml", text=EXPECTING.replace("{T: 2}", "{T: 2, solver: RK23}"))
    answer = spart("test")
    assert answer.code == 1
    assert answer.out.splitlines() == ["0 diagrams passed"]
    assert "error: interrupted: 1 diagram of 1 not tested" in answer.err

"""`spart run`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import numpy as np
import pytest

from spart_blocks.results import Results


def test_run_prints_a_summary_and_writes_the_scopes(spart, ramp, tmp_path):
    answer = spart("run", ramp)
    assert answer.code == 0
    assert "ramp: complete" in answer.out
    assert "out/ramp/scope.png" in answer.out.replace("\\", "/")
    assert (tmp_path / "out/ramp/scope.png").read_bytes().startswith(b"\x89PNG")
    assert f"loading {ramp}" in answer.err
    assert "running ramp to t = 2 s" in answer.err


def test_out_may_be_repeated_and_plots_names_the_folder(spart, ramp, tmp_path):
    names = ["r.npz", "r.csv", "r.mat"]
    saved = [word for name in names for word in ("--out", name)]
    assert spart("run", ramp, *saved, "--plots", "my figs").code == 0
    assert sorted(path.name for path in tmp_path.iterdir() if path != ramp) == sorted(
        [*names, "my figs"]
    )
    assert (tmp_path / "my figs/scope.png").exists()
    assert Results.load("r.npz")["int"][-1] == pytest.approx(2.0, rel=1e-6)


def test_the_stream_of_all_rows_is_among_the_files_written(spart, ramp, tmp_path):
    answer = spart("run", ramp, "--stream", "rows.parquet")
    assert answer.out.splitlines()[-2].strip() == "rows.parquet"
    assert (tmp_path / "rows.parquet").exists()


def test_set_and_t_change_the_run(spart, ramp):
    assert spart("run", ramp, "--set", "height=4", "--t", "3", "-o", "r.npz", "-q").code == 0
    results = Results.load("r.npz")
    assert results.t[-1] == 3
    assert results["int"][-1] == pytest.approx(8.0, rel=1e-6)


def test_a_run_in_two_parts_equals_one(spart, ramp):
    spart("run", ramp, "-o", "first.npz", "-q")
    spart("run", ramp, "--initial", "first.npz", "--t", "5", "-o", "second.npz", "-q")
    spart("run", ramp, "--t", "5", "-o", "whole.npz", "-q")
    second, whole = Results.load("second.npz"), Results.load("whole.npz")
    assert second.t[0] == 2
    assert second["int"][-1] == pytest.approx(float(whole["int"][-1]), rel=1e-9)


def test_quiet_prints_nothing_but_writes(spart, ramp, tmp_path):
    answer = spart("run", ramp, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert (tmp_path / "out/ramp/scope.png").exists()


def test_without_scopes_nothing_is_plotted_unless_asked(spart, ramp, tmp_path):
    text = ramp.read_text().replace("  - int -> scope\n", "")
    ramp.write_text(text.replace("  scope: {type: SCOPE}\n", ""))
    assert "no scopes" in spart("run", ramp).err
    assert not (tmp_path / "out").exists()
    spart("run", ramp, "--plots", "figs")
    assert [path.name for path in (tmp_path / "figs").iterdir()] == ["ramp.png"]


def test_the_diagrams_name_cannot_lead_files_elsewhere(spart, ramp, tmp_path):
    ramp.write_text(ramp.read_text().replace("name: ramp", "name: ../../etc/my arm"))
    assert spart("run", ramp).code == 0
    assert (tmp_path / "out/etc_my_arm/scope.png").exists() or list(
        (tmp_path / "out").glob("*my_arm/scope.png")
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("run.txt", "end it in .npz, .csv or .mat"),
        ("run", "end it in .npz, .csv or .mat"),
        ("no/run.npz", "there is no folder no"),
        (".", "is a folder"),
    ],
)
def test_out_is_checked_before_the_run(spart, ramp, name, message):
    answer = spart("run", ramp, "--out", name)
    assert answer.code == 2
    assert message in answer.err
    assert "loading" not in answer.err


def test_plots_is_checked_before_the_run(spart, ramp):
    answer = spart("run", ramp, "--plots", ramp / "figs")
    assert answer.code == 2
    assert "is not a folder" in answer.err
    assert "loading" not in answer.err


def test_a_failed_run_keeps_what_it_computed(spart, failing):
    answer = spart("run", failing, "--out", "part.npz")
    assert answer.code == 1
    assert "error: block int: the rate of its state jumps here; the solver failed" in answer.err
    assert "at t = 1 s" in answer.err
    assert "is saved in part.npz" in answer.err
    results = Results.load("part.npz")
    assert not results.complete
    assert 0.9 < results.t[-1] <= 1


def test_a_failed_run_says_that_nothing_was_saved(spart, failing):
    answer = spart("run", failing)
    assert answer.code == 1
    assert "is not saved; give --out FILE" in answer.err


def test_one_file_that_cannot_be_written_does_not_cost_another(spart, ramp, monkeypatch):
    from spart_blocks.base.errors import InputError

    save = Results.save

    def full(self, path):
        if path.suffix == ".csv":
            raise InputError("cannot write run.csv: No space left on device")
        return save(self, path)

    monkeypatch.setattr(Results, "save", full)
    answer = spart("run", ramp, "--out", "run.csv", "--out", "run.npz")
    assert answer.code == 1
    assert "error: cannot write run.csv: No space left" in answer.err
    assert np.all(np.diff(Results.load("run.npz").t) > 0)


def test_every_mistake_of_a_file_is_told_at_its_place(spart, ramp):
    text = ramp.read_text().replace("STEP", "STEPP").replace("step -> int", "stepp -> int")
    ramp.write_text(text)
    answer = spart("run", ramp)
    assert answer.code == 2
    assert f"{ramp}:5:16: " in answer.err
    assert "'STEP'" in answer.err
    assert "error: " in answer.err
    assert answer.out == ""


def test_a_wrong_setting_is_told_as_the_option_it_was(spart, ramp):
    answer = spart("run", ramp, "--set", "heigth=3")
    assert answer.code == 2
    assert "--set heigth=3: there is nothing named 'heigth'" in answer.err
    assert "did you mean 'height'" in answer.err


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.yaml", "no such file"), ("folder", "is not a file"), ("binary.yaml", "not UTF-8")],
)
def test_what_is_no_diagram_is_wrong_input(spart, tmp_path, name, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.yaml").write_bytes(b"name: \xff\xfe\x00")
    answer = spart("run", name)
    assert answer.code == 2
    assert message in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--engine", "quantum"],
        ["--t", "-1"],
        ["--t", "soon"],
        ["--initial", "none.npz"],
        ["--root", "nowhere"],
        ["--enigne", "auto"],
    ],
)
def test_wrong_options_are_wrong_input(spart, ramp, arguments):
    answer = spart("run", ramp, *arguments)
    assert answer.code == 2
    assert "rror: " in answer.err


def test_windows_are_opened_where_there_is_a_display(spart, ramp, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("spart_blocks.results.show_windows", lambda f: shown.append(f) or True)
    assert spart("run", ramp).code == 0
    assert [len(figures) for figures in shown] == [1]
    assert not (tmp_path / "out").exists()
    spart("run", ramp, "--headless")
    assert len(shown) == 1
    assert (tmp_path / "out/ramp/scope.png").exists()


def test_files_stand_in_for_windows_that_cannot_be_opened(spart, ramp, tmp_path, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("spart_blocks.results.show_windows", lambda figures: False)
    answer = spart("run", ramp)
    assert answer.code == 0
    assert "no window can be opened here" in answer.err
    assert (tmp_path / "out/ramp/scope.png").exists()


def test_an_interrupted_run_says_what_it_kept(spart, long, monkeypatch):
    """The progress callback is where a Ctrl-C can be placed at will."""
    monkeypatch.setattr("spart_blocks.cli.terminal.ProgressBar.__call__", _interrupt_after(3.0))
    answer = spart("run", long, "--engine", "interpreter", "--out", "part.npz")
    assert answer.code == 1
    assert "error: the run was interrupted at t = 3" in answer.err
    assert "is saved in part.npz" in answer.err
    assert Results.load("part.npz").t[-1] == pytest.approx(3.0, abs=0.02)


def _interrupt_after(time):
    def progress(self, t, end):
        if t >= time:
            raise KeyboardInterrupt

    return progress


def test_a_name_without_its_ending_is_told(spart, tmp_path):
    (tmp_path / "m01.yaml").touch()
    answer = spart("run", "m01")
    assert (answer.code, answer.err) == (
        2,
        "loading m01\nerror: m01: there is no such file\n  write m01.yaml\n",
    )

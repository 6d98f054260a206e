"""`spart export fmu`: what it writes, says and refuses."""

import zipfile
from pathlib import Path

import pytest

# Diverges at once, for FMPy's solver as for ours.
SQUARED = """
name: squared
blocks:
  square: {type: PROD, ops: "**"}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [x -> square.0, square -> x, x -> square.1]
run: {T: 2, log: [x]}
"""


def test_an_fmu_is_checked_in_fmpy_and_then_written(ramp, spart):
    done = spart("export", "fmu", "ramp.yaml", "-o", "out.fmu", "--verify")
    assert done.code == 0, done.err
    assert "co-simulation" in done.out
    assert "wrote out.fmu: FMI 3.0, model exchange and co-simulation" in done.out
    assert "outputs: int" in done.out
    with zipfile.ZipFile("out.fmu") as archive:
        names = archive.namelist()
    assert names[0] == "modelDescription.xml"
    assert "sources/buildDescription.xml" in names


def test_it_says_how_co_simulation_steps(ramp, spart):
    for arguments, told in (
        ([], "steps with error control, to 1e-06 or the importer's tolerance"),
        (["--rate", "500"], "equal steps of 0.002 s by RK4"),
        (["--method", "heun"], "equal steps of 0.001 s by heun"),
    ):
        done = spart("export", "fmu", "ramp.yaml", "-o", "out.fmu", *arguments)
        assert f"co-simulation: {told}" in done.out
    text = Path("ramp.yaml").read_text()
    for asked in ("method: RK4", "rate: 1000"):
        Path("ramp.yaml").write_text(f"{text}export: {{{asked}}}\n")
        done = spart("export", "fmu", "ramp.yaml", "-o", "out.fmu")
        assert "co-simulation: equal steps of 0.001 s by RK4" in done.out


def test_a_folder_takes_an_fmu_with_the_name_of_the_part(ramp, spart):
    Path("made").mkdir()
    done = spart("export", "fmu", "ramp.yaml", "--part", "int", "--version", "2", "-o", "made")
    assert done.code == 0, done.err
    assert "inputs: step" in done.out
    assert Path("made/ramp_int.fmu").is_file()


def test_without_a_compiler_the_sources_are_written_with_a_warning(ramp, spart, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    done = spart("export", "fmu", "ramp.yaml", "-o", "out.fmu")
    assert done.code == 0
    assert "warning: the FMU contains only sources, no binary for this platform" in done.err
    checked = spart("export", "fmu", "ramp.yaml", "-o", "checked.fmu", "--verify")
    assert checked.code == 1
    assert "the FMU has no binary for this platform, so it cannot run here" in checked.err
    assert not Path("checked.fmu").exists()


def test_what_cannot_be_is_refused_with_exit_code_2(ramp, spart):
    for arguments, reason in (
        (["--part", "inte", "-o", "a.fmu"], "did you mean 'int'?"),
        (["-o", "a.zip"], "give a file NAME.fmu"),
        (["-o", "nowhere/a.fmu"], "the folder"),
        (["-o", "a.fmu", "--version", "1"], "version"),
        (["-o", "a.fmu", "--rate", "1e9"], "the rate must be"),
        (["-o", "a.fmu", "--t", "-1"], "--t takes a positive number of seconds, not -1"),
    ):
        refused = spart("export", "fmu", "ramp.yaml", *arguments)
        assert refused.code == 2, refused
        assert reason in refused.err
    assert not list(Path().glob("*.fmu"))


def test_a_run_that_fails_in_the_check_is_told_as_such(spart):
    Path("squared.yaml").write_text(SQUARED)
    failed = spart("export", "fmu", "squared.yaml", "-o", "a.fmu", "--verify", "--t", "2")
    assert failed.code == 1
    assert "t = 1" in failed.err  # x = 1 / (1 - t)
    assert not Path("a.fmu").exists()


@pytest.mark.parametrize("command", [("export", "c"), ("export", "fmu"), ("realtime",)])
@pytest.mark.parametrize("rate", [0, -1])
def test_a_rate_that_is_none_is_refused(ramp, spart, command, rate):
    out = ("--out", "made.fmu") if len(command) > 1 else ()
    done = spart(*command, "ramp.yaml", "--rate", rate, *out)
    assert done.code == 2
    assert f"the rate must be above 0 and up to 1e+06 Hz, not {rate}" in done.err
    assert not Path("made.fmu").exists()

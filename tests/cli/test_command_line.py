"""The command as a process: help, exit codes, signals, pipes, terminals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from at_work import let_work

from spart_blocks import __version__
from spart_blocks.cli.app import COMMANDS
from spart_blocks.results import Results

HEAVY = ("numpy", "scipy", "bdsim", "matplotlib", "pydantic", "lxml", "yaml", "rich", "casadi")


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom spart_blocks.cli import main\nassert main(['--help']) == 0\n"
        f"sys.exit(', '.join(n for n in {HEAVY} if n in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(words.split()[0] in done.stdout for words in COMMANDS)


def test_a_wrong_file_is_told_before_anything_heavy_is_imported(tmp_path):
    heavy = [name for name in HEAVY if name != "pydantic"]  # Typer's own
    code = (
        "import sys\nfrom spart_blocks.cli import main\n"
        "for name in ('run', 'show', 'check'):\n    assert main([name, 'nothing.yaml']) == 2\n"
        f"sys.exit(', '.join(n for n in {heavy} if n in sys.modules) or 0)"
    )
    (tmp_path / "nothin.yaml").touch()
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nothing.yaml: there is no such file\n  did you mean nothin.yaml?" in done.stderr


def test_a_run_from_the_cache_imports_no_reader_of_diagrams(ramp, tmp_path):
    unread = (
        *("bdsim", "scipy", "yaml", "lxml", "rich", "sympy"),
        *(
            "spart_blocks.diagram.build.loader",
            "spart_blocks.robot",
            "spart_blocks.program.tracing.trace",
        ),
    )
    code = (
        "import sys\nfrom spart_blocks.cli import main\n"
        "assert main(['run', sys.argv[1], '--headless', '-q']) == 0\n"
        f"sys.exit(', '.join(n for n in {unread} if n in sys.modules) or 0)"
    )
    for last in (False, True):
        command = [sys.executable, "-c", code, str(ramp)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert not last or done.returncode == 0, done.stderr


def test_a_command_imports_no_other():
    code = (
        "import sys\nfrom spart_blocks.cli import main\nassert main(['run', '--help']) == 0\n"
        "print(*[n for n in sys.modules if n.startswith('spart_blocks.cli.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = {name.rpartition(".")[2] for name in done.stdout.splitlines()[-1].split()}
    assert "run" in loaded
    assert not loaded & {entry.partition(".")[0] for entry in COMMANDS.values()} - {"run"}


def test_no_help_is_cut(spart, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    for command in ([], ["export"]):
        listed = spart(*command, "--help").out.partition("Commands:")[2].partition("Examples:")[0]
        assert "export" in listed or "fmu" in listed
        assert "..." not in listed


def test_version(spart):
    assert spart("--version").out == f"spart_blocks {__version__}\n"


def test_a_typing_slip_gets_a_hint(spart):
    command = spart("rnu", "x.yaml")
    assert command.code == 2
    assert "run" in command.err
    option = spart("run", "x.yaml", "--headles")
    assert option.code == 2
    assert "--headless" in option.err


@pytest.mark.parametrize(
    ("option", "wrong"), [("--method", "'rk5' is not one of 'euler'"), ("--precision", "'rk5' is")]
)
def test_a_value_that_is_no_choice_is_told_without_pythons_words(spart, ramp, option, wrong):
    told = spart("export", "c", str(ramp), option, "rk5", "-o", "out")
    assert told.code == 2
    assert f"Invalid value for '{option}': {wrong}" in told.err


def test_a_folder_with_other_files_is_refused_before_the_code_is_made(spart, ramp, monkeypatch):
    def made(*_):
        raise AssertionError("the code was made")

    monkeypatch.setattr("spart_blocks.cli.export._code", made)
    told = spart("export", "c", str(ramp), "--verify", "-o", str(ramp.parent))
    assert told.code == 2
    assert "contains files that are not from an export" in told.err


def test_an_unexpected_exception_is_one_message(spart, ramp, monkeypatch):
    def broken(*args, **options):
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr("spart_blocks.diagram.build.loader.load", broken)
    answer = spart("run", ramp)
    assert answer.code == 1
    assert "ZeroDivisionError: float division by zero" in answer.err
    assert "--debug" in answer.err
    assert "in broken" not in answer.err
    assert "in broken" in spart("run", ramp, "--debug").err
    monkeypatch.setenv("SPART_DEBUG", "1")
    assert "in broken" in spart("run", ramp).err


def test_an_interrupt_outside_a_run_is_one_line(spart, ramp, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("spart_blocks.diagram.build.loader.load", interrupted)
    answer = spart("run", ramp, "-q")
    assert (answer.code, answer.err) == (1, "error: interrupted\n")


def test_warnings_are_lines_and_pythons_own_are_silent(spart, ramp, monkeypatch):
    import warnings

    import spart_blocks.run  # its own `load` must not become the patched one
    from spart_blocks.base.errors import SpartWarning
    from spart_blocks.diagram import load

    assert spart_blocks.run

    def warning(*args, **options):
        for _ in range(2):
            warnings.warn("this looks odd", SpartWarning, stacklevel=1)
        warnings.warn("invalid value", RuntimeWarning, stacklevel=1)
        return load(*args, **options)

    monkeypatch.setattr("spart_blocks.diagram.build.loader.load", warning)
    answer = spart("run", ramp, "-q")
    assert (answer.code, answer.err) == (0, "warning: this looks odd\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
def test_ctrl_c_saves_what_was_computed(process, long):
    child = process("run", long, "--engine", "interpreter", "--out", "part.npz")
    assert b"loading" in child.stderr.readline()
    while b"running" not in child.stderr.readline():
        continue
    let_work(child, 1.0)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=300)
    assert child.returncode == 1
    assert re.search(rb"error: the run was interrupted at t = [\d.]+ s", err)
    assert b"is saved in part.npz" in err
    assert b"Traceback" not in err
    assert b"stopped early: interrupted" in out
    results = Results.load("part.npz")
    assert not results.complete
    assert len(results.t) > 1


@pytest.mark.skipif(os.name == "nt", reason="os.pipe and closed readers differ there")
def test_a_reader_that_leaves_early_causes_no_noise(process):
    child = process("schema")
    child.stdout.close()
    assert child.wait(timeout=300) == 1
    assert child.stderr.read() == b""


def test_a_terminal_without_greek_letters_is_no_problem(process):
    child = process("blocks", "POSEINTEGRATOR_S", PYTHONIOENCODING="latin-1")
    out, err = child.communicate(timeout=300)
    assert (child.returncode, err) == (0, b"")
    assert b"  0  ?  ndarray(6,)" in out


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("colours", [True, False], ids=["colours", "NO_COLOR"])
def test_a_terminal_gets_colours_unless_it_wants_none(colours):
    environment = {**os.environ, "TERM": "xterm-256color", **({} if colours else {"NO_COLOR": "1"})}
    shown = _on_a_terminal(["run", "none.yaml"], environment)
    assert "error:" in shown
    assert ("\x1b[31m" in shown) is colours


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_a_terminal_gets_a_progress_bar(long):
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    arguments = ["run", str(long), "--t", "1e5", "--headless", "--engine", "interpreter"]
    shown = _on_a_terminal(arguments, environment, interrupt_at="of 100000 s")
    assert "of 100000 s" in shown
    assert "interrupted at t" in shown


def _on_a_terminal(arguments, environment, interrupt_at=None):
    """What the command shows on a pseudo-terminal, interrupted when a text appears."""
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "spart_blocks", *arguments]
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown, deadline = "", time.monotonic() + 300
    try:
        while time.monotonic() < deadline:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            shown += chunk.decode(errors="replace")
            if interrupt_at and interrupt_at in shown:
                interrupt_at = None
                child.send_signal(signal.SIGINT)
        child.wait(timeout=300)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        os.close(ours)
    return shown

"""`spart scope`: watch and record the signals of a loop that runs."""

from __future__ import annotations

import os
import re
import shlex
import signal
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from live_loop import SERVO, WAIT, until

from spart_blocks.cli import scope as scope_command
from spart_blocks.cli.live_plot import LivePlot
from spart_blocks.realtime.live_client import LiveClient
from spart_blocks.realtime.live_places import running
from spart_blocks.results import Results

pytestmark = pytest.mark.usefixtures("loop_folder")


@pytest.fixture
def writing(server, loop):
    """A loop that writes rows as long as someone watches, 10 at a time."""
    stop = threading.Event()

    def write():
        step = 5000
        while not stop.wait(0.002):
            if loop.signals.streaming and len(loop.signals.rows) < 50:
                loop.signals.write(step, 10)
                step += 10

    thread = threading.Thread(target=write)
    thread.start()
    yield loop
    stop.set()
    thread.join()


def test_it_lists_the_signals(spart, server):
    answer = spart("scope", "--list")
    assert answer.code == 0
    lines = {line.split()[0]: line for line in answer.out.splitlines()}
    assert lines["ctrl.tau"].split() == ["ctrl.tau", "3", "N", "m,", "N", "output"]
    assert lines["qd"].split() == ["qd", "3", "input"]


def test_it_records_every_step_of_so_many_seconds(spart, writing, tmp_path):
    answer = spart("scope", "ctrl.tau", "qd[0]", "--t", "0.25", "--out", "run.npz")
    assert answer.code == 0
    assert answer.err.splitlines() == [
        "watching servo at 1000 Hz; Ctrl-C ends it",
        "written: run.npz",
    ]
    results = Results.load(tmp_path / "run.npz")
    assert results.keys() == ("ctrl.tau", "qd[0]")
    np.testing.assert_allclose(results.t - results.t[0], np.arange(251) / 1000, atol=1e-12)
    first = writing.signals.columns[0]
    assert first.name == "qd"
    np.testing.assert_allclose(results["qd[0]"], results.t * 1000 + 0.001 * first.place)
    assert "servo: complete" in answer.out


def test_it_takes_fewer_rows_where_so_told(spart, writing, tmp_path):
    answer = spart("scope", "--t", "0.2", "--rate", "50", "--out", "a.csv", "--out", "a.npz")
    assert answer.code == 0
    assert "at 50 Hz" in answer.err
    assert len(Results.load("a.npz").t) == 11
    assert Path("a.csv").exists()


def test_without_a_window_it_prints_lines(spart, writing):
    answer = spart("scope", "ctrl.tau[0]", "--t", "0.1", "--rate", "100")
    assert answer.code == 0
    heading, first = answer.out.splitlines()[:2]
    assert heading.split() == ["t", "[s]", "ctrl.tau[0]"]
    t, value = map(float, first.split())
    assert value == pytest.approx(1000 * t, rel=1e-3)


def test_more_numbers_than_a_line_holds_are_said_to_be_left_out(spart, writing):
    answer = spart("scope", "qd", "qm", "um", "--t", "0.01")
    assert answer.code == 0
    assert "the first 8 of 9 numbers are shown; --out keeps all" in answer.err
    assert len(answer.out.splitlines()[0].split()) == 2 + 8


def test_the_end_of_the_loop_ends_it(spart, server, loop, monkeypatch):
    watch = scope_command._watch

    def last_rows(*arguments):
        loop.signals.write(0, 7)
        loop.end()
        return watch(*arguments)

    monkeypatch.setattr(scope_command, "_watch", last_rows)
    answer = spart("scope", "--out", "run.npz")
    assert answer.code == 0
    assert "the loop has ended: it ran to its end" in answer.err
    assert len(Results.load("run.npz").t) == 7


def test_steps_that_are_missing_are_told(spart, writing, monkeypatch):
    watch = scope_command._watch

    def some_missing(*arguments):
        writing.signals.missing += 12
        return watch(*arguments)

    monkeypatch.setattr(scope_command, "_watch", some_missing)
    answer = spart("scope", "--t", "0.05", "--out", "run.npz")
    assert "12 steps are missing" in answer.err
    assert Results.load("run.npz").info["steps lost"] == 12


def test_what_was_recorded_is_kept_when_the_loop_sends_it_away(spart, writing, server, monkeypatch):
    watch = scope_command._watch

    def sent_away(client, show, kept, end):
        def shown(rows):
            if kept.count > 100:
                server.patience = -1.0  # as if nothing had been taken for long
            return show(rows)

        return watch(client, shown, kept, end)

    monkeypatch.setattr(scope_command, "_watch", sent_away)
    answer = spart("scope", "--out", "run.npz")
    assert answer.code == 1
    assert "servo refused: it does not read what it is sent" in answer.err
    assert len(Results.load("run.npz").t) > 100


def test_ctrl_c_ends_a_recording_and_keeps_it(spart, writing, monkeypatch):
    watch = scope_command._watch

    def interrupted(client, show, kept, end):
        def shown(rows):
            if kept.count > 100:
                signal.raise_signal(signal.SIGINT)
            return show(rows)

        return watch(client, shown, kept, end)

    monkeypatch.setattr(scope_command, "_watch", interrupted)
    answer = spart("scope", "--out", "run.npz")
    assert answer.code == 0
    assert len(Results.load("run.npz").t) > 100


def test_a_recording_of_nothing_is_an_error(spart, server, loop, monkeypatch):
    watch = scope_command._watch

    def ended(*arguments):
        loop.end()
        return watch(*arguments)

    monkeypatch.setattr(scope_command, "_watch", ended)
    answer = spart("scope", "--out", "run.npz")
    assert answer.code == 1
    assert "nothing came from the loop" in answer.err
    assert not Path("run.npz").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["ctrl.tua"], "the loop has no signal 'ctrl.tua'\n  did you mean 'ctrl.tau'?"),
        (["servo", "ctrl.tau"], "'servo' is a loop, and no signal of it\n  write --loop servo"),
        (["ctrl.tau[7]"], "index 7 is out of range"),
        (["--rate", "0"], "a rate is a positive number, not 0"),
        (["--t", "0"], "--t takes a positive number of seconds, not 0"),
        (["--window", "nan"], "--window takes a positive number of seconds"),
        (["--out", "run.txt"], "--out run.txt: the file type is not known"),
        (["--loop", "pd"], "no loop 'pd' is running"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_before_anything_is_watched(spart, server, loop, words, told):
    answer = spart("scope", *words)
    assert answer.code == 2
    assert told in answer.err
    assert not loop.signals.streaming


# --- the window --------------------------------------------------------------------------


@pytest.fixture
def watched(server):
    with LiveClient(server.place, patience=WAIT) as client:
        yield client.watch(["ctrl.tau", "qd[0]"])


def rows(first, count, width):
    steps = np.arange(first, first + count, dtype=float)
    made = np.sin(steps[:, None] / 50 + np.arange(width))
    made[:, 0] = steps / 1000
    return made


def curves(plot):
    """The data of each curve, (k, 2) each."""
    return [line.get_xydata() for axis in plot.figure.axes for line in axis.get_lines()]


def test_the_plot_has_a_panel_for_each_signal(watched):
    plot = LivePlot(watched, 1.0)
    assert [len(axis.get_lines()) for axis in plot.figure.axes] == [3, 1]
    plot.add(rows(0, 10, watched.width))
    plot.draw()
    for column, curve in enumerate(curves(plot), start=1):
        np.testing.assert_array_equal(curve, rows(0, 10, watched.width)[:, [0, column]])


def test_the_plot_moves_on_and_forgets(watched):
    plot = LivePlot(watched, 0.5)
    for first in range(0, 3000, 100):
        plot.add(rows(first, 100, watched.width))
    plot.draw()
    [times] = {tuple(curve[:, 0]) for curve in curves(plot)}
    assert times[0] == pytest.approx(2.499, abs=1e-9)
    assert times[-1] == pytest.approx(2.999)
    assert plot.figure.axes[0].get_xlim() == pytest.approx((2.499, 2.999))
    assert sum(map(len, plot._rows)) <= 700


def test_a_curve_has_no_more_points_than_a_screen(watched):
    plot = LivePlot(watched, 1000.0)
    plot.add(rows(0, 100_000, watched.width))
    plot.draw()
    assert {len(curve) for curve in curves(plot)} == {2000}


def test_the_plot_bears_what_is_not_finite(watched):
    plot = LivePlot(watched, 1.0)
    some = rows(0, 5, watched.width)
    some[2, 1:] = np.nan, np.inf, -np.inf, np.nan
    plot.add(some)
    plot.draw()
    for axis in plot.figure.axes:
        assert np.isfinite(axis.get_ylim()).all()


def test_closing_the_window_ends_it(watched):
    plot = LivePlot(watched, 1.0)
    assert plot.show(rows(0, 5, watched.width))
    plot._close(None)
    assert not plot.show(rows(5, 5, watched.width))


def test_a_display_that_cannot_be_used_is_told(spart, writing, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")  # but Matplotlib draws without windows
    answer = spart("scope", "ctrl.tau", "--t", "0.05")
    assert answer.code == 0
    assert "no window can be opened here" in answer.err
    assert "ctrl.tau[0]" in answer.out


def test_a_window_shows_what_comes(spart, writing, monkeypatch):
    shown = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(LivePlot, "open", lambda plot: shown.append(plot) or True)
    answer = spart("scope", "ctrl.tau", "--t", "0.1", "--out", "run.npz")
    assert answer.code == 0
    [plot] = shown
    plot.draw()
    kept = Results.load("run.npz")
    np.testing.assert_array_equal(curves(plot)[0][:, 1], kept["ctrl.tau"][:, 0])


# --- from another process, with a loop that runs -----------------------------------------


@pytest.fixture
def started(process, tmp_path, spart):
    """A process in which the servo runs at 1 kHz."""
    (tmp_path / "servo.yaml").write_text(SERVO, encoding="utf-8")
    child = process("realtime", "servo.yaml")
    until(lambda: running() or child.poll() is not None)
    assert child.poll() is None, child.communicate()
    return child


def test_a_loop_in_another_process_is_tuned_and_recorded(spart, started, process, loop_folder):
    recorder = process("scope", "ctrl.tau", "qd", "--out", "run.npz")
    said = recorder.stderr.readline()
    assert b"watching servo-ctrl-sum at 1000 Hz" in said, (said, started.poll())
    assert spart("live", "ctrl.kp=1000").code == 2  # out of its bounds
    assert spart("live", "servo", "ctrl.kp=[60, 60, 20]", "qd=0.3").code == 0
    assert spart("scope", "--t", "0.2", "--out", "after.npz").code == 0
    started.send_signal(signal.SIGINT)  # whose last rows the recorder takes before it ends
    assert recorder.wait(WAIT) == 0
    run = Results.load("run.npz")
    # tau = kp (qd - qm) + kd (ud - um) with qm, um and ud zero: before, and after.
    before, after = [20, -12, 2], [18, 18, 6]
    np.testing.assert_allclose(run["ctrl.tau"][0], before, rtol=1e-12)
    np.testing.assert_allclose(run["ctrl.tau"][-1], after, rtol=1e-12)
    changes = np.flatnonzero(np.abs(np.diff(run["ctrl.tau"], axis=0)).max(axis=1))
    assert len(changes) == 1  # of one step: gains and set-point at once
    steps = np.rint(run.t * 1000).astype(int)
    assert (np.diff(steps) > 0).all()
    assert np.ptp(steps) + 1 - len(steps) <= run.info["steps lost"]


def test_a_loop_that_is_killed_is_noticed_and_no_longer_listed(
    spart, started, process, loop_folder
):
    recorder = process("scope", "--out", "run.npz")
    recorder.stderr.readline()
    until(lambda: recorder.poll() is None)
    spart("scope", "--t", "0.1", "--out", "x.npz")  # by now both have rows
    started.kill()
    started.wait(WAIT)
    assert recorder.wait(WAIT) == 0
    assert b"its process has ended" in recorder.stderr.read()
    assert len(Results.load("run.npz").t)
    assert spart("live").code == 2


def test_ctrl_c_at_the_loop_is_told_to_who_watches(spart, started, process, loop_folder):
    recorder = process("scope", "--out", "run.npz")
    recorder.stderr.readline()
    spart("scope", "--t", "0.1", "--out", "x.npz")
    started.send_signal(signal.SIGINT)
    assert recorder.wait(WAIT) == 0, recorder.communicate()
    assert b"the loop has ended: it was interrupted" in recorder.stderr.read()
    assert started.wait(WAIT) == 0
    assert list(loop_folder.iterdir()) == []


def test_a_loop_that_cannot_be_reached_runs_all_the_same(spart, loop_folder, monkeypatch, tmp_path):
    loop_folder.write_text("")
    loop_folder.with_name(f"spart-{os.getuid()}").write_text("")
    (tmp_path / "servo.yaml").write_text(SERVO, encoding="utf-8")
    answer = spart("realtime", "servo.yaml", "--t", "0.05")
    assert answer.code == 0
    assert "warning: a loop cannot listen in" in answer.err


PAGE = Path(__file__).parents[2] / "docs" / "live.md"


def test_the_page_shows_what_the_commands_do(spart, process):
    diagram = PAGE.parents[1] / "diagrams" / "spacecraft_pd.yaml"
    process("realtime", diagram, "--rate", 1000)
    until(lambda: running() and ": running, " in spart("live").out)
    shown = re.findall(r"^    \$ spart (.*)\n((?:    .*\n|\n(?=    ))+)", PAGE.read_text(), re.M)
    assert len(shown) == 3
    for line, printed in shown:
        words = shlex.split(line)
        answer = spart(*words, *(["--t", "0.1"] if words[0] == "scope" else []))
        assert answer.code == 0
        got = re.sub(
            r"process \d+|t = [\d.]+|\d+ deadlines| +$", "", answer.out + answer.err, flags=re.M
        )
        for want in textwrap.dedent(printed).splitlines():
            want = re.sub(r"process \d+|t = [\d.]+|\d+ deadlines", "", want)
            assert re.sub(" +", " ", want) in re.sub(" +", " ", got)

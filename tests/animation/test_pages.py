"""Pages of runs and robots: by the command, in Python, in notebooks."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
from packed_arrays import unpacked
from tracks_of_pages import body_named, recording_in

import spart_blocks as sb
from spart_blocks.animation import animate as pages
from spart_blocks.animation.packed import plain, rounded, steps
from spart_blocks.animation.plants import moving_of
from spart_blocks.base import web_build
from spart_blocks.base.errors import InputError
from spart_blocks.cli import main

pytestmark = pytest.mark.usefixtures("stub_viewer")
ARM, SPACECRAFT = "diagrams/arm_computed_torque.yaml", "diagrams/spacecraft_pd.yaml"
# The viewer may take this much of a page; see viewer/.
VIEWER = 215_000
NO_ROBOT = """
name: no-robot
blocks:
  step: {type: STEP, T: 0.1}
  int: {type: INTEGRATOR}
wires: [step -> int]
run: {T: 0.2}
"""


@pytest.fixture(scope="module")
def run():
    return sb.simulate(SPACECRAFT, T=5)


def page_of_file(path):
    return recording_in(path.read_text(encoding="utf-8"))


# --- packing --------------------------------------------------------------------------------


def test_what_is_packed_is_unpacked():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(500, 3)), axis=0)
    np.testing.assert_allclose(unpacked(steps(walk, 1e-4)), walk, atol=0.51e-4)
    np.testing.assert_allclose(unpacked(steps(1e6 * walk, 1e-2)), 1e6 * walk, atol=0.51e-2)
    np.testing.assert_allclose(unpacked(rounded(walk)), walk, atol=np.ptp(walk, axis=0).max() / 1e5)
    np.testing.assert_array_equal(unpacked(plain(walk)), walk)
    times = np.sort(rng.uniform(0, 10, 100))
    np.testing.assert_allclose(unpacked(steps(times, 1e-6)), times, atol=0.51e-6)


# --- in Python ------------------------------------------------------------------------------


def test_the_page_of_a_run_is_complete_in_itself(run, tmp_path):
    path = run.animate(tmp_path / "run.html")
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:|//|file:)""", text)
    assert "@import" not in text
    recording = recording_in(text)
    assert recording["name"] == "spacecraft-pd"
    assert (recording["start"], recording["end"]) == (0, 5)
    assert {body["name"] for body in recording["bodies"]} >= {"Spacecraft", "Link_1", "Link_3"}
    assert recording["diagram"].startswith("<svg")
    assert recording["scopes"] == ["Joint positions", "Joint torques", "Attitude of the base"]


def test_signals_are_those_of_the_run(run):
    recording = recording_in(pages.run_page(run))
    (signal,) = [s for s in recording["signals"] if s["name"] == "plant.qm"]
    assert signal["unit"] == "rad"
    assert len(signal["labels"]) == 3
    t, v = unpacked(signal["t"]), unpacked(signal["v"])
    assert len(t) <= len(run.t)
    for k in range(3):
        got = np.interp(run.t, t, v[:, k])
        # A thousandth, and as much again beside a jump, whose sides are at one time here.
        assert np.abs(got - run["plant.qm"][:, k]).max() < 2e-3 * np.ptp(run["plant.qm"][:, k])


def test_a_file_of_results_needs_its_diagram(run, tmp_path):
    loaded = sb.Results.load(run.save(tmp_path / "run.npz"))
    with pytest.raises(InputError, match="do not have the robots of spacecraft-pd"):
        loaded.animate(tmp_path / "run.html")
    path = loaded.animate(tmp_path / "run.html", SPACECRAFT)
    direct = recording_in(pages.run_page(run))
    assert page_of_file(path)["bodies"] == direct["bodies"]


def test_results_of_another_diagram_are_refused(run, tmp_path):
    with pytest.raises(InputError, match="has other states of plant"):
        run.animate(tmp_path / "run.html", "diagrams/dual_arm.yaml")
    with pytest.raises(InputError, match="no states of bar"):
        run.animate(tmp_path / "run.html", "diagrams/loops/four_bar.yaml")
    assert not list(tmp_path.iterdir())


def test_a_page_is_html(run, tmp_path):
    with pytest.raises(InputError, match=r"end it in \.html"):
        run.animate(tmp_path / "run.mp4")


def test_forces_on_bodies_are_arrows_in_world_axes():
    results = sb.simulate("diagrams/space/catching.yaml", T=30)
    recording = recording_in(pages.run_page(results))
    named = {arrow["name"]: arrow for arrow in recording["arrows"] if arrow["kind"] == "force"}
    target = named["target.wF0"]
    assert recording["bodies"][target["body"]]["robot"] == "target"
    t, v = (unpacked(target["track"][key]) for key in "tv")
    want = results["on_client"][:, 3:]
    got = np.column_stack([np.interp(results.t, t, v[:, k]) for k in range(3)])
    jumps = t[1:][np.diff(t) == 0]
    away = np.abs(results.t[:, None] - jumps).min(axis=1, initial=1.0) > 1e-5
    assert away.sum() > 100
    assert np.abs(got - want)[away].max() < 2e-3 * np.ptp(want, axis=0).max()


def test_torques_in_the_axes_of_a_base_are_turned_into_those_of_the_world():
    results = sb.simulate("diagrams/signals/thrusters.yaml", T=5)
    recording = recording_in(pages.run_page(results))
    (arrow,) = [
        a for a in recording["arrows"] if (a["name"], a["kind"]) == ("plant.tau0", "torque")
    ]
    assert arrow["unit"] == "N m"
    t, v = (unpacked(arrow["track"][key]) for key in "tv")
    _, nodes = results.recompute.made_of()
    (plant,) = moving_of(nodes)
    R = results["plant.R0"]
    want = np.einsum("nij,nj->ni", R, results[plant.wrenches["tau0"]][:, :3])
    got = np.column_stack([np.interp(results.t, t, v[:, k]) for k in range(3)])
    away = np.abs(results.t[:, None] - t[1:][np.diff(t) == 0]).min(axis=1, initial=1.0) > 1e-5
    assert np.abs(got - want)[away].max() < 2e-3 * np.ptp(want, axis=0).max()


def test_a_view_shows_runs_and_robots(run, tmp_path):
    shown = sb.view(run)
    html = shown._repr_html_()
    assert html.startswith('<iframe sandbox="allow-scripts"')
    assert shown.save(tmp_path / "run.html").exists()
    robot = sb.Robot.from_bodies("models/delta_robot.yaml")
    two = recording_in(sb.view([robot, robot]).page)
    assert {body["robot"] for body in two["bodies"]} == {"delta_robot 1", "delta_robot 2"}
    assert two["start"] == two["end"] == 0
    with pytest.raises(InputError, match="a view shows"):
        sb.view("run.npz")


def test_a_robot_at_its_home_closes_its_loops():
    robot = sb.Robot.from_bodies("models/four_bar.yaml")
    recording = recording_in(sb.view(robot).page)

    def at(body, x):
        track = body_named(recording, body)["track"]
        p, q = unpacked(track["p"])[0], unpacked(track["q"])[0]
        from scipy.spatial.transform import Rotation

        return p + Rotation.from_quat(q).apply([x, 0, 0])

    np.testing.assert_allclose(at("coupler", 0.55), at("rocker", 0.4), atol=1e-6)


def test_notebooks_show_robots_and_runs_where_the_viewer_is_there(run, monkeypatch):
    robot = sb.Robot.from_urdf("models/arm3.urdf")
    monkeypatch.setattr(pages, "is_fresh", lambda page: True)
    for shown in (run, robot):
        assert "<table>" in shown._repr_html_()
        assert "<iframe" in shown._repr_html_()
    monkeypatch.setattr(pages, "is_fresh", lambda page: False)
    assert "sb.view(results)" in run._repr_html_()
    assert "sb.view(robot)" in robot._repr_html_()


# --- sizes ----------------------------------------------------------------------------------


def test_ten_seconds_of_an_arm_fit_350_kb():
    page = pages.run_page(sb.simulate(ARM, T=10))
    assert len(page) + VIEWER < 350_000


def test_ten_minutes_of_an_arm_fit_ten_megabytes():
    page = pages.run_page(sb.simulate(ARM, T=600))
    assert len(page) + VIEWER < 10_000_000


# --- the command ----------------------------------------------------------------------------


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    for name in ("models", "diagrams"):
        shutil.copytree(name, tmp_path / name)
    (tmp_path / "spart.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_runs_a_diagram_and_writes_its_page(workplace, capsys):
    words = ["animate", SPACECRAFT, "--t", "2", "--set", "params.kp=[60,60,20]", "-o", "run.html"]
    assert main(words) == 0
    assert "run.html  (" in capsys.readouterr().out
    assert page_of_file(workplace / "run.html")["end"] == 2


def test_the_command_shows_a_saved_run(workplace, capsys):
    assert (
        main(["run", SPACECRAFT, "--t", "1", "--out", "run.npz", "--animate", "a.html", "-q"]) == 0
    )
    assert main(["animate", "run.npz", "-o", "b.html"]) == 2
    assert "--diagram FILE" in capsys.readouterr().err
    assert not (workplace / "b.html").exists()
    assert main(["animate", "run.npz", "--diagram", SPACECRAFT, "-q"]) == 0
    default = workplace / "out" / "spacecraft-pd.html"
    assert page_of_file(default)["bodies"] == page_of_file(workplace / "a.html")["bodies"]


@pytest.mark.parametrize(
    "words", [["animate", SPACECRAFT], ["run", SPACECRAFT, "--animate", "a.html"]]
)
def test_a_viewer_that_cannot_be_built_is_told_before_the_run(
    words, workplace, capsys, monkeypatch
):
    monkeypatch.setattr("spart_blocks.cli.outputs.built", web_build.built)
    monkeypatch.setattr(web_build, "is_fresh", lambda page: False)
    monkeypatch.setattr(web_build, "found_node", lambda: None)
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "there is no Node.js to build it" in told
    assert "running" not in told


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["no_robot.yaml"], "no-robot has no robot to show"),
        (["none.yaml"], "there is no such file"),
        (["none.npz", "--diagram", SPACECRAFT], "none.npz"),
        ([SPACECRAFT, "--diagram", SPACECRAFT], "--diagram goes with"),
        ([SPACECRAFT, "-o", "run.mp4"], "end it in .html"),
        ([SPACECRAFT, "-o", "none/run.html"], "there is no folder"),
    ],
)
def test_what_cannot_be_shown_is_one_clear_error(words, text, workplace, capsys):
    (workplace / "no_robot.yaml").write_text(NO_ROBOT, encoding="utf-8")
    assert main(["animate", *words]) == 2
    assert text in capsys.readouterr().err
    assert not list(workplace.glob("*.html"))


@pytest.mark.parametrize(
    ("file", "bodies"),
    [("models/delta_robot.yaml", 11), ("models/arm7.urdf", 8), ("diagrams/space/catching.yaml", 5)],
)
def test_show_3d_draws_robots_at_rest(file, bodies, workplace):
    assert main(["show", "--3d", file, "--out", "still.html"]) == 0
    recording = page_of_file(workplace / "still.html")
    assert len(recording["bodies"]) == bodies
    assert all(body["track"]["t"]["shape"] == [1] for body in recording["bodies"])


def test_an_interrupted_run_is_shown_as_far_as_it_came(workplace, monkeypatch, capsys):
    waiting = [True]

    def ctrl_c(self, t, end):
        if t > 0.5 and waiting:
            waiting.clear()
            raise KeyboardInterrupt

    monkeypatch.setattr("spart_blocks.cli.terminal.ProgressBar.__call__", ctrl_c)
    words = ["animate", SPACECRAFT, "--engine", "interpreter", "--t", "2", "-o", "run.html"]
    assert main(words) == 1
    assert "interrupted at t" in capsys.readouterr().err
    assert 0.5 <= page_of_file(workplace / "run.html")["end"] < 2

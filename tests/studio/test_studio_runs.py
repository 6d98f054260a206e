"""Runs of a session, each in a process of its own, as a page has them."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from fake_page import in_page
from packed_arrays import unpacked

from spart_blocks.base.errors import InputError
from spart_blocks.results import Results
from spart_blocks.run import DiagramFile, begin, finish
from spart_blocks.studio.downloads import download
from spart_blocks.studio.runs import registry

ROOT = Path(__file__).parents[2]
SWING = """
name: swing
clocks: {c: {T: 0.1}}
params: {k: 2.0}
blocks:
  step: {type: STEP, T: 0.5}
  gain: {type: GAIN, K: $k}
  lag: {type: LTI_SISO, N: [1], D: [1, 1]}
  z: {type: ZOH, clock: c}
  twice: {type: GAIN, K: 2.0}
  scope: {type: SCOPE}
wires: [step -> gain, gain -> lag, lag -> scope, lag -> z, z -> twice]
run: {T: 3}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "swing.yaml").write_text(SWING)
    return tmp_path


def test_a_run_is_told_and_kept(folder):
    async def work(page):
        begun = await page.ask("run", path="swing.yaml", speed=None)
        assert (begun["run"], begun["label"], begun["state"]) == (1, "run 1", "preparing")
        run = await page.ended(1)
        assert (run["state"], run["t"], run["T"]) == ("ended", 3.0, 3.0)
        assert run["scopes"] == [{"title": "scope", "signals": ["lag"]}]
        (lag,) = [one for one in run["signals"] if one["name"] == "lag"]
        assert (lag["shape"], lag["live"]) == ([], True)
        plain = finish(begin(DiagramFile(folder / "swing.yaml")))
        told = np.concatenate([n.reshape(-1, 2) for h, n in page.rows])
        assert np.array_equal(told, np.column_stack([plain.t, plain["lag"]]))
        header, numbers = await page.ask("signals", path="swing.yaml", run=1, names=["gain", "lag"])
        assert [one["name"] for one in header["signals"]] == ["gain", "lag"]
        table = numbers.reshape(header["rows"], 3)
        assert np.array_equal(table, np.column_stack([plain.t, plain["gain"], plain["lag"]]))
        header, numbers = await page.ask(
            "signals", path="swing.yaml", run=1, names=["lag"], **{"from": 1.0, "to": 1.5}
        )
        times = numbers.reshape(-1, 2)[:, 0]
        assert times[1] >= 1.0 > times[0]
        assert times[-2] <= 1.5 < times[-1]
        assert [one["run"] for one in await page.ask("runs", path="swing.yaml")] == [1]

    in_page(folder, work)


def test_values_on_wires_at_a_time(folder):
    async def work(page):
        await page.ask("run", path="swing.yaml", speed=None)
        await page.ended(1)
        found = await page.ask("values", path="swing.yaml", run=1, at="", t=1.5)
        lag = 2 * (1 - np.exp(-1.0))
        assert float(found["lag"]["text"]) == pytest.approx(lag, rel=1e-3)
        assert found["gain"] == {"text": "2", "shape": "", "unit": "", "rate": "continuous"}
        assert found["twice"]["rate"] == "every 0.1 s"
        assert float(found["twice"]["text"]) == pytest.approx(2 * lag, rel=1e-3)
        held = await page.ask("values", path="swing.yaml", run=1, at="", t=1.59)
        assert held["z"]["text"] == found["z"]["text"]
        some = await page.ask("values", path="swing.yaml", run=1, at="", t=1.5, names=["z"])
        assert list(some) == ["z"]
        assert await page.ask("values", path="swing.yaml", run=1, at="none", t=1.5) == {}
        await page.ask("open", path="swing.yaml")  # now the wires of its sheet are known
        found = await page.ask("values", path="swing.yaml", run=1, at="", t=1.5)
        assert set(found) == {"step", "gain", "lag", "z"}

    in_page(folder, work)


def test_a_run_is_paused_tuned_kept_and_continued(folder):
    async def work(page):
        await page.ask("run", path="swing.yaml", speed=0.01)
        await page.until(lambda: page.run(1).get("t", 0) > 0)
        await page.ask("pause", path="swing.yaml")
        await page.until(lambda: page.run(1).get("state") == "paused")
        at = page.run(1)["t"]
        await page.ask("values", path="swing.yaml", run=1, at="", t=at / 2)
        await page.ask("tune", path="swing.yaml", name="gain.K", text="5")
        await page.until(lambda: page.run(1)["tuned"])  # also while it is paused
        await page.ask("speed", path="swing.yaml", speed=None)
        await page.ask("resume", path="swing.yaml")
        run = await page.ended(1)
        assert run["tuned"] == {"k": "5"}
        found = await page.ask("values", path="swing.yaml", run=1, at="", t=3.0)
        assert found["gain"]["text"] == "5"
        changed = await page.ask("keep", path="swing.yaml")
        assert changed["opened"]["undo"] == "keep what was tuned"
        assert (folder / "swing.yaml").read_text() == SWING.replace("k: 2.0", "k: 5")
        again = await page.ask(
            "continue", path="swing.yaml", run=1, t=1.0, speed=None, states={"lag": [9.0]}
        )
        assert again["label"] == "run 2, from run 1 at 1 s"
        run = await page.ended(2)
        assert (run["start"], run["state"], run["tuned"]) == (1.0, "ended", {"k": "5"})
        found = await page.ask("values", path="swing.yaml", run=2, at="", t=3.0)
        assert float(found["lag"]["text"]) == pytest.approx(5 + 4 * np.exp(-2.0), rel=1e-3)

    in_page(folder, work)


def test_the_next_run_begins_with_the_tuned_values_until_the_file_has_others(folder):
    async def run(page, number, **facts):
        await page.ask("run", path="swing.yaml", speed=None)
        told = await page.ended(number)
        assert {key: told[key] for key in facts} == facts
        return (await page.ask("values", path="swing.yaml", run=number, at="", t=3.0))["gain"][
            "text"
        ]

    async def tune(page, name, text, number, **facts):
        await page.ask("tune", path="swing.yaml", name=name, text=text)
        await page.until(lambda: {key: page.run(number)[key] for key in facts} == facts)

    async def work(page):
        assert await run(page, 1, tuned={}, carried={}) == "2"
        await tune(page, "gain.K", "5", 1, tuned={"k": "5"}, carried={"k": "2"}, state="ended")
        found = await page.ask("values", path="swing.yaml", run=1, at="", t=3.0)
        assert found["gain"]["text"] == "2"
        both = {"k": "5", "twice.K": "3"}
        await tune(page, "twice.K", "3", 1, tuned=both)
        assert await run(page, 2, tuned=both, carried={"k": "2", "twice.K": "2"}) == "5"
        await tune(page, "twice.K", "2", 2, carried={"k": "2"})
        assert await run(page, 3, tuned={"k": "5"}, carried={"k": "2"}) == "5"
        (folder / "swing.yaml").write_text(SWING.replace("k: 2.0", "k: 7"))
        assert await run(page, 4, tuned={}, carried={}) == "7"
        assert page.run(4)["warnings"] == ["k = 5, as tuned, is left out: the file has 7 now"]
        await tune(page, "k", "8", 4, carried={"k": "7"})
        await page.ask("keep", path="swing.yaml")
        await page.until(lambda: page.run(4)["carried"] == {})
        assert await run(page, 5, tuned={}, carried={}, warnings=[]) == "8"

    in_page(folder, work)


PID = """\
name: pid
blocks:
  step: {type: STEP, T: 0.5}
  pid: {type: PID, P: 2, I: 1, I_limit: [-3, 4]}
  lag: {type: LTI_SISO, N: [1], D: [1, 1]}
  scope: {type: SCOPE}
wires: [step -> pid.1, lag -> pid.0, pid -> lag, lag -> scope]
run: {T: 3}
"""


def test_a_gain_of_a_pid_is_tuned_and_kept_under_the_name_of_the_user(folder):
    (folder / "pid.yaml").write_text(PID)

    async def work(page):
        await page.ask("run", path="pid.yaml", speed=0.01)
        await page.until(lambda: page.run(1).get("t", 0) > 0)
        await page.ask("pause", path="pid.yaml")
        await page.until(lambda: page.run(1).get("state") == "paused")
        found = {one["name"] for one in await page.ask("tunables", path="pid.yaml", run=1)}
        assert {"pid.P", "pid.I", "pid.I_limit[0]", "pid.I_limit[1]"} <= found
        assert not any("/" in name for name in found)
        for name, text in {"pid.P": "5", "pid.I_limit[1]": "2.5"}.items():
            await page.ask("tune", path="pid.yaml", name=name, text=text)
        await page.ask("speed", path="pid.yaml", speed=None)
        await page.ask("resume", path="pid.yaml")
        await page.ended(1)
        assert page.run(1)["tuned"] == {"pid.P": "5", "pid.I_limit[1]": "2.5"}
        assert any(one["name"] == "pid" for one in page.run(1)["signals"])
        await page.ask("keep", path="pid.yaml")
        kept = PID.replace("P: 2", "P: 5").replace("[-3, 4]", "[-3, 2.5]")
        assert (folder / "pid.yaml").read_text() == kept

    in_page(folder, work)


def test_what_is_wrong_is_refused_in_words(folder):
    (folder / "broken.yaml").write_text("blocks: {a: {type: GAINN}}\n")

    async def work(page):
        assert "has not been run" in await page.refused("pause", path="swing.yaml")
        assert "there is no run 7" in await page.refused("values", path="swing.yaml", run=7, t=0)
        for path in ("../secret.yaml", "/etc/passwd"):
            assert "leaves the project" in await page.refused("run", path=path, speed=None)
        assert "there is no file" in await page.refused("run", path="no.yaml", speed=None)
        for speed in (0, -1, 1e9, "fast", True):
            assert "speed" in await page.refused("run", path="swing.yaml", speed=speed)
        await page.ask("run", path="broken.yaml", speed=None)
        run = await page.ended(1)
        assert run["state"] == "failed"
        assert "GAINN" in run["problem"]["message"]
        assert run["problem"]["place"].endswith("broken.yaml:1:20")
        await page.ask("run", path="swing.yaml", speed=None)
        await page.ended(2)
        assert "from 0 to 3 s" in await page.refused(
            "continue", path="swing.yaml", run=2, t=3.5, speed=None
        )
        assert "no signal" in await page.refused("signals", path="swing.yaml", run=2, names=["q"])
        await page.ask("continue", path="swing.yaml", run=2, t=1, speed=None, states={"a": [1]})
        run = await page.ended(3)
        assert "no block 'a' with a state" in run["problem"]["message"]

    in_page(folder, work)


COPIES = """\
subsystems:
  servo:
    params: {k: 1}
    inputs: [goal, limit]
    outputs: [angle]
    blocks:
      error: {type: SUM, signs: "+-"}
      gain: {type: GAIN, K: $k}
      angle: {type: INTEGRATOR}
      both: {type: MUX, nin: 2}
    wires:
      - in.goal -> error.0, both.0
      - in.limit -> both.1
      - error -> gain
      - gain -> angle
      - angle -> error.1, out.angle
blocks:
  goals: {type: CONSTANT, value: [1, 2, 3]}
  limit: {type: CONSTANT, value: 7}
  joints: {type: servo, for_each: {over: [goal, k]}, k: [2, 4, 8]}
  last: {type: GAIN, K: 10}
  scope: {type: SCOPE}
wires:
  - goals -> joints.goal
  - limit -> joints.limit
  - goals[1:3] -> last
  - joints -> scope
run: {T: 1}
"""


def test_values_of_parts_of_signals_and_within_copies(folder):
    (folder / "copies.yaml").write_text(COPIES)

    async def shown(page, at):
        sheet = await page.ask("sheet", path="copies.yaml", at=at)
        values = await page.ask("values", path="copies.yaml", at=at, run=1, t=0.5)
        return {wire["source"]: values[wire["signal"]] for wire in sheet["wires"]}

    async def work(page):
        assert (await page.ask("open", path="copies.yaml"))["problems"] == []
        await page.ask("run", path="copies.yaml", speed=None)
        await page.ended(1)
        whole = await shown(page, "")
        assert (whole["goals[1:3]"]["text"], whole["goals[1:3]"]["shape"]) == ("[2, 3]", "2")
        within = await shown(page, "joints")
        assert within["in.goal"]["text"] == "[1, 2, 3]"
        assert within["in.limit"]["text"] == "7"
        angle = np.array([1, 2, 3]) * (1 - np.exp(-0.5 * np.array([2, 4, 8])))
        assert json.loads(within["angle"]["text"]) == pytest.approx(angle, rel=1e-3)
        assert json.loads(whole["joints"]["text"]) == json.loads(within["angle"]["text"])
        assert within["angle"]["shape"] == "3 copies"
        assert within["angle"]["rate"] == "continuous"

    in_page(folder, work)


def test_a_run_that_fails_names_the_block(folder):
    (folder / "fails.yaml").write_text(
        "blocks:\n  t: {type: TIME}\n  f: {type: FCN, expression: 1 / sqrt(1 - u)}\n"
        "  i: {type: INTEGRATOR}\n  scope: {type: SCOPE}\n"
        "wires: [t -> f, f -> i, i -> scope]\nrun: {T: 3}\n"
    )

    async def work(page):
        await page.ask("run", path="fails.yaml", speed=None)
        run = await page.ended(1)
        assert (run["state"], run["problem"]["block"]) == ("failed", "f")
        assert run["problem"]["time"] == pytest.approx(1.0, abs=0.01)
        _, numbers = await page.ask("signals", path="fails.yaml", run=1, names=["i"])
        assert numbers.reshape(-1, 2)[-1, 0] > 0.9

    in_page(folder, work)


def test_a_killed_process_is_told_in_words(folder):
    async def work(page):
        await page.ask("run", path="swing.yaml", speed=0.01)
        await page.until(lambda: page.run(1).get("t", 0) > 0)
        runs = registry.runs_of(page.client.session)
        os.kill(runs.entries[1].process._process.pid, signal.SIGKILL)
        run = await page.ended(1)
        assert run["state"] == "failed"
        assert "signal 9" in run["problem"]["message"]
        assert "process is gone" in await page.refused("values", path="swing.yaml", run=1, t=0)
        await page.ask("run", path="swing.yaml", speed=None)
        assert (await page.ended(2))["state"] == "ended"

    in_page(folder, work)


def test_motion_poses_states_and_files_of_a_robot():
    path = "diagrams/spacecraft_pd.yaml"

    async def work(page):
        still = await page.ask("motion", path=path, run=None)
        names = [body["name"] for body in still["bodies"]]
        assert names == ["Spacecraft", "Link_1", "Link_2", "Link_3"]
        await page.ask("run", path=path, speed=0.1, T=20.0)
        head, numbers = await page.until(
            lambda: next(((h, n) for h, n in page.rows if h["tell"] == "poses"), None)
        )
        assert (head["bodies"], head["rows"], len(numbers)) == (4, 1, 1 + 4 * 7)
        poses = numbers[1:].reshape(4, 7)
        assert np.linalg.norm(poses[:, 3:], axis=1) == pytest.approx(np.ones(4))
        track = still["bodies"][3]["track"]["p"]
        assert poses[3, :3] == pytest.approx(unpacked(track)[0], abs=0.5)
        [qm] = [one for one in page.run(1)["signals"] if one["name"] == "plant.qm"]
        assert qm["entries"] == ["Joint_1", "Joint_2", "Joint_3"]
        await page.ask("speed", path=path, speed=None)
        await page.ended(1)
        states = await page.ask("states", path=path, run=1, t=2.0)
        (plant,) = [one for one in states if one["block"] == "plant"]
        assert len(plant["values"]) == len(plant["labels"]) == 19
        found = await page.ask("tunables", path=path, run=1)
        kp = next(one for one in found if one["name"] == "kp")
        assert (kp["text"], kp["first"]) == ("[40, 40, 10]", "[40, 40, 10]")
        assert kp["used"] == ["ctrl.kp"]
        moved = await page.ask("motion", path=path, run=1)
        assert moved["end"] == 20.0
        session = page.client.session
        plain = finish(begin(DiagramFile(ROOT / path)))
        name, kind, data = await download(session, path, "1", "npz")
        assert (name, kind) == ("spacecraft_pd-run1.npz", "application/octet-stream")
        (folder / name).write_bytes(data)
        saved = Results.load(folder / name)
        assert np.array_equal(saved["plant.qm"], plain["plant.qm"])
        _, _, data = await download(session, path, "1", "csv")
        assert data.startswith(b"t,")
        name, _, data = await download(session, path, "1", "mcap")
        (folder / name).write_bytes(data)
        assert np.array_equal(Results.load(folder / name)["plant.qm"], plain["plant.qm"])
        _, _, data = await download(session, path, "1", "html")
        assert b"<html" in data[:200]
        if find_spec("ziglang"):
            name, _, data = await download(session, path, "1", "live.html")
            assert name == "spacecraft_pd-run1.live.html"
            assert b'id="spartModule0"' in data
        for wrong in (("2", "npz"), ("x", "npz"), ("1", "exe")):
            with pytest.raises(InputError):
                await download(session, path, *wrong)
        # The robots of poses are loaded beside the next run: that is not what it waits for.
        await page.ask("run", path=path, speed=0.1)
        await page.until(lambda: any(h["tell"] == "poses" and h["run"] == 2 for h, _ in page.rows))
        assert (page.run(2)["state"], page.run(2)["doing"]) == ("running", None)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        in_page(ROOT, work)


def test_one_run_of_a_file_at_a_time(folder):
    async def work(page):
        await page.ask("run", path="swing.yaml", speed=0.001)
        await page.until(lambda: page.run(1).get("state") == "running")
        await page.ask("run", path="swing.yaml", speed=None)
        assert (await page.ended(1))["stopped"].startswith("stopped at ")
        assert (await page.ended(2))["stopped"] is None
        await page.ask("stop", path="swing.yaml")  # it has ended already

    in_page(folder, work)


def test_the_last_runs_are_kept(folder, monkeypatch):
    monkeypatch.setattr(registry, "MOST_RUNS", 3)
    monkeypatch.setattr(registry, "MOST_PROCESSES", 1)

    async def work(page):
        for number in range(1, 5):
            await page.ask("run", path="swing.yaml", speed=None, T=1.0)
            run = await page.ended(number)
        assert run["warnings"] == ["run 1 is no longer kept: 3 runs are the most"]
        assert [one["run"] for one in await page.ask("runs", path="swing.yaml")] == [2, 3, 4]
        dropped = [one for one in page.told if one["tell"] == "run-dropped"]
        assert dropped == [{"tell": "run-dropped", "path": "swing.yaml", "run": 1}]
        header, _ = await page.ask("signals", path="swing.yaml", run=2, names=["lag"])
        assert header["rows"] > 3  # from its file
        assert (
            "kept signals"
            in (await page.asked("values", path="swing.yaml", run=2, t=0.5))["problem"]["hint"]
        )

    in_page(folder, work)


def test_processes_end_with_the_session(folder):
    async def work(page):
        await page.ask("run", path="swing.yaml", speed=0.01)
        await page.until(lambda: page.run(1).get("state") == "running")
        runs = registry.runs_of(page.client.session)
        processes.append(runs.entries[1].process._process)

    processes = []
    in_page(folder, work)
    assert processes[0].returncode == -signal.SIGKILL


def test_breakpoints_are_kept_for_a_file_and_pause_its_runs(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))

    async def first(page):
        assert await page.ask("breakpoints", path="swing.yaml") == []
        refused = await page.refused("set-breakpoints", path="swing.yaml",
                                     breakpoints=[{"condition": "lag >"}])  # fmt: skip
        assert "it is no formula" in refused
        wanted = [{"condition": "lag  > 0.5"}, {"condition": "gain", "enabled": False}]
        found = await page.ask("set-breakpoints", path="swing.yaml", breakpoints=wanted)
        assert [one["enabled"] for one in found] == [True, False]

    async def then(page):
        await page.ask("run", path="swing.yaml", speed=None, paused=True)
        await page.until(lambda: page.run(1).get("state") == "paused")
        assert page.run(1)["paused"]["why"] == "start"
        assert page.run(1)["clocks"] == [{"name": "0.1+0.0", "text": "every 0.1 s"}]
        await page.ask("step", path="swing.yaml", to="tick", clock="0.1+0.0")
        await page.until(lambda: (page.run(1)["paused"] or {}).get("t") == 0.1)
        assert "above 0" in await page.refused("step", path="swing.yaml", to="time", interval=-1)
        assert "no clock" in await page.refused("step", path="swing.yaml", to="tick", clock="x")
        await page.ask("resume", path="swing.yaml")
        await page.until(lambda: (page.run(1)["paused"] or {}).get("why") == "breakpoint")
        why = page.run(1)["paused"]
        assert (why["condition"], why["text"]) == ("lag > 0.5", "lag = 0.5")
        assert why["t"] == pytest.approx(0.5 + np.log(4 / 3), abs=1e-4)
        assert page.run(1)["breakpoints"] == {"lag > 0.5": {"hits": 1, "problem": None}}
        wanted = [{"condition": "z > 1"}, {"condition": "nothing"}]
        await page.ask("set-breakpoints", path="swing.yaml", breakpoints=wanted)
        await page.until(lambda: "nothing" in page.run(1)["breakpoints"])
        assert "no signal" in page.run(1)["breakpoints"]["nothing"]["problem"]
        found = await page.ask("changed", path="swing.yaml", run=1, t=0.5)
        assert [(one["block"], one["before"], one["after"]) for one in found["changes"]] == [
            ("step", "0", "1"), ("gain", "0", "2")]  # fmt: skip
        asked = {"path": "swing.yaml", "run": 1, "to": "tick"}
        assert await page.ask("moment", t=0.55, back=True, **asked) == 0.5
        await page.ask("set-breakpoints", path="swing.yaml", breakpoints=[])
        await page.ask("resume", path="swing.yaml")
        assert (await page.ended(1))["paused"] is None
        assert "ended" in await page.refused("step", path="swing.yaml", to="event")

    in_page(folder, first)
    in_page(folder, then)

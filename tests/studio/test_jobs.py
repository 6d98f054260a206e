"""Jobs of the page: commands of spart in processes of their own, their files, what is refused."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from asking import Asking
from fake_page import in_page

from spart_blocks.base.errors import InputError
from spart_blocks.studio.jobs.handlers import job_file
from spart_blocks.studio.jobs.kinds import KINDS
from spart_blocks.studio.jobs.registry import jobs_of

SERVO = """\
name: servo
params: {k: 2}
blocks:
  goal: {type: CONSTANT, value: 1}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $k}
  x: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires:
  - goal -> error.0
  - error -> gain
  - gain -> x
  - x -> error.1, scope
sweep:
  over: {k: [1, 2, 3]}
  metrics: {miss: 1 - final(x)}
run: {T: 1}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "spart.toml").touch()
    (tmp_path / "servo.yaml").write_text(SERVO)
    (tmp_path / "slow.yaml").write_text(SERVO.replace("k: 2", "k: 5"))
    return tmp_path


async def over(page, number):
    """A job, once it is over."""

    def found():
        told = [one["job"] for one in page.told if one["tell"] == "job"]
        last = next((one for one in reversed(told) if one["job"] == number), None)
        return last if last and last["state"] != "running" else None

    return await page.until(found)


def names(job):
    return {one["name"] for one in job["files"]}


def test_a_sweep_of_the_page_has_its_report_its_table_and_a_run_of_each_point(folder):
    async def work(page):
        begun = await page.ask("job", path="servo.yaml", kind="sweep", options={"t": "2"})
        job = await over(page, begun["job"])
        assert (job["state"], job["code"], job["all"], job["unit"]) == ("ended", 0, 3, "runs")
        assert {"report.html", "sweep/sweep.json"} <= names(job)
        assert any("miss" in line for line in job["lines"])
        table = await page.ask("sweep-table", job=1, start=0, sort="miss", down=True)
        assert (table["count"], table["planned"], table["failed"]) == (3, 3, 0)
        assert table["metrics"] == ["miss"]
        place = {name: k for k, name in enumerate(table["columns"])}
        assert [row[place["k"]] for row in table["rows"]] == [1, 2, 3]
        assert [row[place["miss"]] for row in table["rows"]] == pytest.approx(
            [2.718281828 ** (-2 * k) for k in (1, 2, 3)], rel=1e-4
        )
        run = await page.ask("sweep-run", job=1, run=2)
        assert run["label"] == "run 1, sweep 1, run 2: k = 3"
        assert (await page.ended(1))["T"] == 2
        _, numbers = await page.ask("signals", path="servo.yaml", run=1, names=["x"])
        assert 1 - numbers[-1] == pytest.approx(table["rows"][2][place["miss"]], rel=1e-6)
        session = page.client.session
        archive = await job_file(session, "1", "")
        with zipfile.ZipFile(archive) as packed:
            assert set(packed.namelist()) == names(job)
        await page.ask("forget-job", job=1)
        assert not archive.with_suffix("").exists()
        assert await page.ask("jobs", path="servo.yaml") == []

    in_page(folder, work)


def test_a_sweep_is_stopped_with_what_it_has_and_goes_on(folder):
    many = {"over": ["k={uniform: {low: 1, high: 2}}"], "runs": "40000", "t": "50", "workers": "1"}

    async def work(page):
        await page.ask("job", path="servo.yaml", kind="sweep", options=many)
        await page.until(lambda: any(one["job"]["done"] > 0 for one in page.told))
        assert "has no runs to show" in await page.refused("sweep-table", job=1, start=0)
        await page.ask("stop-job", job=1)
        job = await over(page, 1)
        assert job["state"] == "stopped"
        assert any("was stopped" in line or "interrupted" in line for line in job["lines"]), job
        there = (await page.ask("sweep-table", job=1, start=0))["count"]
        assert 0 < there < 40000
        page.told.clear()
        await page.ask("resume-job", job=1)
        await page.until(lambda: any(one["job"]["done"] > 0 for one in page.told))
        await page.ask("stop-job", job=1)
        await over(page, 1)
        assert (await page.ask("sweep-table", job=1, start=0))["count"] >= there

    in_page(folder, work)


def test_controls_are_found_as_the_section_and_the_form_ask(folder):
    """x' = goal - x from 0 with goal <= 2 is 1 after log 2 s at the earliest."""
    asked = "optimize: {minimize: duration, T: [0.1, 5], end: {x: 1}}\n"
    (folder / "servo.yaml").write_text(SERVO.replace("k: 2", "k: 1") + asked)

    async def work(page):
        options = {"control": ["goal=[0, 2]"], "intervals": "4"}
        await page.ask("job", path="servo.yaml", kind="optimize", options=options)
        job = await over(page, 1)
        assert job["state"] == "ended", job["lines"]
        assert {"optimum.json", "report.html"} <= names(job)
        (told,) = [line for line in job["lines"] if line.startswith("T ")]
        assert float(told.split()[1]) == pytest.approx(np.log(2), rel=1e-5)

    in_page(folder, work)


def test_two_files_are_compared_and_a_diagram_is_exported(folder):
    async def work(page):
        given = {"path": "servo.yaml", "options": {}}
        await page.ask("job", **given, kind="compare", other="slow.yaml")
        compared = await over(page, 1)
        assert compared["state"] == "ended", compared["lines"]
        assert {"comparison.csv", "plots/scope.png"} <= names(compared)
        await page.ask("job", **given, kind="picture", format="svg")
        assert names(await over(page, 2)) == {"servo.svg"}
        await page.ask("job", path="servo.yaml", kind="c", options={"name": "law", "rate": "100"})
        made = await over(page, 3)
        assert made["state"] == "ended", made["lines"]
        assert "servo/law.c" in names(made)
        await page.ask("job", path="servo.yaml", kind="c", options={"rate": "fast"})
        wrong = await over(page, 4)
        assert (wrong["state"], wrong["code"]) == ("failed", 2)
        assert any("--rate" in line for line in wrong["lines"])

    in_page(folder, work)


def test_parameters_are_fitted_to_the_files_of_the_section(folder):
    rows = "".join(f"{t},{1 - 2.718281828459045 ** (-3 * t)}\n" for t in (0.2, 0.5, 0.9))
    (folder / "m.csv").write_text(f"t,x\n{rows}")
    fitted = "fit: {parameters: {k: [0, 9]}, experiments: {file: m.csv, signals: {x: x}}}\n"
    (folder / "servo.yaml").write_text(SERVO + fitted)

    async def work(page):
        await page.ask("job", path="servo.yaml", kind="fit", options={})
        job = await over(page, 1)
        assert job["state"] == "ended", job["lines"]
        assert {"fit.json", "report.html"} <= names(job)
        (told,) = [line for line in job["lines"] if line.startswith("k ")]
        assert float(told.split()[1]) == pytest.approx(3, rel=1e-3)

    in_page(folder, work)


def test_a_design_is_tuned_as_the_section_and_the_form_ask(folder):
    """x = 1 - exp(-k t) is 0.95 at t = 1 with k = log 20."""
    asked = "tune: {parameters: {k: [0, 9]}, minimize: final(x)}\n"
    (folder / "servo.yaml").write_text(SERVO + asked)

    async def work(page):
        options = {"constraint": ["end=final(x) >= 0.95"], "samples": "4"}
        await page.ask("job", path="servo.yaml", kind="tune", options=options)
        job = await over(page, 1)
        assert job["state"] == "ended", job["lines"]
        assert {"tune.json", "report.html"} <= names(job)
        (told,) = [line for line in job["lines"] if line.startswith("k ")]
        assert float(told.split()[2]) == pytest.approx(np.log(20), rel=1e-4)

    in_page(folder, work)


def test_a_job_whose_process_is_killed_has_failed(folder):
    async def work(page):
        await page.ask("job", path="servo.yaml", kind="sweep", options={})
        jobs_of(page.client.session).job(1).process._process.kill()
        assert "signal 9" in (await over(page, 1))["problem"]["message"]

    in_page(folder, work)


def test_the_options_of_the_dialog_are_those_of_the_commands(folder):
    async def work(page):
        kinds = {one["kind"]: one for one in await page.ask("job-options")}
        assert set(kinds) == set(KINDS)
        options = {one["name"]: one for one in kinds["c"]["options"]}
        assert options["method"]["choices"] == ["euler", "heun", "RK4", "Rodas3"]
        assert options["verify"]["flag"]
        assert options["part"]["several"]
        assert not {"out", "root", "blocks"} & {
            one["name"] for kind in kinds.values() for one in kind["options"]
        }

    in_page(folder, work)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kind": "rm"}, "no job 'rm'"),
        ({"kind": "sweep", "options": {"out": "/tmp/x"}}, "no option --out in the page"),
        ({"kind": "sweep", "options": {"scheduler": "tcp://a:1"}}, "no option --scheduler"),
        ({"kind": "sweep", "options": {"t": 3}}, "takes a text"),
        ({"kind": "sweep", "options": {"t": "1\0"}}, "takes a text"),
        ({"kind": "sweep", "options": {"set": ["k=1"] * 300}}, "more than 200 options"),
        ({"kind": "sweep", "options": ["--out=x"]}, "no job"),
        ({"kind": "picture", "format": "../x"}, "is written as svg, png, pdf"),
        ({"kind": "compare", "other": "../secret.yaml"}, "leaves the project"),
        ({"kind": "c", "other": "slow.yaml"}, "is of one diagram"),
        ({"kind": "c", "path": "../servo.yaml"}, "leaves the project"),
    ],
)
def test_what_a_page_may_not_ask_of_a_job_is_refused(folder, given, why):
    asking = Asking(folder)
    assert why in asking.problem("job", **{"path": "servo.yaml", **given})
    for what in ("stop-job", "resume-job", "forget-job", "sweep-table", "sweep-run"):
        assert "there is no job" in asking.problem(what, job=given.get("path"))


def test_only_files_of_the_job_are_given(folder):
    async def work(page):
        await page.ask("job", path="servo.yaml", kind="picture", options={})
        await over(page, 1)
        session = page.client.session
        assert (await job_file(session, "1", "servo.svg")).is_file()
        for number, name in (("1", "../1/servo.svg"), ("1", "/etc/passwd"), ("2", ""), ("x", "")):
            with pytest.raises(InputError):
                await job_file(session, number, name)

    in_page(folder, work)

"""pytest collects diagrams with `expect:`, as in a user's project."""

from __future__ import annotations

import os
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

from spart_blocks.base.errors import SpartWarning
from spart_blocks.claims import check as module
from spart_blocks.claims.check import Manner, check_file
from spart_blocks.claims.outcome import CaseOutcome

ROOT = Path(__file__).parents[2]
PLUGIN = "spart_blocks.pytest_plugin"

RAMP = """\
name: ramp
params: {rate: 2.0}
blocks:
  slope: {type: CONSTANT, value: $rate}
  x: {type: INTEGRATOR}
wires: [slope -> x]
run: {T: 2, log: [x]}
expect:
  final: [{signal: x, value: 4, within: 1e-6}]
"""
OTHERS = {
    "compose.yaml": "services: {web: {image: x}}\n",
    "broken.yml": "expect: [\n",
    "template.yaml": "expect:\n{{ blocks }}\n",
    "plain.yaml": "blocks:\n  a: {type: TIME}\n",
}


@pytest.fixture(scope="module")
def everything_loaded(tmp_path_factory):
    """pytester drops the modules that a run within this process loads; not all of them can
    be loaded twice, so they are loaded before."""
    file = tmp_path_factory.mktemp("loaded") / "one.yaml"
    file.write_text(RAMP.replace("value: 4,", "value: 3,"), encoding="utf-8")
    outcome = check_file(file, manner=Manner(plots=file.parent))
    assert outcome.failures[0].picture.is_file()


@pytest.fixture
def project(pytester, monkeypatch, everything_loaded):
    """project("-k", "a", one=RAMP): the results of pytest in a project, after writing files.
    process: pytest runs in a process of its own."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("PYTEST_PLUGINS", raising=False)

    def call(*arguments, process=False, **files):
        for name, text in files.items():
            (pytester.path / f"{name}.yaml").write_text(text, encoding="utf-8")
        run = pytester.runpytest_subprocess if process else pytester.runpytest_inprocess
        return run("-p", PLUGIN, *arguments)

    return call


def test_diagrams_are_collected_and_other_files_left_alone(project, pytester):
    (pytester.path / "deep").mkdir()
    (pytester.path / "deep" / "two.yml").write_text(RAMP)
    for name, text in OTHERS.items():
        (pytester.path / name).write_text(text)
    pytester.makepyfile("def test_of_theirs(): pass")
    result = project("-v", one=RAMP)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["deep/two.yml::two PASSED*", "one.yaml::one PASSED*"])


def test_items_go_by_node_id_and_by_keyword(project):
    both = {"one": RAMP, "two": RAMP}
    project("one.yaml::one", **both).assert_outcomes(passed=1)
    project("-k", "two", **both).assert_outcomes(passed=1, deselected=1)


def test_a_failure_is_clear_text_with_a_picture_and_no_traceback(project, pytester):
    result = project(one=RAMP.replace("value: 4,", "value: 3,"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*one.yaml:9:11: final x: got 4 at t = 2 s, expected 3 within 1e-06, off by 1",
            "  picture: *final_x.png",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert (pytester.path / "out/ramp/final_x.png").is_file()


def test_a_file_that_is_wrong_fails_with_its_mistakes(project):
    result = project(one=RAMP + "  finall: []\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*one.yaml:10:3: unknown key 'finall' in expect"])
    assert "Traceback" not in result.stdout.str()


def test_baselines_are_recorded_when_asked(project, pytester):
    text = RAMP + "  baseline:\n"
    result = project(one=text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*there is no file baselines/one.csv; record it: *"])
    result = project("--spart-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*baselines*", "recorded *one.csv", "  new"])
    assert (pytester.path / "baselines/one.csv").is_file()
    project().assert_outcomes(passed=1)


def test_a_slow_run_is_a_warning_under_any_filter_unless_timing_is_asked_for(project):
    slow = RAMP + "  speed: {times_real_time: 1e12}\n"
    result = project("-W", "error", one=slow)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        ["*PytestWarning: ran * times as fast as real time, expected 1e+12"]
    )
    project("--spart-timing").assert_outcomes(failed=1)


def test_our_warnings_obey_the_filters(project, monkeypatch):
    honest = module.finish

    def finish(run):
        warnings.warn("doubtful", SpartWarning, stacklevel=2)
        return honest(run)

    monkeypatch.setattr(module, "finish", finish)
    project("-W", "default", one=RAMP).assert_outcomes(passed=1, warnings=1)
    result = project("-W", "error")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["doubtful"])
    assert "Traceback" not in result.stdout.str()


def test_ctrl_c_within_a_run_ends_the_session(project, monkeypatch):
    """pytester raises again what ended its session."""
    monkeypatch.setattr(module, "check", lambda case, manner: CaseOutcome(case, interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        project(one=RAMP, two=RAMP)


def test_the_plugin_may_be_named_more_than_once(project, pytester, monkeypatch):
    """It is installed, as entry points tell, named on the command line, and in a conftest."""
    installed = pytester.path / "site" / "theirs-1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(f"[pytest11]\n{PLUGIN} = {PLUGIN}\n")
    monkeypatch.setenv("PYTHONPATH", f"{installed.parent}{os.pathsep}{ROOT}")
    pytester.makeconftest(f"pytest_plugins = [{PLUGIN!r}]")
    result = project("-p", PLUGIN, "-p", "no:cacheprovider", process=True, one=RAMP)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["plugins:*theirs-1.0*"])


def test_blocks_of_one_s_own_come_from_the_configuration(project, pytester, monkeypatch):
    pytester.makepyfile(
        own="""
        from bdsim.components import SourceBlock

        class Two(SourceBlock):
            nin = 0
            nout = 1

            def output(self, t, inputs, x):
                return [2.0]
        """
    )
    text = RAMP.replace("{type: CONSTANT, value: $rate}", "{type: TWO}")
    assert text != RAMP
    project(one=text).assert_outcomes(failed=1)
    for name in ("own.py", "own"):  # found beside the configuration, from anywhere
        ini = pytester.makeini(f"[pytest]\nspart_blocks =\n    {name}\n")
        project(one=text).assert_outcomes(passed=1)
        elsewhere = pytester.mkdir(f"from_{Path(name).stem}_{len(name)}")
        with monkeypatch.context() as here:
            here.chdir(elsewhere)
            pytester.runpytest_inprocess(
                "-p", PLUGIN, "-c", ini, pytester.path / "one.yaml"
            ).assert_outcomes(passed=1)


def test_the_entry_point_has_the_name_of_its_module():
    """pytest then knows the plugin by one name, however often it is named."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["entry-points"]["pytest11"] == {PLUGIN: PLUGIN}


def test_importing_the_plugin_loads_pytest_alone(pytester):
    heavy = ("numpy", "pydantic", "yaml", "bdsim", "casadi")
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {PLUGIN}; "
        "from spart_blocks.claims.files import is_test; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert pytester.run(sys.executable, "-c", code).outlines == ["[]"]

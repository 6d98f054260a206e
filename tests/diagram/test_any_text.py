"""Whatever the files of a project hold, the loader answers with a diagram or with an error
of ours that says where and what to do; nothing is executed, written or read elsewhere.

The kinds of projects and what is checked are in tests/any_text.py; many more of them are
examined by tests/nightly/test_hostile_input.py.
"""

from __future__ import annotations

import subprocess
import tempfile
import tracemalloc
from itertools import count
from pathlib import Path

import any_text
import pytest
from any_text import FILES, KINDS, Project, Tally, examine, projects, put, watch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spart_blocks.base.errors import InputError
from spart_blocks.diagram import Diagram, load

FEW = settings(
    max_examples=250,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_numbers = count()


def test_the_project_that_is_broken_is_right(tmp_path):
    tally = Tally()
    examine(Project("sound"), tmp_path, tally, run="interpreter")
    assert tally.answers == {"loaded": 1, "ran": 1}


@FEW
@given(project=projects())
def test_broken_projects_give_a_diagram_or_an_error_of_ours(tmp_path, project):
    folder = tmp_path / str(next(_numbers))
    folder.mkdir()
    examine(project, folder, Tally(), run="interpreter")


@settings(max_examples=100, derandomize=True, deadline=None)
@given(path=st.text(max_size=20), value=st.text(max_size=20))
def test_any_override_gives_a_diagram_or_an_error_of_ours(tmp_path_factory, path, value):
    file = tmp_path_factory.getbasetemp() / "override.yaml"
    file.write_text("params: {k: 1}\nblocks: {c: {type: CONSTANT, value: $k}}\n")
    for override in (f"{path}={value}", f"k={value}", f"c.{path}={value}", f"run.{path}={value}"):
        assert any_text._answer(lambda given=override: load(file, overrides=[given]))


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=lambda k: KINDS[k].__name__.strip("_"))
def test_a_broken_project_takes_little_memory(tmp_path, kind):
    tracemalloc.start()
    try:
        examine(any_text.drawn(kind, 1), tmp_path, Tally())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6


# --- the watch itself ----------------------------------------------------------------------


def test_the_watch_sees_what_is_executed_written_or_read_elsewhere(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside.txt"
    inside.mkdir()
    outside.write_text("secret")
    (inside / "own.txt").write_text("mine")
    acts = {
        "nothing": lambda: (inside / "own.txt").read_text(),
        "outside the project": outside.read_text,
        "for writing": lambda: (inside / "new.txt").write_text("x"),
        "subprocess.Popen": lambda: subprocess.run(["true"], check=True),
    }
    for told, act in acts.items():
        with watch(inside) as seen:
            act()
        assert any(told in one for one in seen) == (told != "nothing"), (told, seen)


def test_a_file_that_would_be_executed_is_not(tmp_path):
    text = "blocks: {t: {type: !!python/object/apply:os.system ['touch owned']}}\n"
    file = put(Project("tag").with_file("main.yaml", text), tmp_path)
    with pytest.raises(InputError, match=r"main.yaml:1:20: tag .*os.system is refused"):
        load(file)
    assert not (tmp_path / "owned").exists()
    with pytest.raises(SystemExit):
        exec(FILES["evil.py"])  # what the projects' own file does to whoever runs it


def test_a_link_out_of_the_project_is_refused(tmp_path):
    with tempfile.TemporaryDirectory() as other:
        Path(other, "arm.yaml").write_bytes(FILES["arm.yaml"])
        project = Project("link", links={"link.yaml": f"{other}/arm.yaml"})
        text = FILES["main.yaml"].decode().replace("dh: arm.yaml", "dh: link.yaml")
        file = put(project.with_file("main.yaml", text), tmp_path)
        with watch(tmp_path) as seen, pytest.raises(InputError, match="leaves the project"):
            load(file)
        assert seen == []
        assert isinstance(load(file, root="/"), Diagram)

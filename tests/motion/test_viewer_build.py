"""The viewer is built when it is needed, once, and never half."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from base64 import b64decode
from pathlib import Path

import pytest

from spart_blocks.errors import InputError
from spart_blocks.motion import viewer_build
from spart_blocks.motion.page import page_of

NODE = viewer_build.Node("/nowhere/node", ("/nowhere/npm",))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with sources of a viewer, and a build that only writes down what was run."""
    sources, page = tmp_path / "viewer", tmp_path / "page"
    (sources / "src").mkdir(parents=True)
    (sources / "vite.config.ts").write_text("export default {}\n")
    (sources / "src" / "main.ts").write_text("one();\n")
    monkeypatch.setattr(viewer_build, "SOURCES", sources)
    monkeypatch.setattr(viewer_build, "VIEWER", page / "viewer.js")
    monkeypatch.setattr(viewer_build, "LICENSES", page / "licenses.txt")
    monkeypatch.setattr(viewer_build, "found_node", lambda: NODE)
    ran = []

    def run(command, folder, node):
        ran.append(command)
        if "--outDir" in command:
            made = folder.parent / "page"
            made.mkdir()
            (made / "viewer.js").write_text((folder / "src" / "main.ts").read_text())
            (made / "licenses.txt").write_text("MIT")

    monkeypatch.setattr(viewer_build, "_run", run)
    return sources, page, ran


def test_it_is_built_once_and_anew_when_its_sources_change(place):
    sources, page, ran = place
    said = []
    assert viewer_build.viewer(said.append).read_text().endswith("one();\n")
    assert (len(ran), len(said)) == (2, 1)
    viewer_build.viewer(said.append)
    assert (len(ran), len(said)) == (2, 1)
    (sources / "src" / "main.ts").write_text("two();\n")
    assert viewer_build.viewer().read_text().endswith("two();\n")
    assert {path.name for path in page.iterdir()} == {"viewer.js", "licenses.txt"}


def test_what_is_bundled_is_licensed_in_the_script_itself(place):
    assert "MIT" in viewer_build.viewer().read_text()


def test_the_stamp_is_of_what_a_build_reads(place):
    sources, _, _ = place
    before = viewer_build.stamp(sources)
    for name in ("node_modules", "tests", "dist"):
        (sources / name).mkdir()
        (sources / name / "more.ts").write_text("more")
    (sources / "src" / "main.ts").write_bytes(b"one();\r\n")  # as git may check it out
    assert viewer_build.stamp(sources) == before
    (sources / "src" / "main.ts").rename(sources / "src" / "other.ts")
    assert viewer_build.stamp(sources) != before


def test_without_node_there_is_a_hint(place, monkeypatch):
    monkeypatch.setattr(viewer_build, "found_node", lambda: None)
    with pytest.raises(InputError, match=r"no Node.js.*\n.*spart_blocks\[viewer\]"):
        viewer_build.viewer()


def test_an_installed_viewer_needs_neither_sources_nor_node(place, monkeypatch):
    sources, page, ran = place
    page.mkdir()
    (page / "viewer.js").write_text("built")
    for path in sources.rglob("*.ts"):
        path.unlink()
    monkeypatch.setattr(viewer_build, "found_node", lambda: None)
    assert viewer_build.viewer().read_text() == "built"
    assert not ran


def test_a_failed_build_says_what_failed_and_leaves_the_last_one(place, monkeypatch):
    sources, page, _ = place
    viewer_build.viewer()
    before = (page / "viewer.js").read_bytes()
    (sources / "src" / "main.ts").write_text("two();\n")
    monkeypatch.undo()
    for name, path in (("SOURCES", sources), ("VIEWER", page / "viewer.js")):
        monkeypatch.setattr(viewer_build, name, path)
    with pytest.raises(InputError, match=r"cannot be built.*nowhere"):
        viewer_build.build(NODE)
    assert (page / "viewer.js").read_bytes() == before


def test_the_build_hook_needs_nothing_installed():
    code = "import sys; sys.path.insert(0, '.'); from spart_blocks.motion import viewer_build"
    command = [sys.executable, "-I", "-S", "-c", code]
    subprocess.run(command, cwd=Path(__file__).parents[2], check=True)


@pytest.mark.skipif(not viewer_build.is_fresh(), reason="the viewer is not built")
def test_the_built_viewer_is_small_and_its_licences_are_in_the_documentation():
    assert len(zlib.compress(viewer_build.VIEWER.read_bytes(), 9)) < 160_000
    listed = (viewer_build.SOURCES.parent / "docs" / "animate.md").read_text(encoding="utf-8")
    names = re.findall(r"^## (\S+) - (\S+) \((.+)\)$", viewer_build.LICENSES.read_text(), re.M)
    assert names
    for name, version, license in names:
        assert re.search(rf"{name}.*\| {re.escape(version)} \| {license},", listed)


def test_a_page_holds_the_recording_and_the_viewer(place):
    page = page_of({"format": 1, "name": "a </title> & b"})
    assert "<title>a &lt;/title&gt; &amp; b</title>" in page

    def part(name):
        (found,) = re.findall(rf'<script id="{name}"[^>]*>([^<]*)</script>', page)
        return zlib.decompress(b64decode(found))

    assert json.loads(part("recording")) == {"format": 1, "name": "a </title> & b"}
    assert part("viewer").endswith(b"one();\n")

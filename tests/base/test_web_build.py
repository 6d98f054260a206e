"""Pages for browsers are built when they are needed, once, and never half."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from base64 import b64decode
from pathlib import Path

import pytest

from spart_blocks.animation.page import page_of
from spart_blocks.base import web_build
from spart_blocks.base.errors import InputError
from spart_blocks.base.web_build import (
    HOME,
    LICENSES,
    PAGES,
    VIEWER,
    NodeJs,
    WebPage,
    build,
    built,
    stamp,
)
from spart_blocks.cli import doctor

NODE = NodeJs("/nowhere/node", ("/nowhere/npm",))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A page with sources, and a build that only writes down what was run."""
    sources = tmp_path / "viewer"
    (sources / "src").mkdir(parents=True)
    (sources / "vite.config.ts").write_text("export default {}\n")
    (sources / "src" / "main.ts").write_text("one();\n")
    target = tmp_path / "page"
    page = WebPage("the viewer", ("viewer",), target, "viewer.js", ("viewer",), tmp_path)
    monkeypatch.setattr(web_build, "found_node", lambda: NODE)
    ran = []

    def run(page, command, folder, node):
        ran.append(command)
        if "--outDir" in command:
            made = folder.parent / "page"
            (made / "parts").mkdir(parents=True)
            text = (folder / "src" / "main.ts").read_text()
            (made / "viewer.js").write_text(text)
            (made / "parts" / f"{len(text)}.js").write_text(text)
            (made / "licenses.txt").write_text("MIT")

    monkeypatch.setattr(web_build, "_run", run)
    return sources, page, ran


def test_it_is_built_once_and_anew_when_its_sources_change(place):
    sources, page, ran = place
    said = []
    assert built(page, said.append).read_text().endswith("one();\n")
    assert (len(ran), len(said)) == (2, 1)
    built(page, said.append)
    assert (len(ran), len(said)) == (2, 1)
    (sources / "src" / "main.ts").write_text("two();\n")
    assert built(page).read_text().endswith("two();\n")
    names = {path.name for path in page.target.rglob("*") if path.is_file()}
    assert names == {"viewer.js", "licenses.txt", "stamp.txt", "7.js"}


def test_parts_of_earlier_builds_are_removed(place):
    sources, page, _ = place
    built(page)
    (sources / "src" / "main.ts").write_text("three();\n")
    built(page)
    assert [path.name for path in (page.target / "parts").iterdir()] == ["9.js"]


def test_what_is_bundled_is_licensed_in_the_script_itself(place):
    _, page, _ = place
    assert "MIT" in built(page).read_text()


def test_the_stamp_is_of_what_a_build_reads(place):
    sources, page, _ = place
    before = stamp(page)
    for name in ("node_modules", "tests", "dist"):
        (sources / name).mkdir()
        (sources / name / "more.ts").write_text("more")
    (sources / "src" / "main.ts").write_bytes(b"one();\r\n")  # as git may check it out
    assert stamp(page) == before
    (sources / "src" / "main.ts").rename(sources / "src" / "other.ts")
    assert stamp(page) != before


def test_without_node_there_is_a_hint(place, monkeypatch):
    _, page, _ = place
    monkeypatch.setattr(web_build, "found_node", lambda: None)
    with pytest.raises(InputError, match=r"no Node.js.*\n.*pip install .*\[pages\]"):
        built(page)


def test_an_installation_without_the_page_names_a_clone(place, monkeypatch):
    sources, page, _ = place
    (sources / "vite.config.ts").unlink()
    with pytest.raises(InputError, match=r"has no sources of it\n.*clone.*-e '\.\[pages\]'"):
        built(page)
    found = doctor._page("viewer", page, "no pages")  # though there is a Node.js
    assert (found.state, found.hint) == ("missing", page.hint)


def test_an_installed_viewer_needs_neither_sources_nor_node(place, monkeypatch):
    sources, page, ran = place
    page.target.mkdir()
    (page.target / "viewer.js").write_text("built")
    for path in sources.rglob("*.ts"):
        path.unlink()
    monkeypatch.setattr(web_build, "found_node", lambda: None)
    assert built(page).read_text() == "built"
    assert not ran


def test_a_failed_build_says_what_failed_and_leaves_the_last_one(place, monkeypatch):
    sources, page, _ = place
    built(page)
    before = (page.target / "viewer.js").read_bytes()
    (sources / "src" / "main.ts").write_text("two();\n")
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"cannot be built.*nowhere"):
        build(page, NODE)
    assert (page.target / "viewer.js").read_bytes() == before


def test_the_build_hook_needs_nothing_installed():
    code = "import sys; sys.path.insert(0, '.'); from spart_blocks.base import web_build"
    command = [sys.executable, "-I", "-S", "-c", code]
    subprocess.run(command, cwd=Path(__file__).parents[2], check=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.main)
def test_the_licences_of_what_is_bundled_are_in_the_documentation(page):
    if not web_build.is_fresh(page):
        pytest.skip(f"{page.what} is not built")
    doc = "animate.md" if page is VIEWER else "studio.md"
    listed = (HOME / "docs" / doc).read_text(encoding="utf-8")
    names = re.findall(r"^## (\S+) - (\S+) \((.+)\)$", (page.target / LICENSES).read_text(), re.M)
    assert names
    for name, version, license in names:
        assert re.search(rf"{name}.*\| {re.escape(version)} \| {license},", listed)


@pytest.mark.skipif(not web_build.is_fresh(VIEWER), reason="the viewer is not built")
def test_the_built_viewer_is_small():
    assert len(zlib.compress((VIEWER.target / VIEWER.main).read_bytes(), 9)) < 160_000


def test_a_page_holds_the_recording_and_the_viewer(place, monkeypatch):
    monkeypatch.setattr("spart_blocks.animation.page.VIEWER", place[1])
    page = page_of({"format": 1, "name": "a </title> & b"})
    assert "<title>a &lt;/title&gt; &amp; b</title>" in page

    def part(name):
        (found,) = re.findall(rf'<script id="{name}"[^>]*>([^<]*)</script>', page)
        return zlib.decompress(b64decode(found))

    assert json.loads(part("spartRecording")) == {"format": 1, "name": "a </title> & b"}
    assert part("spartScript").endswith(b"one();\n")

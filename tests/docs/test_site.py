"""The documentation builds as a site without a warning, and its gallery is of all diagrams."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from spart_blocks.cli.examples import found

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_has_every_page_and_public_name(site):
    import spart_blocks as sb

    pages = {path.stem for path in site.glob("*.html")}
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= pages
    assert {"index", "contributing", "changelog"} <= pages
    page = (site / "api.html").read_text()
    places = {f"{getattr(sb, name).__module__}.{name}" for name in ("simulate", "Robot", "Results")}
    assert all(f'id="{place}"' in page for place in places)
    ported = (site / "api_spart.html").read_text()
    for name in ("GIM", "Floating_ID", "quat_DCM"):
        assert re.search(rf'doc-heading">\s*{name}\s*<', ported), name


def test_the_site_has_the_blocks_of_bdsim_too(site):
    page = (site / "blocks_bdsim.html").read_text()
    for name in ("STEP", "SUM", "LTI_SISO", "SCOPE"):
        assert f'<h3 id="{name.lower()}">' in page
    assert "sum = bd.SUM('+-+')" in page.replace("&#39;", "'")


def test_links_out_of_the_docs_lead_to_copies(site):
    page = (site / "gallery.html").read_text()
    assert 'href="source/diagrams/spacecraft_pd.yaml"' in page
    assert (site / "source" / "diagrams" / "spacecraft_pd.yaml").exists()
    assert 'href="diagrams.html"' in (site / "index.html").read_text()


def test_nothing_of_the_site_is_fetched_from_elsewhere(site):
    for page in ("index.html", "api.html", "blocks.html"):
        text = (site / page).read_text()
        assert 'src="http' not in text
        assert 'rel="stylesheet" href="http' not in text


def test_the_search_works_where_the_site_is_opened_from_files(site):
    index = (site / "search" / "search_index.js").read_text()
    assert index.startswith("var __index = ")
    found = json.loads(index.removeprefix("var __index = "))["docs"]
    assert any(entry["location"] == "blocks.html#transport_delay" for entry in found)
    # Browsers start no worker from files: this script has it run in a frame.
    for page in [*site.glob("*.html"), *(site / "source").rglob("*.html")]:
        (script,) = re.findall(r'<script src="([^"]*iframe-worker[^"]*)"', page.read_text())
        assert (page.parent / script).resolve().exists() or page.stem == "404"


def test_the_gallery_shows_every_shipped_diagram():
    made = runpy.run_path(str(ROOT / "docs" / "make_gallery.py"))
    assert made["page"]() == (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for one in found(ROOT):
        assert (made["PICTURES"] / f"{made['file_stem'](one)}.svg").exists(), (
            "renew it: python docs/make_gallery.py"
        )


class _Files:
    def __init__(self, *there):
        self.there = there

    def get_file_from_path(self, path):
        return path if path in self.there else None


def _shown(name, text, *there):
    hooks = runpy.run_path(str(ROOT / "docs" / "make_site.py"))
    page = SimpleNamespace(file=SimpleNamespace(src_uri=name))
    return hooks["on_page_markdown"](text, page, None, _Files(*there))


def test_a_marked_diagram_runs_in_its_page_where_the_site_is_made_with_it():
    text = "before\n\n<!-- live: diagrams/control/lqr.yaml -->\n\nafter"
    assert '<iframe src="live/control-lqr.html"' in _shown("a.md", text, "live/control-lqr.html")
    assert "iframe" not in _shown("a.md", text)
    entry = "An arm. [The file](../diagrams/dual_arm.yaml)"
    assert "(live/dual_arm.html)" in _shown("gallery.md", entry, "live/dual_arm.html")
    assert "live/" not in _shown("gallery.md", entry)


def test_the_diagrams_that_run_in_the_site_are_asked_for_and_there(monkeypatch):
    listed = runpy.run_path(str(ROOT / "docs" / "make_site.py"))["_live_in"]
    pages = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
    monkeypatch.delenv("SPART_DOCS_LIVE", raising=False)
    assert listed(pages) == []
    monkeypatch.setenv("SPART_DOCS_LIVE", "marked")
    marked = listed(pages)
    assert len(marked) == 5
    assert all((ROOT / file).is_file() for file in marked)
    monkeypatch.setenv("SPART_DOCS_LIVE", "all")
    assert len(listed(pages)) == len(list(found(ROOT)))

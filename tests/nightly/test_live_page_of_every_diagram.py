"""The page of every shipped diagram, in Chromium without a network: its rows are a lane's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from browsers import needs_chromium

import spart_blocks as sb
from spart_blocks.base.errors import SpartError
from spart_blocks.web.page import page_of_runs
from spart_blocks.web.runnable import Runnable

pytestmark = needs_chromium

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
SHIPPED = [path for path in sorted(DIAGRAMS.rglob("*.yaml")) if "controllers" not in path.parts]
REFUSED = {
    "arm_over_udp": "a page has no connections",
    "bouncing_ball": "run: sliding is filippov",
    "limited_servo": "its states slide along a surface",
}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_live_page_of_every_diagram(path, browser, tmp_path):
    diagram = sb.load(path)
    if path.stem in REFUSED:
        with pytest.raises(SpartError, match=REFUSED[path.stem]):
            Runnable.of(diagram)
        return
    made = Runnable.of(diagram)
    page = tmp_path / "page.html"
    page.write_text(page_of_runs([made]), encoding="utf-8")
    assert page.stat().st_size < (700_000 if made.plants else 350_000)
    browser.visit(page.as_uri())
    browser.wait("window.spartLive && spartLive.run")
    rows = np.array(browser.run("return [...spartLive.run.rows]"), dtype=float)
    np.testing.assert_array_equal(rows, made.reference().rows[0].ravel())
    assert browser.requests() == []
    assert browser.complaints() == []

"""The page does in Firefox what it does in Chromium: the tests of these files pass there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from browsers import is_there

HERE = Path(__file__).parent
MAIN = (
    "building", "buses", "charts", "claims", "code", "editing", "jobs", "kinds",
    "large_sheets", "looking", "loops", "run_panels", "running", "sheet", "stages", "stepping",
    "touch", "values",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not is_there("firefox"), reason="needs Firefox and geckodriver")


@pytest.mark.parametrize("subject", MAIN)
def test_the_page_does_in_firefox_what_it_does_in_chromium(subject):
    file = HERE / f"test_{subject}_in_the_browser.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "--tb=short", str(file)],
        env={**os.environ, "SPART_BROWSER": "firefox"}, cwd=HERE.parents[1],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-10_000:]
    assert " passed" in done.stdout

"""Type checkers find the mistakes of a user's script.

One command: .venv/bin/python -m pytest tests/nightly/test_types_of_users.py
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

SCRIPT = """\
import spart_blocks as sb

results = sb.simulate("spacecraft_pd.yaml", Tend=5)
again = sb.simulate("spacecraft_pd.yaml", solver="RK54")
robot = sb.Robot.from_urdf(5)
print(results["plant.qm"].maximum())
diagram = sb.load("spacecraft_pd.yaml", override={"params.kp": 3})
print(again.t[-1], robot.name, diagram.name)
"""
WRONG = {3, 4, 5, 6, 7}


@pytest.mark.parametrize(
    "checker", [[sys.executable, "-m", "mypy"], ["pyright", "--pythonpath", sys.executable]]
)
def test_a_checker_finds_the_five_mistakes_and_no_other(checker, tmp_path):
    if shutil.which(checker[0]) is None:
        pytest.skip(f"{checker[0]} is not installed")
    (tmp_path / "user.py").write_text(SCRIPT)
    done = subprocess.run([*checker, "user.py"], cwd=tmp_path, capture_output=True, text=True)
    found = re.findall(r"user\.py:(\d+).*?error", done.stdout)
    assert {int(line) for line in found} == WRONG, done.stdout

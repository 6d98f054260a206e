"""A project, its studio, and a browser."""

from __future__ import annotations

import pytest
from studio_pages import served

PD = """\
name: one_loop
blocks:
  step: {type: STEP, T: 1}
  plant: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires:
  - step -> plant
  - plant -> scope
run: {T: 2}
"""


@pytest.fixture
def project(tmp_path):
    """A folder with a diagram."""
    folder = tmp_path / "project"
    (folder / "diagrams").mkdir(parents=True)
    (folder / "spart.toml").write_text("")
    (folder / "diagrams" / "loop.yaml").write_text(PD)
    (tmp_path / "secret.yaml").write_text("blocks: {secret: {type: CONSTANT}}\n")
    return folder


@pytest.fixture
def studio(project, tmp_path):
    """The studio of the project."""
    with served(project, tmp_path / "page") as found:
        yield found

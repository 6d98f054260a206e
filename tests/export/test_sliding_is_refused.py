"""What slides in a simulation would chatter at a fixed step: exports refuse it."""

from __future__ import annotations

import pytest

import spart_blocks as sb
from spart_blocks.cli.app import app

TEXT = """
blocks:
  f: {type: FCN, expression: "-sign(u)"}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [f -> x, x -> f]
run: {T: 2, sliding: filippov}
"""


@pytest.mark.parametrize("kind", ["c", "fmu"])
def test_an_export_refuses_to_slide(kind, tmp_path):
    from typer.testing import CliRunner

    path = tmp_path / "d.yaml"
    path.write_text(TEXT)
    out = tmp_path / "out.fmu"
    result = CliRunner().invoke(app, ["export", kind, str(path), "-o", str(out)])
    assert result.exit_code == 2
    assert "sliding: filippov" in result.output
    assert not out.exists()
    assert sb.simulate(str(path)).complete

"""What slides in a simulation would chatter at a fixed step: exported C refuses it."""

from __future__ import annotations

import spart_blocks as sb
from spart_blocks.cli.app import app

TEXT = """
blocks:
  f: {type: FCN, expression: "-sign(u)"}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [f -> x, x -> f]
run: {T: 2, sliding: filippov}
"""


def test_code_of_a_fixed_step_refuses_to_slide(tmp_path):
    from typer.testing import CliRunner

    path = tmp_path / "d.yaml"
    path.write_text(TEXT)
    out = tmp_path / "out"
    result = CliRunner().invoke(app(), ["export", "c", str(path), "-o", str(out)])
    assert result.exit_code == 2
    told = " ".join(result.output.split())
    assert "sliding: filippov" in told
    assert "acts at the time of a crossing, which is between two steps" in told
    assert "export an FMU" in told
    assert not out.exists()
    assert sb.simulate(str(path)).complete

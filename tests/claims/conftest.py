"""A ramp x = rate * t as a diagram with `expect:`, and results with known numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spart_blocks.results import FinalState, Results

RAMP = """\
name: ramp
params: {rate: 2.0}
blocks:
  slope: {type: CONSTANT, value: $rate}
  x: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires: [slope -> x, x -> scope]
run: {T: 2}
expect:
"""


@pytest.fixture
def ramp(tmp_path):
    """ramp("final: [...]", name="ramp"): the file of the diagram, with these claims; ramp.text
    is the diagram."""
    (tmp_path / "spart.toml").touch()

    def written(*claims, name="ramp", text=RAMP):
        file = tmp_path / f"{name}.yaml"
        file.write_text(text + "".join(f"  {claim}\n" for claim in claims), encoding="utf-8")
        return file

    written.text = RAMP
    return written


@pytest.fixture
def results_of():
    """results_of(x=array, ...): results of 101 samples to 10 s; `t` replaces the times."""

    def made(*, t=None, T=None, **signals):
        t = np.linspace(0, 10, 101) if t is None else np.asarray(t, float)
        named = {name.replace("__", "."): np.asarray(x) for name, x in signals.items()}
        info = {"T": float(t[-1]) if T is None else T, "engine": "native", "numpy": "2.0"}
        return Results(
            t=t,
            signals=named,
            states={},
            final_state=FinalState(float(t[-1])),
            diagram_name="known",
            info=info,
        )

    return made


@pytest.fixture
def spacecraft():
    """The text of a free-floating spacecraft that a torque turns, 1 s."""
    models = (Path(__file__).parents[2] / "models").as_posix()
    return f"""\
robots: {{sc: {{urdf: {models}/spacecraft_3dof.urdf, base: floating}}}}
blocks:
  torque: {{type: CONSTANT, value: [0.3, -0.2, 0.1]}}
  plant: {{type: MULTIBODY, robot: sc}}
wires: [torque -> plant.taum]
run: {{T: 1}}
"""

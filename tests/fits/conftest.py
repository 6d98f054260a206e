"""Small diagrams, and files with what their sensors would measure."""

import numpy as np
import pytest

DECAY = """
name: decay
params: {k: 2.0, x0: 1.5}
blocks:
  gain: {type: GAIN, K: $k}
  flip: {type: GAIN, K: -1}
  x: {type: INTEGRATOR, x0: $x0}
  s: {type: SCOPE}
wires: [x -> gain, gain -> flip, flip -> x, x -> s]
run: {T: 2, rtol: 1.0e-9, atol: 1.0e-11}
"""
"""x = x0 exp(-k t)"""


@pytest.fixture
def decay(tmp_path):
    """The path of a diagram of x = x0 exp(-k t), with k = 2 and x0 = 1.5."""
    path = tmp_path / "decay.yaml"
    path.write_text(DECAY, encoding="utf-8")
    return path


@pytest.fixture
def measured(tmp_path):
    """measured(name, t, x=..., ...): a CSV file with these columns."""

    def write(name, t, **columns):
        path = tmp_path / name
        names = ",".join(["t", *columns])
        table = np.column_stack([t, *columns.values()])
        np.savetxt(path, table, delimiter=",", header=names, comments="", fmt="%.17g")
        return path

    return write

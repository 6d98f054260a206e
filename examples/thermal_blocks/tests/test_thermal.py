"""The blocks against closed forms."""

from pathlib import Path

import numpy as np

import spart_blocks as sb

RADIATOR = Path(__file__).with_name("radiator.yaml")
SIGMA = 5.670374419e-8  # W/(m^2 K^4)


def test_in_the_end_all_heat_is_radiated():
    results = sb.simulate(RADIATOR)
    panel = (60 / (0.85 * SIGMA * 0.2) + 2.725**4) ** 0.25
    np.testing.assert_allclose(results["panel"][-1], panel, rtol=1e-5)
    np.testing.assert_allclose(results["box"][-1], panel + 60 / 5, rtol=1e-5)


def test_a_body_that_radiates_alone_cools_by_the_cube_root_law(tmp_path):
    """C T' = -k T^4 has the solution T = (T0^-3 + 3 k t / C)^(-1/3)."""
    path = tmp_path / "cooling.yaml"
    path.write_text(
        """\
blocks:
  body: {type: THERMAL_BODY, capacity: 100, T0: 400}
  space: {type: THERMAL_RADIATOR, area: 0.5, space: 0}
  back: {type: GAIN, K: -1}
wires: [body -> space, space -> back, back -> body]
run: {T: 1000, rtol: 1e-9}
"""
    )
    results = sb.simulate(path)
    k = SIGMA * 0.5
    exact = (400.0**-3 + 3 * k * results.t / 100) ** (-1 / 3)
    np.testing.assert_allclose(results["body"], exact, rtol=1e-7)
    assert results.info["engine"] == "native"

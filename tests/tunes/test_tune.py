"""`sb.tune`: designs whose best is known in closed form."""

import pytest

import spart_blocks as sb


def test_the_least_integral_of_squared_error_has_damping_one_half(oscillator):
    """Source: K. Ogata, Modern Control Engineering, sec. 8: J = zeta + 1/(4 zeta) for wn = 1."""
    found = sb.tune(oscillator, {"zeta": [0.05, 3]}, minimize="integral(e**2)")
    assert found["zeta"] == pytest.approx(0.5, abs=1e-6)
    assert found.objective == pytest.approx(1.0, abs=1e-7)
    assert found.objective_before == pytest.approx(0.2 + 1 / 0.8, abs=1e-6)
    assert found.good
    assert found.optimality.residual < 1e-5
    assert found.overrides == {"zeta": found["zeta"]}

"""Designs whose best is published."""

import pytest

import spart_blocks as sb

# Coefficients of s^n, ..., s of the answers 1/(s^n + ... + 1) with the least integral of time times
# error. Source: Y. Cao, "Correcting the minimum ITAE standard forms of zero-displacement-error
# systems", J. Zhejiang University 23 (1989), which corrects D. Graham and R. C. Lathrop (1953). The
# integral is flat: the coefficients of the fourth order are 1e-3 off the least, and it 2e-6.
STANDARD_FORMS = {
    2: [1.505],
    3: [1.783, 2.172],
    4: [1.953, 3.347, 2.648],
}


@pytest.mark.parametrize("n", STANDARD_FORMS)
def test_the_standard_forms_of_least_time_times_error(written, n):
    best = STANDARD_FORMS[n]
    states = [f"x{k}" for k in range(n)]  # the error and its derivatives
    names = [f"a{k}" for k in range(1, n)]
    law = " - ".join(["-x0", *(f"a{k}*x{k}" for k in range(1, n))])
    blocks = "\n".join(
        f"  x{k}: {{type: INTEGRATOR, x0: {-1.0 if k == 0 else 0.0}}}" for k in range(n)
    )
    wires = [f"x{k} -> f.{k}" for k in range(n)] + [f"x{k + 1} -> x{k}" for k in range(n - 1)]
    path = written(f"""
params: {{{", ".join(f"{name}: 2.0" for name in names)}}}
blocks:
  f:
    type: FCN
    arguments: [{", ".join(states)}]
    params: {{{", ".join(f"{name}: ${name}" for name in names)}}}
    expression: {law}
{blocks}
  s: {{type: SCOPE}}
wires: [{", ".join([*wires, f"f -> x{n - 1}", "x0 -> s"])}]
run: {{T: 30, rtol: 1.0e-9, atol: 1.0e-11, max_step: 0.02}}
""")
    found = sb.tune(path, {name: [0.5, 6] for name in names}, minimize="integral(t * abs(x0))",
                    samples=16, searches=1)  # fmt: skip
    assert [found[name] for name in reversed(names)] == pytest.approx(best, abs=1.5e-3)

"""Fits are those that NIST has certified, from both of its starts.

Source: NIST, Statistical Reference Datasets, nonlinear regression (1997-2003), of lower, average
and higher difficulty. x is the time of a run, shifted where it is negative.
"""

import numpy as np
import pytest

import spart_blocks as sb

RAT42 = "9 14 21 28 42 57 63 70 79", "8.93 10.8 18.59 22.33 39.35 56.11 61.73 64.62 67.08"
RAT43 = (
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
    "16.08 33.83 65.80 97.20 191.55 326.20 386.87 520.53 590.03 651.92 724.93 699.56 689.96 637.56 "
    "717.41",
)
BOX = "1 2 3 5 7 10", "109 149 149 191 213 224"
MISRA = (
    "77.6 114.9 141.1 190.8 239.9 289.0 332.8 378.4 434.8 477.3 536.8 593.1 689.1 760.0",
    "10.07 14.73 17.94 23.93 29.61 35.18 40.02 44.82 50.76 55.05 61.01 66.40 75.47 81.78",
)
MGH09 = (
    "0.0625 0.0714 0.0833 0.1 0.125 0.167 0.25 0.5 1 2 4",
    "0.0246 0.0235 0.0323 0.0342 0.0456 0.0627 0.0844 0.16 0.1735 0.1947 0.1957",
)
MGH10 = (
    "50 55 60 65 70 75 80 85 90 95 100 105 110 115 120 125",
    "34780 28610 23650 19630 16370 13720 11540 9744 8261 7030 6005 5147 4427 3820 3307 2872",
)
THURBER = (
    "-3.067 -2.981 -2.921 -2.912 -2.840 -2.797 -2.702 -2.699 -2.633 -2.481 -2.363 -2.322 -1.501 "
    "-1.460 -1.274 -1.212 -1.100 -1.046 -0.915 -0.714 -0.566 -0.545 -0.400 -0.309 -0.109 -0.103 "
    "0.010 0.119 0.377 0.790 0.963 1.006 1.115 1.572 1.841 2.047 2.200",
    "80.574 84.248 87.264 87.195 89.076 89.608 89.868 90.101 92.405 95.854 100.696 101.060 401.672 "
    "390.724 567.534 635.316 733.054 759.087 894.206 990.785 1090.109 1080.914 1122.643 1178.351 "
    "1260.531 1273.514 1288.339 1327.543 1353.863 1414.509 1425.208 1421.384 1442.962 1464.350 "
    "1468.705 1447.894 1457.628",
)
# data, law, starts, certified estimates, certified standard deviations
CASES = {
    "Misra1a": (
        *(MISRA, "a*(1 - exp(-b*u))", [[500, 1e-4], [250, 5e-4]]),
        *([2.3894212918e2, 5.5015643181e-4], [2.7070075241, 7.2668688436e-6]),
    ),
    "MGH09": (
        *(MGH09, "a*(u*u + u*b)/(u*u + u*c + d)", [[25, 39, 41.5, 39], [0.25, 0.39, 0.415, 0.39]]),
        [1.9280693458e-1, 1.9128232873e-1, 1.2305650693e-1, 1.3606233068e-1],
        [1.1435312227e-2, 1.9633220911e-1, 8.0842031232e-2, 9.0025542308e-2],
    ),
    "MGH10": (
        *(MGH10, "a*exp(b/(u + c))", [[2, 4e5, 25e3], [0.02, 4e3, 250]]),
        [5.6096364710e-3, 6.1813463463e3, 3.4522363462e2],
        [1.5687892471e-4, 2.3309021107e1, 7.8486103508e-1],
    ),
    "Thurber": (
        *(THURBER, "(a + b*u + c*u**2 + d*u**3)/(1 + p*u + q*u**2 + r*u**3)"),
        [[1e3, 1e3, 400, 40, 0.7, 0.3, 0.03], [1300, 1500, 500, 75, 1, 0.4, 0.05]],
        [1.28813968e3, 1.4910792535e3, 5.8323836877e2, 7.5416644291e1, 0.96629502864, 0.39797285797,
         4.9727297349e-2],
        [4.6647963344, 3.9571156086e1, 2.8698696102e1, 5.5675370270, 3.1333340687e-2,
         1.4984928198e-2, 6.5842344623e-3],
    ),
    "BoxBOD": (
        *(BOX, "a*(1 - exp(-b*u))", [[1, 1], [100, 0.75]]),
        *([2.1380940889e2, 5.4723748542e-1], [1.2354515176e1, 1.0455993237e-1]),
    ),
    "Rat42": (
        *(RAT42, "a/(1 + exp(b - c*u))", [[100, 1, 0.1], [75, 2.5, 0.07]]),
        [7.2462237576e1, 2.6180768402, 6.7359200066e-2],
        [1.7340283401, 8.8295217536e-2, 3.4465663377e-3],
    ),
    "Rat43": (
        *(RAT43, "a/(1 + exp(b - c*u))**(1/d)", [[100, 10, 1, 1], [700, 5, 0.75, 1.3]]),
        [6.9964151270e2, 5.2771253025, 7.5962938329e-1, 1.2792483859],
        [1.6302297817e1, 2.0828735829, 1.9566123451e-1, 6.8761936385e-1],
    ),
}  # fmt: skip
SHIFT = 4.0


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_certified_fits_are_met_to_six_digits(name, start, tmp_path, measured):
    (x, y), law, starts, best, errors = CASES[name]
    x, y = (np.array(one.split(), float) for one in (x, y))
    shift = SHIFT if x[0] < 0 else 0.0
    names = "abcdpqr"[: len(best)]
    given = ", ".join(f"{n}: {v!r}" for n, v in zip(names, starts[start], strict=True))
    places = ", ".join(f"{n}: ${n}" for n in names)
    (tmp_path / "law.yaml").write_text(
        f"name: law\nparams: {{{given}}}\nblocks:\n"
        "  t: {type: TIME}\n"
        f"  x: {{type: FCN, expression: u - {shift}}}\n"
        f"  y: {{type: FCN, params: {{{places}}}, expression: '{law}'}}\n"
        "  s: {type: SCOPE}\nwires: [t -> x, x -> y, y -> s]\nrun: {T: 1}\n"
    )
    file = measured("m.csv", x + shift, y=y)
    experiments = {"run": {"file": str(file), "signals": {"y": "y"}}}
    found = sb.fit(tmp_path / "law.yaml", dict.fromkeys(names), experiments, iterations=1000)
    np.testing.assert_allclose([found[n] for n in names], best, rtol=1e-6)
    np.testing.assert_allclose(found.statistics.errors, errors, rtol=1e-4)

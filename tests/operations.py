"""Every operation that a trace can record."""

import casadi as ca


def every_operation():
    """(x, p) -> a column in which every operation that a trace can record occurs."""
    x, p = ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    a, b, c = x[0], x[1], x[2]
    small = a / (1 + ca.fabs(a))  # within (-1, 1)
    values = [
        *(a + b, a - b, a * b, a / (2 + b * b), -a, a**2, a ** p[0], ca.fabs(a) ** b, 2 * a),
        *(
            ca.sqrt(ca.fabs(a)),
            ca.exp(small),
            ca.log(1 + a * a),
            ca.sin(a),
            ca.cos(a),
            ca.tan(small),
        ),
        *(ca.asin(small), ca.acos(small), ca.atan(a), ca.atan2(a, b), ca.sinh(small)),
        *(ca.cosh(small), ca.tanh(a), ca.asinh(a), ca.acosh(1 + a * a), ca.atanh(small)),
        *(ca.floor(a), ca.ceil(a), ca.fmod(a, 1.5), ca.remainder(a, 1.5), ca.fabs(a), ca.sign(a)),
        *(ca.copysign(a, b), ca.erf(a), ca.fmin(a, b), ca.fmax(a, b), ca.log1p(a * a)),
        *(ca.expm1(small), ca.hypot(a, b), ca.if_else(a < b, c, p[1]), ca.if_else(a <= b, 1, 2)),
        *(
            ca.if_else(ca.logic_and(a < b, b < c), 1, 0),
            ca.if_else(ca.logic_or(a < b, b < c), 1, 0),
        ),
        *(ca.if_else(a == b, 1, c), ca.if_else(a != b, 1, c), ca.logic_not(a < b)),
        1 / (1 + a * a),
        *(3.5, -1e-300, 7, a),
    ]
    return ca.Function("f", [x, p], [ca.densify(ca.vertcat(*values))])

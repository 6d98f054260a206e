"""A diagram whose optimal control is known in closed form."""

CART = """# a cart of 1 kg
name: cart
blocks:
  u: {type: CONSTANT, value: 0.0} # N
  v: {type: INTEGRATOR, x0: 0.0}
  p: {type: INTEGRATOR, x0: 0.0}
wires:
  - u -> v
  - v -> p
run: {T: 1, rtol: 1.0e-8, atol: 1.0e-10}
optimize:
  minimize: duration
  controls: {u: [-1, 1]}
  T: [0.1, 10]
  end: {p: 1, v: 0}
"""
"""p'' = u with abs(u) <= 1, from rest to rest over 1 m: it takes 2 s."""

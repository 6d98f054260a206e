"""Parameters are found by their names."""

import spart_blocks as sb


def test_elements_of_a_block_that_is_named_as_a_value_of_the_file(tmp_path):
    path = tmp_path / "goals.yaml"
    path.write_text(
        """
params: {goal: [3, 4]}
blocks:
  goal: {type: QUINTIC, q0: [1, 2], qf: $goal, duration: 1}
  x: {type: INTEGRATOR, x0: [0, 0]}
wires: [goal.q -> x]
""",
        encoding="utf-8",
    )
    program = sb.trace(path)
    assert program.parameter("goal.q0[1]") == 2
    assert program.parameter("goal.q0.1") == 2
    assert program.parameter("goal[1]") == 4
    assert program.target("goal.nope") is None

"""A run that cannot go on says which block, which port and when; wires say both ends."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import robots

import spart_blocks as sb
from spart_blocks.diagram.network.flatten import flatten


def message_of(error):
    return str(error.value)


# --- during the run --------------------------------------------------------------------------


def test_nan_on_a_wire_stops_with_block_port_and_time(diagram, wire, interpret):
    bd = diagram()
    bd.TIME(name="time")
    bd.FUNCTION(lambda t: np.nan if t > 0.5 else 1.0, name="bad")
    bd.GAIN(2.0, name="after")
    bd.INTEGRATOR(x0=0.0, name="x")
    wire(bd, "time -> bad", "bad -> after", "after -> x")
    with pytest.raises(sb.RunError, match=r"block bad.*: its output is not finite \(nan\)") as e:
        interpret(bd, T=1, every=0.1)
    assert e.value.block.startswith("bad")
    assert 0.5 < e.value.time <= 1
    assert e.value.results.t[-1] <= e.value.time
    assert not e.value.results.complete


def test_nan_names_the_port_of_a_block_with_several(diagram, wire, interpret):
    bd = diagram()
    bd.TIME(name="time")
    bd.FUNCTION(lambda t: [1.0, np.nan if t > 0.5 else 1.0], nout=2, name="bad")
    bd.NULL(2, name="end")
    wire(bd, "time -> bad", "bad.0 -> end.0", "bad.1 -> end.1")
    with pytest.raises(sb.RunError, match=r"block bad\.1: its output is not finite") as e:
        interpret(bd, T=1, every=0.1)
    assert e.value.block.startswith("bad")


def test_nan_that_reaches_no_state_stops_the_run_all_the_same(diagram, wire, interpret):
    bd = diagram()
    bd.TIME(name="time")
    bd.FUNCTION(lambda t: np.inf if t > 0.5 else 1.0, name="bad")
    bd.NULL(name="nowhere")
    wire(bd, "time -> bad", "bad -> nowhere")
    with pytest.raises(sb.RunError, match=r"block bad.*: its output is not finite \(inf\)"):
        interpret(bd, T=1, every=0.1)


def test_a_derivative_that_is_not_finite_names_its_block(diagram, wire, interpret):
    class Sick:
        def __init__(self, block):
            self.block = block

        def __call__(self, t, inputs, x):
            return np.array([np.nan if t > 0.2 else 1.0])

    bd = diagram()
    bd.CONSTANT(1.0, name="one")
    block = bd.INTEGRATOR(x0=0.0, name="x")
    block.deriv = Sick(block)
    wire(bd, "one -> x")
    with pytest.raises(sb.RunError, match="block x: the derivative of its state is not finite at"):
        interpret(bd, T=1)


def test_an_exception_in_a_user_s_function_names_block_time_and_line(diagram, wire, interpret):
    def broken(t):
        if t > 0.3:
            raise LookupError("no such table")
        return 0.0

    bd = diagram()
    bd.TIME(name="time")
    bd.FUNCTION(broken, name="table")
    bd.INTEGRATOR(x0=0.0, name="x")
    wire(bd, "time -> table", "table -> x")
    with pytest.raises(sb.RunError) as error:
        interpret(bd, T=1, every=0.1)
    text = message_of(error)
    assert "block table: output failed: " in text
    assert "no such table" in text
    assert f" at t = {error.value.time:.9g} s" in text
    assert "raised in " in text
    assert len(error.value.results.t) >= 3


def test_a_singular_inertia_stops_the_run_and_names_the_joint(diagram, wire, interpret):
    robot = robots.random_robot(5, 3, kinds="r", chain=True)
    ghost = replace(robot.links[2], mass=0.0, inertia=np.zeros((3, 3)))
    robot = replace(robot, links=(*robot.links[:2], ghost))
    bd = diagram()
    bd.CONSTANT(np.zeros(3), name="taum")
    bd.MULTIBODY(robot, name="plant")
    wire(bd, "taum -> plant.taum")
    with pytest.raises(sb.RunError, match="block plant: joint 'joint3' moves nothing that has in"):
        interpret(bd, T=1)


def test_a_block_that_gives_too_few_values_is_named(diagram, wire, interpret):
    bd = diagram()
    block = bd.CONSTANT(1.0, name="one")
    block.output = lambda t, inputs, x: []
    bd.NULL(name="end")
    wire(bd, "one -> end")
    with pytest.raises(sb.RunError, match="block one: output gives 0 values, the block has 1 out"):
        interpret(bd, T=1)


# --- before the run --------------------------------------------------------------------------


@pytest.fixture
def plant(diagram):
    bd = diagram()
    bd.MULTIBODY(robots.golden_robot("spart_sc_3dof"), name="plant")
    return bd


def test_a_wrong_shape_names_both_ends(plant, wire, simulate):
    plant.CONSTANT(np.zeros(2), name="torque")
    wire(plant, "torque -> plant.taum")
    with pytest.raises(sb.DiagramError) as error:
        simulate(plant, T=1)
    text = message_of(error)
    assert "wire 'torque -> plant.taum': torque is (2,), plant.taum takes (3,)" in text
    assert "torque is CONSTANT, plant is MULTIBODY" in text


def test_every_wrong_shape_at_a_block_is_reported_at_once(plant, wire, interpret):
    plant.CONSTANT(np.zeros(2), name="two")
    wire(plant, "two -> plant.taum, plant.tau0")
    with pytest.raises(sb.DiagramError) as error:
        interpret(plant, T=1)
    assert len(error.value.faults) == 2


def test_an_unconnected_input_is_named(plant, simulate):
    with pytest.raises(sb.DiagramError, match=r"input 'taum' of plant \(MULTIBODY\) is not conn"):
        simulate(plant, T=1)


def test_optional_inputs_are_zeros(plant, wire, simulate):
    plant.CONSTANT(np.zeros(3), name="torque")
    wire(plant, "torque -> plant.taum")
    res = simulate(plant, T=0.1)
    assert not res["plant.u0"].any()


def test_two_wires_into_one_input_are_named(plant, wire, interpret):
    plant.CONSTANT(np.zeros(3), name="a")
    plant.CONSTANT(np.zeros(3), name="b")
    wire(plant, "a -> plant.taum", "b -> plant.taum")
    with pytest.raises(sb.DiagramError, match=r"two wires lead into plant\.taum"):
        interpret(plant, T=1)


def test_two_blocks_of_one_name_are_refused(diagram, wire, interpret):
    bd = diagram()
    bd.CONSTANT(1.0, name="same")
    bd.NULL(name="end")
    wire(bd, "same -> end")
    other = bd.CONSTANT(2.0, name="other")
    other.name = "same"
    with pytest.raises(sb.DiagramError, match="two blocks are called 'same'"):
        interpret(bd, T=1)


def test_an_algebraic_loop_is_named_block_by_block(diagram, wire, simulate):
    bd = diagram()
    bd.CONSTANT(1.0, name="in")
    bd.SUM("+-", name="sum")
    bd.GAIN(2.0, name="gain")
    bd.GAIN(1.0, name="bystander")
    bd.NULL(name="end")
    wire(bd, "in -> sum.0", "sum -> gain", "gain -> sum.1, bystander", "bystander -> end")
    with pytest.raises(sb.DiagramError) as error:
        simulate(bd, T=1)
    text = message_of(error)
    first, second = "sum (SUM)", "gain (GAIN)"
    turns = [f"{first} -> {second} -> {first}", f"{second} -> {first} -> {second}"]
    assert any(f"algebraic loop: {turn}" in text for turn in turns)
    assert "bystander" not in text
    assert "break it with a block that has a state, such as INTEGRATOR" in text


def test_a_state_breaks_a_loop(diagram, wire, simulate):
    bd = diagram()
    bd.INTEGRATOR(x0=1.0, name="x")
    bd.GAIN(-1.0, name="gain")
    wire(bd, "x -> gain", "gain -> x")
    res = simulate(bd, T=1, rtol=1e-9)
    assert res["x"][-1] == pytest.approx(np.exp(-1), rel=1e-7)


def test_all_faults_of_a_diagram_come_at_once(diagram, wire, interpret):
    bd = diagram()
    bd.GAIN(1.0, name="a")
    bd.GAIN(1.0, name="b")
    bd.SUM("++", name="c")
    with pytest.raises(sb.DiagramError) as error:
        interpret(bd, T=1)
    assert len(error.value.faults) == 4


# --- the order of evaluation -----------------------------------------------------------------


def test_a_chain_of_five_thousand_blocks_has_an_order(diagram):
    from bdsim.connect import Plug, Wire

    bd = diagram()
    blocks = [bd.CONSTANT(1.0, name="b0")]
    # Wired from the end to the start, so that order of making is no help.
    blocks += [bd.GAIN(1.0, name=f"b{k}") for k in range(1, 5000)][::-1]
    for start, end in itertools.pairwise(blocks):
        bd.wirelist.append(Wire(Plug(start, 0), Plug(end, 0)))
    bd.NULL(name="end")
    bd.wirelist.append(Wire(Plug(blocks[-1], 0), Plug(bd.blocklist[-1], 0)))
    wiring = flatten(bd)
    order = {wiring.nodes[i].name: place for place, i in enumerate(wiring.schedule)}
    places = [order[block.name] for block in blocks]
    assert places == sorted(places)
    assert len(order) == 5001


def test_a_loop_of_five_thousand_blocks_is_found_without_recursion(diagram):
    from bdsim.connect import Plug, Wire

    bd = diagram()
    blocks = [bd.GAIN(1.0, name=f"b{k}") for k in range(5000)]
    for start, end in zip(blocks, [*blocks[1:], blocks[0]], strict=True):
        bd.wirelist.append(Wire(Plug(start, 0), Plug(end, 0)))
    with pytest.raises(sb.DiagramError, match=r"algebraic loop: b\d.*\d+ more") as error:
        flatten(bd)
    assert len(message_of(error)) < 500


def test_every_input_is_known_before_the_block_that_needs_it(diagram, wire):
    bd = diagram()
    for k in range(40):
        bd.SUM("++", name=f"s{k}")
    bd.INTEGRATOR(x0=0.0, name="x")
    rng = np.random.default_rng(0)
    order = rng.permutation(40)
    for place, k in enumerate(order):
        for port in range(2):
            source = "x" if place == 0 else f"s{order[rng.integers(place)]}"
            wire(bd, f"{source} -> s{k}.{port}")
    wire(bd, f"s{order[-1]} -> x")
    wiring = flatten(bd)
    known: set[int] = set()
    for i in wiring.schedule:
        node = wiring.nodes[i]
        assert not node.feedthrough or {source for source, _ in node.sources} <= known
        known.add(i)
    assert known == set(range(41))


@pytest.mark.parametrize("solver", ["RK45", "RK4"])
def test_a_failure_within_a_step_keeps_the_samples_before_it_in_order(
    solver, diagram, wire, simulate
):
    # One long step leads over many samples; the signal kept fails at one of them.
    bd = diagram()
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=-0.45, name="x")
    bd.GAIN(-1.0, name="back")
    bd.POW(0.5, name="root")
    bd.SCOPE(name="scope")
    wire(bd, "one -> x", "x -> back", "back -> root", "root -> scope")
    with pytest.raises(sb.RunError, match="block root: its output is not finite") as e:
        simulate(bd, T=1, every=0.1, solver=solver, max_step=0.6)
    np.testing.assert_allclose(e.value.results.t, [0.0, 0.1, 0.2, 0.3, 0.4], atol=1e-15)


@pytest.mark.parametrize("engine", ["auto", "native", "interpreter"])
def test_inputs_that_do_not_fit_together_are_told_with_their_shapes(load, engine):
    text = """
blocks:
  a: {type: CONSTANT, value: [1, 2]}
  b: {type: CONSTANT, value: [1, 2, 3]}
  s: {type: SUM, signs: "++"}
wires: [a -> s.0, b -> s.1]
"""
    with pytest.raises(sb.DiagramError, match=r":6:24: wire 'b -> s.1': b is \(3,\)"):
        sb.simulate(load(text), engine=engine)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_table_that_ends_before_the_run_is_named(load, engine):
    text = """
blocks:
  table: {type: INTERPOLATE, x: [0, 1, 2], y: [0, 1, 2], time: true}
  x: {type: INTEGRATOR}
wires: [table -> x]
run: {T: 5}
"""
    with pytest.raises(sb.RunError, match="block table"):
        sb.simulate(load(text), engine=engine)

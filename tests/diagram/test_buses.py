"""Buses in diagram files: what leads to them, what leads on, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.diagram.network.flatten import flatten

MODELS = Path(__file__).parents[2] / "models"
ARM = f"""\
robots: {{sc: {{urdf: {MODELS / "spacecraft_3dof.urdf"}, base: floating}}}}
subsystems:
  law:
    inputs: [qd, state.qm, state.rates.um]
    outputs: [cmd.tau, cmd.e]
    blocks:
      e: {{type: SUM, signs: "+-"}}
      u: {{type: SUM, signs: "+-"}}
      pick: {{type: BUS_SELECTOR, signals: [rates]}}
    wires:
      - in.qd -> e.0
      - in.state.qm -> e.1
      - e -> u.0
      - in.state -> pick
      - pick.rates.um -> u.1
      - u -> out.cmd.tau
      - e -> out.cmd.e
blocks:
  goal: {{type: CONSTANT, value: [0.1, 0.2, 0.3]}}
  plant: {{type: MULTIBODY, robot: sc}}
  b: {{type: BUS_CREATOR}}
  all: {{type: BUS_CREATOR}}
  rates: {{type: BUS_CREATOR}}
  law: {{type: law}}
  s: {{type: BUS_SELECTOR, signals: [law.e, plant.rates.um]}}
  x: {{type: SCOPE}}
wires:
  - all -> s
  - plant.* -> b
  - plant.{{um, u0}} -> rates
  - rates -> b.rates
  - b -> law.state
  - b -> all.plant
  - goal -> law.qd
  - law.cmd.tau -> plant.taum
  - law -> all.law
  - s.um -> x
run: {{T: 0.5, every: 0.1, log: [b.rates.u0, all.plant.qm, all.law.tau, s.e]}}
"""


@pytest.fixture
def read(read):
    return lambda text, **options: read(text, **{"root": "/", **options})


def test_a_bus_is_wires_and_no_block_of_the_program(read):
    wiring = flatten(read(ARM).bd)
    assert sorted(node.name for node in wiring.nodes) == [
        *("goal", "law/e", "law/u", "plant", "plant.tau0=0", "plant.wF0=0", "plant.wFm=0", "x"),
    ]


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_signals_of_buses_have_names_in_results(read, engine):
    results = sb.simulate(read(ARM), engine=engine)
    assert np.ptp(results["plant.qm"]) > 1e-3
    np.testing.assert_array_equal(results["b.rates.u0"], results["plant.u0"])
    np.testing.assert_array_equal(results["all.plant.qm"], results["plant.qm"])
    np.testing.assert_allclose(results["s.e"], [0.1, 0.2, 0.3] - results["plant.qm"], atol=1e-15)
    np.testing.assert_allclose(
        results["all.law.tau"], results["s.e"] - results["plant.um"], atol=1e-15
    )
    assert results.units["plant.u0"]
    assert results.scopes[0].signals == ("plant.um",)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_logged_signals_are_kept_under_the_names_of_the_log(read, tmp_path, engine):
    results = sb.simulate(read(ARM), engine=engine)
    kept = ["b.rates.u0", "all.plant.qm", "all.law.tau", "s.e"]
    assert sorted(results.signals) == sorted(["plant.um", *kept])
    assert "all.plant.qm  " in results.summary()
    assert "all.plant.qm[2]" in results.table()
    assert results.unit("all.plant.qm") == "rad"
    results.save(tmp_path / "run.npz")
    loaded = sb.Results.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(loaded["plant.qm"], loaded["all.plant.qm"])
    np.testing.assert_array_equal(loaded["law/e"], loaded["s.e"])


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_entries_of_signals_over_joints_have_the_names_of_the_joints(read, tmp_path, engine):
    results = sb.simulate(read(ARM), engine=engine)
    joints = ["Joint_1", "Joint_2", "Joint_3"]
    assert results.legends("all.plant.qm") == [f"all.plant.qm[{joint}]" for joint in joints]
    assert results.legends("law.cmd.tau") == [f"law.cmd.tau[{joint}]" for joint in joints]
    assert results.legends("plant.um[1:]") == ["plant.um[Joint_2]", "plant.um[Joint_3]"]
    assert results.legends("goal") == ["goal[0]", "goal[1]", "goal[2]"]
    assert results.labels("plant.um[Joint_2]") == ["plant.um[1]"]
    np.testing.assert_array_equal(results["plant.um[Joint_2]"], results["plant.um"][:, 1])
    with pytest.raises(sb.InputError, match="'Joint_9' is not an index"):
        results["plant.um[Joint_9]"]
    results.save(tmp_path / "run.npz")
    loaded = sb.Results.load(tmp_path / "run.npz")
    assert list(loaded.to_xarray("plant.um")["plant.um.0"].values) == joints
    [figure] = results.plot("all.plant.qm")
    shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert shown == results.legends("all.plant.qm")


@pytest.mark.parametrize("log", [["law", "u"], ["u", "u[0]", "law.y"], ["law/g"]])
def test_one_signal_may_be_kept_under_several_names(read, log):
    text = """\
subsystems:
  law: {inputs: [u], outputs: [y], blocks: {g: {type: GAIN, K: 2}}, wires: [in.u -> g, g -> out.y]}
blocks: {u: {type: TIME}, law: {type: law}}
wires: [u -> law]
"""
    results = sb.simulate(read(text), T=1, log=log)
    assert sorted(results.signals) == sorted({name.split("[")[0] for name in log})
    np.testing.assert_array_equal(results["law"], 2 * results["u"])
    np.testing.assert_array_equal(results["law/g"], results["law.y"])


def test_shapes_are_known_through_buses(read):
    diagram = read(ARM)
    ports = {port.name: port for port in diagram.bd.blocknames["all"].out_ports}
    assert ports["plant.rates.u0"].shape == (6,)
    assert ports["plant.R0"].shape == (3, 3)
    assert ports["plant.qm"].unit == diagram.bd.blocknames["plant"].out_ports[2].unit
    assert diagram.bd.blocknames["x"].vector == 3


PLAIN = """\
blocks:
  one: {type: CONSTANT, value: 1}
  two: {type: CONSTANT, value: [2, 3]}
  b: {type: BUS_CREATOR}
"""


def values(read, blocks, wires, log):
    text = PLAIN + "".join(f"  {block}\n" for block in blocks) + "wires:\n"
    text += "".join(f"  - {wire}\n" for wire in wires) + f"run: {{T: 1, log: [{', '.join(log)}]}}"
    results = sb.simulate(read(text))
    return [results[name][-1].tolist() for name in log]


BOTH = ["one -> b.p", "two -> b.q.r"]


@pytest.mark.parametrize(
    ("blocks", "wires", "log", "expected"),
    [
        (["v: {type: MUX}"], ["b -> v"], ["v"], [[1, 2, 3]]),
        (["v: {type: MUX}", "g: {type: GAIN}"], ["one -> g, v", "b -> v", "g -> v"], ["v"],
         [[1, 1, 2, 3, 1]]),
        (["s: {type: BUS_SELECTOR, signals: [q.r, p]}"], ["b -> s"], ["s.r", "s.p"], [[2, 3], 1]),
        (["s: {type: BUS_SELECTOR, signals: [q, p], outputs: [k, m]}"], ["b -> s"],
         ["s.k.r", "s.m"], [[2, 3], 1]),
        (["a: {type: BUS_ASSIGNMENT, signals: [p]}"], ["b -> a", "two -> a.p"],
         ["a.p", "a.q.r"], [[2, 3], [2, 3]]),
        (["a: {type: BUS_ASSIGNMENT, signals: [q]}"], ["b -> a.bus", "one -> a.q.r"],
         ["a.p", "a.q.r"], [1, 1]),
        (["c: {type: BUS_CREATOR}"], ["b.* -> c", "one -> c.z"], ["c.p", "c.q.r", "c.z"],
         [1, [2, 3], 1]),
        (["c: {type: BUS_CREATOR, signals: [d, e]}"], ["b -> c.e", "two[1] -> c.d"],
         ["c.d", "c.e.q.r"], [3, [2, 3]]),
        (["g: {type: GAIN}"], ["b.q.r[1] -> g"], ["g"], [3]),
        (["c: {type: BUS_CREATOR}"], ["b.q.* -> c", "b.p -> c.q"], ["c.r", "c.q"], [[2, 3], 1]),
    ],
)  # fmt: skip
def test_a_bus_carries_its_signals(read, blocks, wires, log, expected):
    assert values(read, blocks, [*wires[:1], *BOTH, *wires[1:]], log) == expected


def test_a_bus_is_not_a_loop(read):
    """A block that reads one signal of a bus may write another."""
    wires = ["b -> s", "s.p -> g", "g -> b.q", "one -> b.p"]
    blocks = ["s: {type: BUS_SELECTOR, signals: [p]}", "g: {type: GAIN, K: 5}"]
    assert values(read, blocks, wires, ["b.q"]) == [5]


def test_a_bus_within_subsystems_of_subsystems(read):
    text = """\
    subsystems:
      inner: {inputs: [x.p, x.q.r], outputs: [y.q.r, y.p], wires: [in.x -> out.y]}
      outer:
        inputs: [x.p, x.q.r]
        outputs: [y.p, y.q.r]
        blocks: {i: {type: inner}, c: {type: BUS_CREATOR}}
        wires: [in.x -> i.x, i -> c.a, c.a -> out.y]
    blocks:
      one: {type: CONSTANT, value: 1}
      two: {type: CONSTANT, value: 2}
      b: {type: BUS_CREATOR}
      o: {type: outer}
      v: {type: MUX}
    wires: [one -> b.p, two -> b.q.r, b -> o.x, o -> v]
    run: {T: 1, log: [v, o/c.a.q.r, o.y.p]}
    """
    results = sb.simulate(read(text))
    assert results["v"][-1].tolist() == [1, 2]
    assert results["o/c.a.q.r"][-1] == 2
    assert results["o.y.p"][-1] == 1


def test_in_python_too():
    bd = sb.new_diagram("bus")
    one, two = bd.CONSTANT(1.0, name="one"), bd.CONSTANT([2.0, 3.0], name="two")
    b = bd.BUS_CREATOR(signals=["p", "q.r"], name="b")
    s = bd.BUS_SELECTOR(signals=["q.r"], name="s")
    a = bd.BUS_ASSIGNMENT(signals=["p"], bus=["p", "q.r"], name="a")
    v = bd.MUX(nin=3, name="v")
    bd.connect(one, b.p)
    bd.connect(two, b[1])
    bd.connect(b[1], s[0])
    bd.connect(b.p, a[0])
    bd.connect(b[1], a[1])
    bd.connect(two, a[2])
    bd.connect(s.r, v[0])
    bd.connect(a.p, v[1])
    bd.connect(a[1], v[2])
    assert sb.simulate(bd, T=1, log=["v"])["v"][-1].tolist() == [2, 3, 2, 3, 2, 3]
    assert b.output(0.0, [1, 2], None) == [1, 2]
    assert a.output(0.0, [1, 2, 3], None) == [3, 2]


WIRED = "wires:\n  - one -> b.p\n  - two -> b.q.r\n"
WRONG = {
    "nothing in it": (
        "c: {type: BUS_CREATOR}", "b.p -> g", 5, "c (BUS_CREATOR): a bus needs signals",
        "one -> bus.name",
    ),
    "selects nothing": (
        "s: {type: BUS_SELECTOR, signals: [p, z]}", "b -> s", 9,
        "b has no z: it has p, q.r", "s takes each of its signals",
    ),
    "no names": ("s: {type: BUS_SELECTOR, signals: 3}", "b -> s", 5, "signals must be a list", ""),
    "no name": ("s: {type: BUS_SELECTOR, signals: [a b]}", "b -> s", 5, "no name of a signal", ""),
    "twice": ("c: {type: BUS_CREATOR, signals: [p, p]}", "b.* -> c", 5, "signals has p twice", ""),
    "signal and bus": (
        "c: {type: BUS_CREATOR, signals: [p, p.q]}", "b.* -> c", 5,
        "signals has p as a signal and as a bus", "",
    ),
    "a name of every block": (
        "c: {type: BUS_CREATOR}", "one -> c.name", 5, "signals cannot be called name", "",
    ),
    "two of one name": (
        "s: {type: BUS_SELECTOR, signals: [p, q.p]}", "b -> s", 5,
        "two of the signals would be called p", "outputs: [...]",
    ),
    "too few outputs": (
        "s: {type: BUS_SELECTOR, signals: [p], outputs: [k, m]}", "b -> s", 5,
        "outputs has 2 names, signals 1", "",
    ),
    "assigns nothing": (
        "a: {type: BUS_ASSIGNMENT, signals: [z]}", "b -> a", 5,
        "signals has z, which is not in the bus", "it has p, q.r",
    ),
    "no bus to assign to": (
        "a: {type: BUS_ASSIGNMENT, signals: [z]}", "one -> a.z", 5, "bus must be a list", "",
    ),
    "a bus as a signal": (
        "", "b -> g", 9, "g takes one signal, b is several", "name one of p, q.r",
    ),
    "a bus as an input": (
        "s: {type: SUM}", "b -> s.0", 9, "s.0 takes one signal, b is several", "name one of",
    ),
    "a bus to a block": (
        "s: {type: SUM}", "b -> s", 9, "s (SUM) takes no bus as a whole", "b.* -> s",
    ),
    "a signal as a bus": (
        "s: {type: BUS_SELECTOR, signals: [p, q.r]}", "one -> s", 9, "s (BUS_SELECTOR) has several",
        "",
    ),
    "no such signal": ("", "b.z -> g", 9, "no port 'z' on b (BUS_CREATOR): it has p, q.r", ""),
    "no such bus": ("", "b.z.* -> g", 9, "no port 'z' on b", ""),
    "without a name": ("", "one -> b", 9, "b (BUS_CREATOR) has several inputs", "name one of p"),
    "open": ("c: {type: BUS_CREATOR, signals: [p]}", "b.p -> g", 5, "input p of c (BUS_CREATOR)",
             "add a wire to c.p"),
    "itself": (
        "c: {type: BUS_CREATOR}", "c -> c.z", 5, "the signals of c (BUS_CREATOR) are not known",
        "write signals: [...] in c",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_bus_is_reported_at_its_place(faults, case):
    block, wire, line, message, hint = WRONG[case]
    head = PLAIN + (f"  {block}\n" if block else "  h: {type: TIME}\n") + "  g: {type: GAIN}\n"
    found = faults(f"{head}{WIRED}  - {wire}\n")
    line += 1 if line == 9 else 0
    told = [fault for fault in found if message in fault[2]]
    assert told, found
    assert told[0][0] == line, told
    assert hint in told[0][3]


def test_buses_in_a_circle_are_refused(faults):
    text = "  c: {type: BUS_CREATOR}\n  d: {type: BUS_CREATOR}\nwires: [c -> d.x, d -> c.y]\n"
    found = faults(PLAIN + text)
    assert [line for line, _, told, _ in found if "go in a circle" in told] == [5]


def test_wires_in_a_circle_end_with_an_error(read):
    text = """\
    subsystems: {through: {inputs: [u], outputs: [y], wires: [in -> out]}}
    blocks: {a: {type: through}, g: {type: GAIN}}
    wires: [a -> a, a -> g]
    """
    with pytest.raises(sb.DiagramError, match=r"input '0' of g .*\n.*go in a circle"):
        sb.simulate(read(text))


def test_a_long_chain_of_buses_takes_time_in_proportion(read):
    blocks = "".join(f"  b{k}: {{type: BUS_CREATOR}}\n" for k in range(1, 3000))
    wires = "".join(f"  - b{k}.x -> b{k + 1}.x\n" for k in range(1, 2999))
    text = f"{PLAIN}{blocks}  g: {{type: GAIN}}\nwires:\n  - one -> b1.x, b.x\n{wires}"
    diagram = read(f"{text}  - b2999.x -> g\nrun: {{T: 1, log: [g, b1500.x]}}\n")
    assert sb.simulate(diagram)["b1500.x"][-1] == 1


def test_ports_of_a_subsystem_that_are_a_signal_and_a_bus(faults):
    for ports in ("[a, a.b]", "[a.b, a]"):
        found = faults(f"subsystems: {{s: {{inputs: {ports}}}}}\nblocks: {{t: {{type: TIME}}}}\n")
        assert any("as well" in fault[2] for fault in found), found

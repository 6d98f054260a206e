"""`audit: true` brings a plant's AUDIT, wired to what the plant gets and gives."""

from __future__ import annotations

import numpy as np
import pytest
import robots

from spart_blocks.base.errors import InputError
from spart_blocks.blocks.multibody import Multibody
from spart_blocks.diagram import complete, load, new_diagram
from spart_blocks.diagram.build.connect import wire_name
from spart_blocks.diagram.diagram_drawing import draw
from spart_blocks.drawing.picture import Text

MODELS = (robots.ROOT / "models").as_posix()
PLANT = f"""\
robots: {{sc: {{urdf: {MODELS}/spacecraft_3dof.urdf, base: floating}}}}
blocks:
  tau: {{type: CONSTANT, value: [1, 2, 3]}}
  push: {{type: CONSTANT, value: [0, 0, 0, 1, 0, 0]}}
  plant: {{type: MULTIBODY, robot: sc, audit: true}}
  scope: {{type: SCOPE}}
wires:
  - tau -> plant.taum
  - push -> plant.wF0
  - plant.qm -> scope
"""
PORTS = "p, h, energy, work, p_balance, h_balance, energy_balance"


@pytest.fixture
def audited(read):
    """audited(text): its diagram, which may read the repository's models."""
    return lambda text, **options: read(text, root="/", **options)


@pytest.fixture
def mistakes(faults):
    return lambda text: faults(text, root="/")


def wires(bd):
    return sorted(wire_name(wire) for wire in bd.wirelist if ".audit" in wire_name(wire))


BOOKS = [
    "plant.R0 -> plant.audit.R0",
    "plant.qm -> plant.audit.qm",
    "plant.r0 -> plant.audit.r0",
    "plant.tau0=0.0 -> plant.audit.tau0",
    "plant.u0 -> plant.audit.u0",
    "plant.um -> plant.audit.um",
    "plant.wFm=0.0 -> plant.audit.wFm",
    "push.0 -> plant.audit.wF0",
    "tau.0 -> plant.audit.taum",
]


def test_an_audit_gets_what_its_plant_gets_and_gives(audited):
    diagram = audited(PLANT)
    assert wires(diagram.bd) == BOOKS
    assert str(diagram.places["blocks.plant.audit"]).endswith(":5:46")


def test_the_audit_of_a_fixed_base_gets_zeros_for_what_the_plant_does_not_take(audited):
    text = PLANT.replace("base: floating", "base: fixed").replace("  - push -> plant.wF0\n", "")
    found = wires(audited(text).bd)
    assert "plant.audit.tau0=0.0 -> plant.audit.tau0" in found
    assert "plant.audit.wF0=0.0 -> plant.audit.wF0" in found
    assert len(found) == 9


@pytest.mark.parametrize("asked", ["", ", audit: false"])
def test_without_audit_true_there_is_none(audited, asked):
    assert wires(audited(PLANT.replace(", audit: true", asked)).bd) == []


def test_audit_can_be_switched_on_from_outside(audited):
    plain = PLANT.replace(", audit: true", "")
    assert wires(audited(plain, overrides=["blocks.plant.audit=true"]).bd) == BOOKS


def test_the_ports_of_an_audit_are_sources(audited):
    text = PLANT.replace("plant.qm ->", "plant.audit.h[0:2] ->")
    bd = audited(text).bd
    assert "plant.audit.h -> plant.audit.h[0:2].0" in wires(bd)
    assert [b.name for b in bd.blocklist].count("plant.audit") == 1


def test_each_use_of_a_subsystem_has_the_audit_of_its_plant(audited):
    text = f"""\
    robots: {{sc: {{urdf: {MODELS}/spacecraft_3dof.urdf, base: floating}}}}
    subsystems:
      craft:
        inputs: [tau]
        outputs: [h]
        blocks:
          plant: {{type: MULTIBODY, robot: sc, audit: true}}
        wires: [in.tau -> plant.taum, plant.audit.h -> out.h]
    blocks:
      tau: {{type: CONSTANT, value: [1, 2, 3]}}
      a: {{type: craft}}
      b: {{type: craft}}
      scope: {{type: SCOPE, nin: 2}}
    wires: [tau -> a.tau, tau -> b.tau, a -> scope, b -> scope]
    run: {{log: [a/plant.audit.p, b/plant.umdot]}}
    """
    bd = audited(text).bd
    for name in "ab":
        inner = bd.blocknames[name].subsystem
        assert "in.tau -> plant.audit.taum" in wires(inner)
        assert sum(wire.end.block.name == "plant.audit" for wire in inner.wirelist) == 9
    # The companion that only `log` asks for has its wires too, in a subsystem as elsewhere.
    followed = [w.end.port for w in bd.blocknames["b"].subsystem.wirelist
                if w.end.block.name == "plant.companion"]  # fmt: skip
    assert sorted(followed) == list(range(9))


def test_a_diagram_made_in_python_gets_its_audits_once():
    inner, bd = new_diagram("inner"), new_diagram("outer")
    robot = robots.Robot.from_urdf(f"{MODELS}/spacecraft_3dof.urdf")
    for level in (inner, bd):
        tau = level.CONSTANT(np.array([1, 2, 3]), name="tau")
        level.connect(tau, level.MULTIBODY(robot, audit=True, name="plant")[1])
    inner.connect(inner.INPORT(1, name="in"), inner.NULL(name="nowhere"))
    inner.connect(inner.CONSTANT(0, name="none"), inner.OUTPORT(1, name="out"))
    part = bd.SUBSYSTEM(inner, name="part")
    bd.connect(bd.CONSTANT(0, name="zero"), part)
    added = [block.name for block in complete(bd)]
    assert added.count("plant.audit") == 2
    for level in (part.subsystem, bd):
        assert len(wires(level)) == 9
        assert "plant.wF0=0.0 -> plant.audit.wF0" in wires(level)
    before = len(bd.wirelist), len(part.subsystem.wirelist)
    assert complete(bd) == []
    assert before == (len(bd.wirelist), len(part.subsystem.wirelist))


def test_an_audit_of_a_plant_that_has_none_says_how_to_have_it(mistakes):
    plain = PLANT.replace(", audit: true", "")
    want = (10, 11, "plant (MULTIBODY) has no audit", "write audit: true in plant")
    assert mistakes(plain.replace("plant.qm ->", "plant.audit.h ->")) == [want]
    [fault] = mistakes(plain + "run: {log: [plant.audit.h]}\n")
    assert fault[2:] == ("log 'plant.audit.h': plant (MULTIBODY) has no audit", want[3])


def test_a_port_that_an_audit_lacks_is_named_with_those_it_has(mistakes):
    [fault] = mistakes(PLANT.replace("plant.qm ->", "plant.audit.hh ->"))
    message = f"no port 'hh' on plant.audit (AUDIT): it has {PORTS}"
    assert fault == (10, 17, message, "did you mean 'h'?")
    [fault] = mistakes(PLANT.replace("plant.qm ->", "plant.audit ->"))
    assert fault[2:] == ("plant.audit (AUDIT) has several outputs", f"name one of {PORTS}")
    [fault] = mistakes(PLANT.replace("plant.qm ->", "tau.audit.h ->"))
    assert fault[2] == "no port 'audit.h' on tau (CONSTANT): it has 0"


def test_a_missing_torque_is_reported_for_the_plant_alone(mistakes):
    found = mistakes(PLANT.replace("  - tau -> plant.taum\n", ""))
    assert [fault[2] for fault in found] == ["input taum of plant (MULTIBODY) has no wire"]


@pytest.mark.parametrize("value", ["'yes'", "1", "0.0", "null", "[true]", "{on: true}"])
def test_audit_is_true_or_false(mistakes, value):
    [fault] = mistakes(PLANT.replace("audit: true", f"audit: {value}"))
    assert fault[:2] == (5, 46)
    assert fault[2].startswith("audit of plant (MULTIBODY) takes true or false, not ")


def test_audit_is_true_or_false_in_python_too():
    robot = robots.Robot.from_urdf(f"{MODELS}/spacecraft_3dof.urdf")
    with pytest.raises(InputError, match="audit must be true or false, not 1"):
        Multibody(robot, audit=1)


def test_an_audit_is_drawn_where_a_wire_reads_it(audited):
    unread = audited(PLANT)
    read = audited(PLANT.replace("plant.qm ->", "plant.audit.energy ->"))
    for diagram, drawn in ((unread, False), (read, True)):
        names = [shape.text for shape in draw(diagram).shapes if isinstance(shape, Text)]
        assert "plant" in names
        assert ("plant.audit" in names) is drawn


def test_a_parameter_can_hold_the_choice(audited):
    text = "params: {watched: true}\n" + PLANT.replace("audit: true", "audit: $watched")
    assert wires(audited(text).bd) == BOOKS


def test_the_shipped_momentum_exchange_is_audited():
    bd = load(robots.ROOT / "diagrams" / "momentum_exchange.yaml").bd
    assert len(wires(bd)) == 9 + 3  # its books, and what its scopes show


def test_other_blocks_switches_are_true_or_false_too(faults):
    found = faults(
        'blocks: {one: {type: CONSTANT}, g: {type: GAIN, premul: "no"}}\nwires: [one -> g]'
    )
    message = "premul of g (GAIN) takes true or false, not 'no'"
    assert [fault[2] for fault in found] == [message]

"""What holds other blocks: subsystems on conditions, state machines, copies, buses, algebraic
loops, variants, and small robots."""

from __future__ import annotations

from typing import Any

from compositions.drafting import Draft
from compositions.sampled import truth

MODELS = "models"


def inner_blocks(d: Draft, clock: str | None) -> tuple[dict[str, Any], list[str]]:
    """What a subsystem does with its input u; clock: of sampled blocks in it, none if triggered."""
    at = {} if clock is None else {"clock": clock}
    kinds = ["held", "sum", "count"] if clock is None or d.pure else ["held", "sum", "lag", "gain"]
    kind = d.draw.choice(kinds)
    if kind == "held":
        return {"y": {"type": "UNIT_DELAY", **at, "initial": d.coarse()}}, ["in.u -> y"]
    if kind == "sum":
        return {"y": {"type": "INTEGRATOR_S", **at, "min": -0.9, "max": 0.9}}, ["in.u -> y"]
    if kind == "count":
        blocks = {
            "one": {"type": "CONSTANT", "value": 1},
            "n": {"type": "COUNTER", **at, "upper": 5},
            "y": {"type": "GAIN", "K": 0.125},
        }
        return blocks, ["one -> n.up", "n -> y"]
    if kind == "lag":
        return {"y": {"type": "LTI_SISO", "N": [2.0], "D": [1.0, 2.0]}}, ["in.u -> y"]
    return {"y": {"type": "GAIN", "K": -0.5}}, ["in.u -> y"]


def add_conditional(d: Draft) -> None:
    """A subsystem that runs on a condition, or one within another."""
    draw, u, on = d.draw, d.pick(calm=True), truth(d)
    how = draw.choice(["enabled", "enabled", "triggered", "reset"])
    clock = None if how == "triggered" else d.clock()
    blocks, wires = inner_blocks(d, clock)
    name = f"part{d.count}"
    sub: dict[str, Any] = {"inputs": ["u", "on"], "outputs": ["y"]}
    if how == "enabled":
        given: dict[str, Any] = {"by": "on", "states": draw.choice(["held", "reset"])}
        if draw.random() < 0.5:
            given["outputs"] = {"y": d.coarse()}
        else:
            given["initial"] = {"y": d.coarse()}
        sub["enabled"] = given
    elif how == "triggered":
        sub["triggered"] = {"by": "on", "edge": draw.choice(["rising", "falling", "either"])}
    else:
        sub["reset"] = {"by": "on", "edge": draw.choice(["rising", "either", "level"])}
    subs = d.content.setdefault("subsystems", {})
    if how != "triggered" and draw.random() < 0.4:  # one in it
        subs[f"{name}_in"] = {
            "inputs": ["u", "on"], "outputs": ["y"], "enabled": {"by": "on"},
            "blocks": blocks, "wires": [*wires, "y -> out.y"],
        }  # fmt: skip
        second = truth(d)
        sub["inputs"] = ["u", "on", "too"]
        sub |= {
            "blocks": {"inner": {"type": f"{name}_in"}},
            "wires": ["in.u -> inner.u", "in.too -> inner.on", "inner.y -> out.y"],
        }
        ports = (u, on, second)
    else:
        sub |= {"blocks": blocks, "wires": [*wires, "y -> out.y"]}
        ports = (u, on)
    subs[name] = sub
    block = d.add(name, *ports)
    reads = {"ticks": all(s.ticks for s in ports), "jumps": any(s.jumps for s in ports)}
    d.give(f"{block}.y", ticks=reads["ticks"] and not continuous(blocks), jumps=reads["jumps"])


def continuous(blocks: dict[str, Any]) -> bool:
    return any(block["type"] == "LTI_SISO" for block in blocks.values())


def add_machine(d: Draft) -> None:
    """A state machine, on a clock or not, with times and conditions."""
    sampled = d.pure or d.draw.random() < 0.5
    u = d.pick() if sampled else d.pick(calm=True)
    high, low = abs(d.number(0.6)), -abs(d.number(0.6))
    given: dict[str, Any] = {
        "arguments": ["u"], "outputs": {"y": 0.0}, "initial": "low",
        "states": {
            "low": {"entry": {"y": d.coarse()}},
            "high": {"entry": {"y": d.coarse()}},
            "rest": {"entry": {"y": d.coarse()}},
        },
        "transitions": [
            {"from": "low", "to": "high", "when": f"u > {high}"},
            {"from": "high", "to": "rest", "after": d.time(1, 6)},
            {"from": "rest", "to": "low", "after": d.time(1, 4), "when": f"u < {low} or u > {low}"},
        ],
    }  # fmt: skip
    if d.draw.random() < 0.5:
        given["transitions"][0] = {"from": "low", "to": "high", "after": d.time(1, 5)}
        del given["transitions"][2]["when"]
    kind, at = ("STATE_MACHINE_S", {"clock": d.clock()}) if sampled else ("STATE_MACHINE", {})
    name = d.add(kind, u, **at, **given)
    d.give(f"{name}.y", ticks=sampled)


def add_copies(d: Draft) -> None:
    """Copies of a subsystem over a vector, and their mean."""
    a, b, clock = d.pick(), d.pick(), d.clock()
    subs = d.content.setdefault("subsystems", {})
    name = f"copy{d.count}"
    blocks: dict[str, Any] = {
        "g": {"type": "GAIN", "K": "$k"},
        "y": {"type": "UNIT_DELAY", "clock": clock},
    }
    if d.draw.random() < 0.5:
        blocks["y"] = {"type": "LTI_SISO", "N": [1.5], "D": [1.0, 1.5]}
    subs[name] = {
        "params": {"k": 1}, "inputs": ["u"], "outputs": ["y"],
        "blocks": blocks, "wires": ["in.u -> g", "g -> y", "y -> out.y"],
    }  # fmt: skip
    both = d.add("MUX", a, b, nin=2)
    copies = d.add(name, both, k=[0.5, -0.75], for_each={"over": ["u", "k"]})
    d.give(f"{copies}.y[0]", ticks=d.blocks and "N" not in blocks["y"] and a.ticks)
    d.give(f"{copies}.y[1]", ticks=False)


def add_bus(d: Draft) -> None:
    """Two signals through a bus."""
    a, b = d.pick(), d.pick()
    name = d.add("BUS_CREATOR")
    d.wires.extend([f"{a.name} -> {name}.one", f"{b.name} -> {name}.two"])
    total = d.add("SUM", f"{name}.one", f"{name}.two", signs="+-")
    d.give(d.add("GAIN", total, K=0.5), (a, b))


def add_loop(d: Draft) -> None:
    """An algebraic loop, linear or not."""
    d.content.setdefault("run", {})["algebraic_loops"] = "solve"
    u = d.pick(calm=True)
    if d.draw.random() < 0.5:
        y = d.add("SUM", u, signs="+-")
        z = d.add("GAIN", y, K=d.draw.choice([0.5, 2.0]))
        d.wires.append(f"{z} -> {y}.1")
    else:
        y = d.add("FCN", u, expression="tanh(a - 0.7*z)", arguments=["a", "z"])
        z = d.add("FCN", y, expression="y + 0.2*y**3", arguments=["y"])
        d.wires.append(f"{z} -> {y}.1")
    d.give(y, (u,))


def add_variant(d: Draft) -> None:
    u = d.pick(calm=True)
    d.count += 1
    name = f"slot{d.count}"
    d.content.setdefault("variants", {})[name] = {
        "default": "one",
        "choices": {
            "one": {"type": "LTI_SISO", "N": [1.0], "D": [1.0, 1.0]},
            "two": {"type": "LTI_SISO", "N": [3.0], "D": [1.0, 3.0]},
        },
    }
    d.wires.append(f"{u.name} -> {name}")
    d.give(name)


def add_robot(d: Draft) -> None:
    """An arm on the ground or on a free base with weak torques, or a closed chain."""
    kind = d.draw.choice(["fixed", "floating", "closed"])
    robots = d.content.setdefault("robots", {})
    if kind == "closed":
        robots["bar"] = {"bodies": f"{MODELS}/four_bar.yaml"}
        gain = d.add("GAIN", d.pick(calm=True), K=0.02)
        vector = d.add("MUX", gain, nin=1)
        name = d.add("CLOSED_CHAIN", robot="bar")
        d.wires.append(f"{vector} -> {name}.tau")
        d.give(d.add("FCN", f"{name}.qm[0]", expression="sin(u)"))
        return
    robots["arm"] = {"urdf": f"{MODELS}/spacecraft_3dof.urdf", "base": kind}
    signals = [d.pick(calm=True) for _ in range(3)]
    vector = d.add("MUX", *signals, nin=3)
    small = d.add("GAIN", vector, K=0.5)
    name = d.add("MULTIBODY", robot="arm", initial={"qm": [0.1, -0.2, 0.3]})
    law = d.add("JOINT_PD", kp=[4.0, 3.0, 2.0], kd=[4.0, 3.0, 2.0])
    d.wires.extend([f"{small} -> {law}.qd", f"{law} -> {name}.taum"])
    d.wires.append(f"{name}.* -> {law}")
    for k in range(2):
        d.give(d.add("FCN", f"{name}.qm[{k}]", expression="0.8*sin(u)"))

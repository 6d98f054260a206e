"""Random sequences of requests that change a file, and are undone."""

from __future__ import annotations

from studio_sheets import assert_routed

TYPES = ("GAIN", "SUM", "STEP", "SCOPE", "INTEGRATOR", "NOTHING", "servo", "BUS_CREATOR")
LINES = ("", "# text", "  new: {type: GAIN, K: 2}", "  - step -> new", "  x: [1", "run: {T: 3}")
TEXTS = ("2", "[1, 2, 3]", "$k", "soon", "{a: [1]}", '"x: y"', "null", "1e-3", "[1", "- 1")


def random_request(sheet, opened, rng):
    """One request that may change a file, with its arguments; it may be refused."""
    names = [block["name"] for block in sheet["blocks"]] or ["none"]
    within, name = sheet["within"] or "", rng.choice(names)
    kind = rng.randrange(12)
    if kind == 0:
        point = [rng.randrange(-500, 2000), rng.randrange(-500, 2000)]
        return "place", {"places": {name: point}}
    if kind == 1:
        return "tidy", {}
    if kind == 2 and opened["variants"]:
        slot = rng.choice(opened["variants"])
        return "choose", {"slot": slot["slot"], "choice": rng.choice(slot["choices"])}
    operations = [random_operation(sheet, names, within, rng) for _ in range(rng.randint(1, 3))]
    moved = {name: [rng.randrange(900), 40]} if rng.random() < 0.2 else None
    return "edit", {"revision": opened["revision"], "operations": operations, "places": moved}


def random_operation(sheet, names, within, rng):
    """One operation on a sheet."""
    if "chart" in sheet and rng.random() < 0.9:
        return random_change_of_chart(sheet["chart"], rng)
    name, kind = rng.choice(names), rng.randrange(20)
    home = f"subsystems.{within}.blocks" if within else "blocks"
    port = rng.choice(["", ".0", ".1", ".x", ".goal"])
    if kind == 0:
        place = rng.choice([None, [rng.randrange(900), rng.randrange(900)]])
        return {"op": "add", "name": f"new{rng.randrange(30)}", "type": rng.choice(TYPES),
                "within": within, "parameters": {"K": "2.5"}, "place": place}  # fmt: skip
    if kind == 1:
        return {"op": "remove", "names": rng.sample(names, min(2, len(names))), "within": within}
    if kind == 2:
        return {"op": "rename", "name": name, "to": f"other{rng.randrange(30)}", "within": within}
    if kind == 3:
        return {"op": "retype", "name": name, "type": rng.choice(TYPES), "within": within}
    if kind == 4:
        target = f"{rng.choice(names)}{port}"
        return {"op": "wire", "source": name, "target": target, "within": within}
    if kind == 5 and sheet["wires"]:
        wire = rng.choice(sheet["wires"])
        ends = {"source": wire["source"], "target": wire["target"]}
        return {"op": "unwire", **ends, "within": within}
    if kind == 6:
        chosen = rng.sample(names, min(2, len(names)))
        return {"op": "group", "name": f"part{rng.randrange(9)}", "names": chosen,
                "within": within}  # fmt: skip
    if kind == 7:
        return {"op": "unset", "path": f"{home}.{name}.{rng.choice(['K', 'T', 'signs'])}"}
    if kind == 8:
        if rng.random() < 0.3:
            clock = rng.choice(["tick", "c0", "c1", "c2"])
            return {"op": "rename-entry", "section": "clocks", "name": clock,
                    "to": f"c{rng.randrange(3)}"}  # fmt: skip
        given = rng.choice(["k", "k0", "k1", "k2"])
        return {"op": "rename-parameter", "name": given, "to": f"k{rng.randrange(3)}"}
    if kind == 9:
        wires = rng.sample(["in.u -> block", "in.v", "block -> out.y", "a -> b", "in.u"], 2)
        return {"op": "wrap", "slot": rng.choice(["law", name]), "choice": "other", "wires": wires}
    if kind == 10:
        gates = [block for block in sheet["blocks"] if block["look"] == "border"]
        ports = [port["name"] for gate in gates for port in (*gate["inputs"], *gate["outputs"])]
        about = {"name": rng.choice([*ports, "u"]), "side": rng.choice(["inputs", "outputs"]),
                 "within": within}  # fmt: skip
        if rng.random() < 0.3:
            return {"op": "remove-port", **about}
        return {"op": "rename-port", "to": f"port{rng.randrange(9)}", **about}
    if kind == 11:
        first = rng.randrange(40)
        lines = [rng.choice(LINES) for _ in range(rng.randrange(3))]
        return {"op": "text", "changes": [[first, first + rng.randrange(3), lines]]}
    if kind == 12:
        return random_kind(sheet, name, within, rng)
    if kind in (13, 14):
        path, text = rng.choice([
            (f"looks.{name}.facing", rng.choice(["left", "up", "down", "right", None])),
            (f"looks.{name}.colour", rng.choice(["red", "pink", None])),
            ("notes", f"{{text: n, at: [3, 4], by: {name}}}"), ("notes[0].at", "[5, 6]"),
            ("notes[0]", None), ("areas", f"{{title: t, blocks: [{name}]}}"),
            ("areas[0].title", "other"), ("areas[0]", None), ("looks", None), ("a[", "b"),
        ])  # fmt: skip
        return {"op": "draw", "path": path, "text": text, "within": within}
    if kind == 15:
        return {"op": "vary", "name": name, "choice": f"choice{rng.randrange(4)}"}
    if kind == 16:
        about = {"slot": rng.choice(["law", name]), "choice": f"choice{rng.randrange(4)}"}
        more = rng.choice([{"op": "fix"}, {"op": "remove-choice"},
                           {"op": "rename-choice", "to": f"choice{rng.randrange(4)}"},
                           {"op": "add-choice", "type": "GAIN"},
                           {"op": "add-choice", "like": "choice0"}])  # fmt: skip
        return {**about, **more}
    if kind == 17:
        return random_rename_of_signal(sheet, within, rng)
    path = rng.choice(
        ["declare.k.max", f"{home}.{name}.K", "params.k", "run.T", f"{home}.{name}.x"]
    )
    return {"op": "set", "path": path, "text": rng.choice(TEXTS)}


def random_rename_of_signal(sheet, within, rng):
    """A signal of a bus gets another name."""
    signals = {
        signal["name"]: wire["from"]["block"] for wire in sheet["wires"] for signal in wire["bus"]
    } or {"x": "arm"}
    buses = [block["name"] for block in sheet["blocks"] if block["type"].startswith("BUS")]
    name = rng.choice(list(signals))
    block = rng.choice([signals[name], *buses])
    return {"op": "rename-signal", "block": block, "name": rng.choice([name, name.split(".")[0]]),
            "to": rng.choice([f"s{rng.randrange(6)}", "a b"]), "within": within}  # fmt: skip


def random_change_of_chart(chart, rng):
    """One operation on a state machine."""
    states = [state["path"] for state in chart["states"]] or [f"{chart['path']}.states.none"]
    items = [one["path"] for one in chart["transitions"]] or [f"{chart['path']}.transitions[0]"]
    state, item, kind = rng.choice(states), rng.choice(items), rng.randrange(10)
    name = f"state{rng.randrange(9)}"
    if kind == 0:
        return {"op": "rename-state", "path": state, "to": rng.choice([name, "a b", "off"])}
    if kind == 1:
        return {"op": "remove-state", "path": state}
    if kind == 9:
        value = rng.choice([*chart["values"], f"{chart['path']}.params.none"])
        return {"op": "rename-value", "path": value, "to": rng.choice([name, "sin", "v"])}
    if kind <= 4:
        into = rng.choice([*states, chart["path"]])
        before = rng.choice(["", rng.choice(states).rpartition(".")[2]])
        return {"op": "move-state", "path": state, "into": into, "before": before}
    if kind == 5:
        return {"op": "move-item", "path": item, "index": rng.randrange(5)}
    if kind == 6:
        return {"op": "unset", "path": rng.choice([item, f"{item}.when", f"{state}.initial"])}
    if kind == 7:
        source, target = (rng.choice(states).rpartition(".")[2] for _ in range(2))
        text = f"{{from: {source}, to: {target}}}"
        return {"op": "append", "path": f"{chart['path']}.transitions", "text": text}
    path = rng.choice([f"{state}.states.{name}", f"{state}.entry", f"{item}.when", f"{item}.do"])
    return {"op": "set", "path": path, "text": rng.choice(["{}", "u > 1", "{y: 2}", *TEXTS])}


def random_kind(sheet, name, within, rng):
    """One operation on the kind of a subsystem."""
    types = [block["type"] for block in sheet["blocks"] if block["look"] == "subsystem"]
    op = rng.choice(["subsystem", "rename-subsystem", "condition", "uncondition", "for-each"])
    if op == "subsystem":
        return {"op": op, "name": f"new{rng.randrange(30)}", "within": within,
                "place": rng.choice([None, [10, 20]])}  # fmt: skip
    if op == "for-each":
        return {"op": op, "name": name, "within": within}
    part = rng.choice([*types, within, "none"])
    if op == "rename-subsystem":
        return {"op": op, "name": part, "to": f"kind{rng.randrange(9)}"}
    kind = rng.choice(["enabled", "triggered", "reset", "other"])
    return {"op": op, "kind": kind, "within": part, "by": rng.choice(["", "go", "goal"])}


def check_sequence(asking, path, file, rng, most):
    """Random requests, and as many steps back, which give the file and its places again; then
    forward, which give those after the last request. Returns how many were done."""
    raw = file.read_bytes()
    sheet = asking.ok("sheet", path=path, at="")
    opened = asking.ok("open", path=path)
    done = 0
    for _ in range(rng.randint(1, most)):
        at = rng.choice([block["opens"] for block in sheet["blocks"] if block["opens"]] or [""])
        shown = asking.ok("sheet", path=path, at=at) if rng.random() < 0.3 else sheet
        what, given = random_request(shown, opened, rng)
        answer = asking.ask(what, path=path, at=shown["at"], **given)
        if "ok" in answer:
            opened = answer["ok"]["opened"]
            assert_routed(answer["ok"]["sheet"])
            sheet = answer["ok"]["sheet"]
        else:
            assert set(answer["problem"]) <= {"message", "hint", "place", "others"}
            assert "arguments" not in answer["problem"]["message"]
            assert "failed" not in answer["problem"]["message"]
    made = file.read_bytes()
    while opened["undo"] is not None:
        done += 1
        opened = asking.ok("undo", path=path, at="")["opened"]
    assert file.read_bytes() == raw
    back = asking.ok("sheet", path=path, at="")
    for _ in range(done):
        opened = asking.ok("redo", path=path, at="")["opened"]
    assert not done or opened["redo"] is None
    assert file.read_bytes() == made
    for _ in range(done):
        asking.ok("undo", path=path, at="")
    assert file.read_bytes() == raw
    assert {b["name"] for b in asking.ok("sheet", path=path, at="")["blocks"]} == {
        b["name"] for b in back["blocks"]}  # fmt: skip
    return done

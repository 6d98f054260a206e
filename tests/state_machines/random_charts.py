"""Random state machines, and what they do by the rule, in sets and loops: no code of the package.

The rule. At a visit an active state takes the first of its transitions that can be taken. If it
takes none, it does what is under `during`, and the active states in it are visited: parallel ones
in the order written, each of which sees what those before it have done. What was entered at this
visit is not visited.
"""

from __future__ import annotations

import random
from typing import Any

VARIABLES = ("n", "k")


class Machine:
    """A machine, run on plain values. given: the entries of its block. ages: the time since each
    state was entered. order: the states, outer ones before those in them, in the order written."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.body: dict[str | None, dict[str, Any]] = {None: given}
        self.around: dict[str, str | None] = {}
        self._read(None)
        self.order = list(self.around)
        self.active: set[str] = set()
        self.ages = dict.fromkeys(self.order, 0.0)
        self.last: dict[str, str] = {}
        self.values: dict[str, float] = {**given["outputs"]}
        self.fresh: set[str] = set()

    def _read(self, name: str | None) -> None:
        for child, body in self.body[name].get("states", {}).items():
            self.around[child], self.body[child] = name, body
            self._read(child)

    def inside(self, name: str | None) -> list[str]:
        return list(self.body[name].get("states", {}))

    def path(self, name: str | None) -> list[str]:
        return [] if name is None else [*self.path(self.around[name]), name]

    def ends(self, way: dict[str, Any]) -> tuple[str | None, str, list[str]]:
        """The innermost state around both ends, the outermost one left, and those entered."""
        one, other = self.path(way["from"]), self.path(way["to"])
        common = 0
        while common < min(len(one), len(other)) - 1 and one[common] == other[common]:
            common += 1
        return (one[common - 1] if common else None), one[common], other[common:]

    def allowed(self, way: dict[str, Any]) -> bool:
        """Whether a transition does not lead from one parallel state to another one."""
        scope, left, entered = self.ends(way)
        return not self.body[scope].get("parallel") or left == entered[0]

    # --- values --------------------------------------------------------------------------

    def value(self, text: str, known: dict[str, Any], elapsed: float, active: set[str]) -> Any:
        names = {name: name for name in self.order}
        functions = {"active": lambda name: float(name in active)}
        return eval(text, {}, {**names, **functions, **known, **self.values, "elapsed": elapsed})

    def act(self, actions: dict[str, str], known: dict[str, Any], elapsed: float,
            active: set[str]) -> None:  # fmt: skip
        for name, text in (actions or {}).items():
            self.values[name] = float(self.value(text, known, elapsed, active))

    def can(self, way: dict[str, Any], known: dict[str, Any]) -> bool:
        age = self.ages[way["from"]]
        if "after" in way and age < way["after"]:
            return False
        return bool(self.value(way.get("when", "True"), known, age, self.active))

    # --- steps ---------------------------------------------------------------------------

    def start(self, known: dict[str, Any]) -> None:
        self._enter_first(None, known, set())

    def visit(self, known: dict[str, Any], during: bool) -> bool:
        """Visit all active states; returns whether a transition was taken."""
        self.fresh = set()
        return self._visit_inside(None, known, during)

    def _visit_inside(self, name: str | None, known: dict[str, Any], during: bool) -> bool:
        found = False
        for child in [child for child in self.inside(name) if child in self.active]:
            if name in self.fresh or (name is not None and name not in self.active):
                break
            found |= self._visit(child, known, during)
        return found

    def _visit(self, name: str, known: dict[str, Any], during: bool) -> bool:
        for way in self.given["transitions"]:
            if way["from"] == name and self.can(way, known):
                self._take(way, known)
                return True
        if during:
            self.act(self.body[name].get("during"), known, self.ages[name], self.active)
        return self._visit_inside(name, known, during)

    def _take(self, way: dict[str, Any], known: dict[str, Any]) -> None:
        _, left, entered = self.ends(way)
        before = set(self.active)
        for name in reversed(self.order):
            if name in before and left in self.path(name):
                self.act(self.body[name].get("exit"), known, self.ages[name], before)
                self.active.discard(name)
        self.act(way.get("do"), known, self.ages[way["from"]], before)
        self._enter(entered, known, before)

    def _enter(self, way: list[str], known: dict[str, Any], before: set[str]) -> None:
        """Enter a state, and from it the way to another one in it."""
        name, *further = way
        self.active.add(name)
        self.fresh.add(name)
        self.ages[name] = 0.0
        if self.around[name] is not None:
            self.last[self.around[name]] = name
        self.act(self.body[name].get("entry"), known, 0.0, before)
        if not further:
            self._enter_first(name, known, before)
        elif self.body[name].get("parallel"):
            for child in self.inside(name):
                self._enter(further if child == further[0] else [child], known, before)
        else:
            self._enter(further, known, before)

    def _enter_first(self, name: str | None, known: dict[str, Any], before: set[str]) -> None:
        body, inside = self.body[name], self.inside(name)
        if body.get("parallel") or not inside:
            first = inside
        elif body.get("history") and name in self.last:
            first = [self.last[name]]
        else:
            first = [body["initial"]]
        for child in first:
            self._enter([child], known, before)

    # --- what it shows -------------------------------------------------------------------

    def numbers(self) -> dict[str, int]:
        """For the chart, as `state`, and for each parallel state the number of what is active."""
        roots = [name for name in self.order if self.body[self.around[name]].get("parallel")]
        found = {} if self.given.get("parallel") else {"state": self._number(self.inside(None))}
        return found | {root: self._number([root]) for root in roots}

    def _number(self, tops: list[str]) -> int:
        leaves = [leaf for top in tops for leaf in self._leaves(top)]
        return sum(k for k, leaf in enumerate(leaves, 1) if leaf in self.active)

    def _leaves(self, name: str) -> list[str]:
        if self.body[name].get("parallel") or not self.inside(name):
            return [name]
        return [leaf for child in self.inside(name) for leaf in self._leaves(child)]


def random_machine(seed: int, during: bool = True) -> dict[str, Any]:
    """The entries of a machine: up to three levels, parallel ones among them."""
    draw = random.Random(seed)
    names: list[str] = []

    def actions(share: float) -> dict[str, str] | None:
        if draw.random() > share:
            return None
        steps = (
            f"(7*n + {draw.randint(1, 99)}) % 1009",
            f"n + {draw.randint(1, 9)}",
            "k + 1 if elapsed > 0.25 else k",
            f"2*active({draw.choice(names)}) + k % 5",
        )
        return {draw.choice(VARIABLES): draw.choice(steps) for _ in range(draw.randint(1, 2))}

    def shape(depth: int) -> dict[str, Any]:
        inner: dict[str, Any] = {}
        for _ in range(draw.randint(2, 3)):
            name = f"s{len(names)}"
            names.append(name)
            inner[name] = shape(depth + 1) if depth < 2 and draw.random() < 0.5 else {}
        if draw.random() < 0.5:
            return {"parallel": True, "states": inner}
        history = {"history": True} if depth and draw.random() < 0.3 else {}
        return {"initial": draw.choice(list(inner)), "states": inner, **history}

    def filled(body: dict[str, Any]) -> None:
        for state in body.get("states", {}).values():
            for key in ("entry", "exit", *(("during",) if during else ())):
                if (found := actions(0.5)) is not None:
                    state[key] = found
            filled(state)

    def guard() -> str:
        one = draw.choice((f"u > {draw.uniform(0, 1):.3f}", f"u < {draw.uniform(0, 1):.3f}"))
        other = draw.choice((f"active({draw.choice(names)})", f"not active({draw.choice(names)})",
                             f"n % 7 > {draw.randint(1, 5)}", "elapsed > 0.17"))  # fmt: skip
        return draw.choice((one, other, f"{one} and {other}", f"{one} and ({other} or k > 2)"))

    given = {"outputs": dict.fromkeys(VARIABLES, 0), "arguments": ["u"], **shape(0)}
    filled(given)
    ways = []
    for _ in range(2 * len(names)):
        way: dict[str, Any] = {"from": draw.choice(names), "to": draw.choice(names)}
        if draw.random() < 0.85:
            way["when"] = guard()
        if draw.random() < 0.3 or "when" not in way:
            way["after"] = draw.choice((0.15, 0.25, 0.45))
        if (found := actions(0.4)) is not None:
            way["do"] = found
        ways.append(way)
    rule = Machine({**given, "transitions": []})
    given["transitions"] = [way for way in ways if rule.allowed(way)]
    return given

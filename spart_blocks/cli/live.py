"""`spart live`: list and set the parameters of a running loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spart_blocks.base.errors import Fault, InputError, RunError, brief
from spart_blocks.cli.commands import Texts, argument, command, option, switch
from spart_blocks.cli.terminal import headed_table, put, say

if TYPE_CHECKING:
    from spart_blocks.realtime.live_client import LiveClient

LOOP = option("--loop NAME|PID", "The loop, if more than one is running.")
_LONGEST = 60  # characters of a value in a table


@command(
    "spart live",
    "spart live 'ctrl.kp=[60,60,20]' qd=0.3",
    "spart live --print-set",
    "spart live --save diagrams/spacecraft_pd.yaml",
)
def live(
    *,
    words: Texts = argument(
        "[LOOP] [NAME=VALUE]...",
        "The loop, by name or process ID, and values to set: ctrl.kp=[60,60,20], "
        "ctrl.kp[0]=60, qd=0.3. A scalar fills a vector.",
        None,
    ),
    loop: str | None = LOOP,
    print_set: bool = switch(
        "--print-set", "Print the changes as options --set of the other commands."
    ),
    save: Path | None = option(
        "--save FILE",
        "Write the changes into the diagram's file; the rest of its text stays.",
    ),
) -> None:
    """List the parameters of a running loop, or set some. Values set by one command take effect
    together, before one step; if a value is invalid, none is set, and the loop continues unchanged.
    Without arguments, if several loops are running, the loops are listed.
    """
    name, settings = _loop_and_settings(words or (), loop)
    values = _values(settings)
    if name is None and not (values or print_set or save) and _listed():
        return
    with connected(name) as client:
        if values:
            _report(client.set(values))
        elif not (print_set or save):
            put(*_described(client))
        if print_set:
            typer.echo(_as_options(client.describe()["parameters"]))
        if save:
            _saved(client.describe()["parameters"], save)


def connected(name: str | None) -> LiveClient:
    """A connection to the loop with this name or process ID; without one, to the only loop."""
    from spart_blocks.realtime.live_client import LiveClient
    from spart_blocks.realtime.live_places import chosen

    return LiveClient(chosen(name))


def _loop_and_settings(words: Sequence[str], loop: str | None) -> tuple[str | None, list[str]]:
    """The selected loop, and the values to set."""
    names = [word for word in words if "=" not in word] + ([loop] if loop else [])
    if len(names) > 1:
        hint = "what is set is written NAME=VALUE, without blanks or in quotes"
        raise InputError(
            Fault(f"{names[1]!r} sets nothing, and {names[0]!r} is the loop", None, hint)
        )
    return (names[0] if names else None), [word for word in words if "=" in word]


def _values(settings: Sequence[str]) -> dict[str, Any]:
    """The values to set, by name."""
    from spart_blocks.base.document import parse_value

    values: dict[str, Any] = {}
    for text in settings:
        name, _, value = text.partition("=")
        if name in values:
            raise InputError(f"{name} is given twice")
        values[name] = parse_value(value, text)
    return values


def _listed() -> bool:
    """List the loops if several are running; returns whether it did."""
    from spart_blocks.realtime.live_client import LiveClient
    from spart_blocks.realtime.live_places import running

    places = running()
    if len(places) < 2:
        return False
    table = headed_table(("loop", "process", "rate [Hz]", "time [s]", "deadlines missed"))
    for place in places:
        try:
            with LiveClient(place) as client:
                said = client.hello
        except (InputError, RunError):  # it has ended meanwhile, or does not answer
            table.add_row(place.name, str(place.pid), "", "", "")
            continue
        numbers = (f"{said['rate']:g}", f"{said['time']:.3f}", str(said["overruns"]))
        table.add_row(place.name, str(place.pid), *numbers)
    put(table)
    say("name one: spart live LOOP")
    return True


def _described(client: LiveClient) -> list[Any]:
    """The table of a loop's parameters, with a heading."""
    found = client.describe()
    heading = (
        f"{client.hello['name']} (process {client.hello['pid']}): {found['phase']}, "
        f"{found['rate']:g} Hz, t = {found['time']:.3f} s, {found['overruns']} deadlines missed"
    )
    table = headed_table(("parameter", "value", "shape", "unit", "bounds", ""), left=6)
    for row in found["parameters"]:
        shape = " x ".join(map(str, row["shape"]))
        if "fixed" in row:
            table.add_row(row["name"], "", shape, "", "", row["fixed"])
            continue
        note = "input" if row["kind"] == "input" else ""
        note += f"{', ' if note else ''}changed" if row["changed"] else ""
        value = brief(_short(row["value"]), _LONGEST).strip("'")
        table.add_row(row["name"], value, shape, row["unit"], _between(row["bounds"]), note)
    return [heading, "", table]


def _short(value: Any) -> str:
    """A number or nested lists of numbers as text, rounded for display."""
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value + 0.0:.6g}"  # no minus before a zero


def _between(bounds: Sequence[float | None]) -> str:
    low, high = bounds
    if low is None and high is None:
        return ""
    return f"{'' if low is None else f'{low:g}'}..{'' if high is None else f'{high:g}'}"


def _report(values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        typer.echo(f"{name} = {_short(value)}")


def _saved(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Write the changed parameters into the diagram's file."""
    from spart_blocks.versions.edits import Tune, edit

    changed = _changed(rows)
    edit(file, [Tune(row["name"], row["value"]) for row in changed])
    names = ", ".join(row["name"] for row in changed)
    say(f"{file}: {names} written" if names else f"{file}: nothing has been changed")


def _changed(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The parameters that differ from the file, without the inputs."""
    return [row for row in rows if row.get("changed") and row["kind"] == "parameter"]


def _as_options(rows: Sequence[Mapping[str, Any]]) -> str:
    """The changed parameters as options --set."""
    import shlex

    texts = (f"{row['name']}={_exact(row['value'])}" for row in _changed(rows))
    return " ".join(f"--set {shlex.quote(text)}" for text in texts)


def _exact(value: Any) -> str:
    """A number or nested lists of numbers as text without rounding."""
    return f"[{','.join(map(_exact, value))}]" if isinstance(value, list) else repr(value)

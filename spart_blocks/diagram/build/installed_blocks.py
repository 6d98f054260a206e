"""Blocks of installed packages.

A distribution has an entry point `spart_blocks.blocks` that names a module or package of blocks.
Nothing of them is imported before a type is asked for that neither bdsim, nor this package, nor the
user's own word has. Files beside a diagram are no distribution, whatever they look like.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distributions
from typing import Any

from spart_blocks.base.errors import Fault, InputError, told, warn
from spart_blocks.diagram.build.own_blocks import blocks_of, entry_of, place_of, standard_names

GROUP = "spart_blocks.blocks"
"""The entry points of packages of blocks."""


@dataclass(frozen=True)
class InstalledBlocks:
    """The blocks of installed packages.

    types: the entries of the block library by type. packages: the types of each distribution, by
    its name and version. broken: why packages cannot be used, by name and version. clashes: why
    types cannot be used, by type.
    """

    types: Mapping[str, Mapping[str, Any]]
    packages: Mapping[str, tuple[str, ...]]
    broken: Mapping[str, Fault]
    clashes: Mapping[str, Fault]

    @property
    def faults(self) -> list[Fault]:
        """All that cannot be used."""
        return [*self.broken.values(), *self.clashes.values()]

    def about(self, name: str) -> list[str]:
        """Why there may be no such type: a clash of names, or packages that are broken."""
        clash = self.clashes.get(name)
        return [str(fault) for fault in ([clash] if clash else self.broken.values())]


@cache
def installed_blocks() -> InstalledBlocks:
    """The blocks of all installed packages, which are imported."""
    owners: dict[str, list[Owner]] = {}
    packages: dict[str, tuple[str, ...]] = {}
    broken: dict[str, Fault] = {}
    with _installed_alone():
        for distribution in _distributions():
            label = f"{distribution.name} {distribution.version}"
            try:
                own = list(_owners(distribution, label))
            except InputError as error:
                broken[label] = _broken(distribution, error.faults[0])
            except Exception as error:
                fault = Fault(f"its metadata cannot be read: {told(error)}")
                broken[label] = _broken(distribution, fault)
            else:
                packages[label] = tuple(sorted(owner.name for owner in own))
                for owner in own:
                    owners.setdefault(owner.name, []).append(owner)
    clashes = _clashes(owners)
    types = {
        name: entry_of(name, several[0].cls, several[0].module)
        for name, several in owners.items()
        if name not in clashes
    }
    return InstalledBlocks(types, packages, broken, clashes)


@dataclass(frozen=True)
class Owner:
    """A block of an installed package. module: the name in its entry point."""

    name: str
    cls: type[Any]
    module: str
    label: str


def _owners(distribution: Distribution, label: str) -> Iterator[Owner]:
    for entry in distribution.entry_points.select(group=GROUP):
        for name, cls in blocks_of(entry.value).items():
            yield Owner(name, cls, entry.value, label)


def warn_of_installed() -> None:
    """Warn of installed packages and blocks that cannot be used, where all blocks are listed."""
    for fault in installed_blocks().faults:
        warn(str(fault))


def _distributions() -> Iterator[Distribution]:
    """The distributions with blocks; the first of a name is the one that Python imports."""
    seen = set()
    for distribution in distributions():
        if GROUP in (distribution.read_text("entry_points.txt") or ""):
            if distribution.name not in seen:
                yield distribution
            seen.add(distribution.name)


@contextmanager
def _installed_alone() -> Iterator[None]:
    """Leave the current folder out of the search for modules where the command, or `python -m`, has
    put it: before the standard library. An editable install puts its folder behind, and PYTHONPATH
    is the user's word.
    """
    whole, here, standard = list(sys.path), os.getcwd(), sysconfig.get_path("stdlib")
    first = whole.index(standard) if standard in whole else len(whole)
    named = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if here not in map(os.path.abspath, named):
        before = (path for path in whole[:first] if os.path.abspath(path) != here)
        sys.path[:] = [*before, *whole[first:]]
    try:
        yield
    finally:
        sys.path[:] = [*whole, *(path for path in sys.path if path not in whole)]


def _broken(distribution: Distribution, fault: Fault) -> Fault:
    name = distribution.name
    hint = f"repair or update it, or remove it: pip uninstall {name}"
    text = f"the installed package {name} {distribution.version}: {fault.message}"
    return Fault(text, fault.place, hint)


def _clashes(owners: Mapping[str, Sequence[Owner]]) -> dict[str, Fault]:
    """The types that other blocks have too: none of those of installed packages is used."""
    clashes = {}
    for name in standard_names(owners):
        owner = owners[name][0]
        text = f"the installed package {owner.label}: there is another block of the name {name}"
        hint = "the name stays with that of bdsim or spart_blocks; this class needs another"
        clashes[name] = Fault(text, place_of(owner.cls), hint)
    for name, several in owners.items():
        if name not in clashes and len({owner.cls for owner in several}) > 1:
            labels = " and ".join(dict.fromkeys(owner.label for owner in several))
            text = f"more than one block of installed packages has the name {name}: {labels}"
            hint = f"name the one that you mean, --blocks {several[0].module} or blocks="
            clashes[name] = Fault(text, hint=hint)
    return clashes

"""Checks a COLLADA file before it is loaded: no entities, and a scene of bounded size."""

from __future__ import annotations

import re

from lxml import etree

from spart_blocks.base.errors import InputError

MOST_INSTANCES = 2_000
"""Largest number of geometries in a scene, each counted as often as it is placed."""
_DECLARED = re.compile(rb"<!(?:DOCTYPE|ENTITY)")
_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*encoding\s*=\s*["']([^"']*)""")
_ENCODINGS = ("utf-8", "us-ascii", "ascii", "iso-8859-1", "windows-1252")


def check_collada(data: bytes) -> None:
    """Raise InputError for a file that declares entities or whose scene is too large."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    found = _ENCODING.match(data)
    named = found[1].decode("latin-1").lower() if found else "utf-8"
    if b"\0" in data or named not in _ENCODINGS:
        raise InputError("is not text in UTF-8")
    if _DECLARED.search(data):
        raise InputError("declares a document type or entities; they are never expanded")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise InputError(f"not well-formed XML: {(error.msg or '')[:100]}") from None
    placed = _Placed(root)
    count = sum(placed.of(scene) for scene in _named(root, "visual_scene"))
    if count > MOST_INSTANCES:
        raise InputError(f"its scene places more than {MOST_INSTANCES} geometries")


def _named(element: etree._Element, name: str) -> list[etree._Element]:
    return list(element.iter("{*}" + name))


class _Placed:
    """Counts the geometries that an element of a scene places, including those of referenced
    nodes."""

    def __init__(self, root: etree._Element) -> None:
        self.nodes = {one.get("id"): one for one in _named(root, "node") if one.get("id")}
        self.known: dict[str, int] = {}
        self.open: set[str] = set()

    def of(self, element: etree._Element) -> int:
        """The count of an element, at most MOST_INSTANCES + 1."""
        kinds = ("instance_geometry", "instance_controller")
        count = sum(len(_named(element, kind)) for kind in kinds)
        for one in _named(element, "instance_node"):
            count += self._named(str(one.get("url", "")).removeprefix("#"))
            if count > MOST_INSTANCES:
                break
        return min(count, MOST_INSTANCES + 1)

    def _named(self, name: str) -> int:
        if name not in self.nodes:
            return 0
        if name in self.open or len(self.open) > 100:
            raise InputError("its scene contains itself, or is nested too deep")
        if name not in self.known:
            self.open.add(name)
            self.known[name] = self.of(self.nodes[name])
            self.open.discard(name)
        return self.known[name]

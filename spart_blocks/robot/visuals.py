"""What the links of a URDF file look like: its <visual> elements.

They do not matter to the dynamics, so a wrong one is told and left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lxml import etree

from spart_blocks.base.errors import Fault, Place, RobotError
from spart_blocks.robot._faults import Faults, quote
from spart_blocks.robot._record import Floats
from spart_blocks.robot._urdf_elements import ElementReader
from spart_blocks.robot._xml import read_xml

MOST_VISUALS = 5_000
Colour = tuple[float, float, float, float]


@dataclass(frozen=True)
class Visual:
    """A <visual>: T (4,4) [m] from the link frame to that of the shape.

    size [m]: of a box its sides, of a cylinder (about z) radius and length, of a sphere the radius;
    of a mesh the three factors of its scale. mesh: the name of its file as it is written. colour:
    red, green, blue, alpha from 0 to 1, None where none is given.
    """

    kind: Literal["box", "cylinder", "sphere", "mesh"]
    T: Floats
    size: tuple[float, ...]
    mesh: str | None
    colour: Colour | None
    place: Place


def read_visuals(path: str | Path) -> tuple[dict[str, list[Visual]], list[Fault]]:
    """The visuals of each link by the link's name, and what is wrong with others.

    Raises RobotError for a file that cannot be read.
    """
    file = Path(path)
    root = read_xml(file)
    faults = Faults()
    reader = _VisualReader(str(file), etree.QName(root).namespace, faults)
    found: dict[str, list[Visual]] = {}
    try:
        reader.read_colours(root)
        for link in reader.children(root, "link"):
            visuals = list(reader.visuals(link))
            if visuals:
                found[link.get("name") or ""] = visuals
    except RobotError as error:  # too many faults
        return found, list(error.faults)
    return found, faults.found


class _VisualReader(ElementReader):
    """Reads visuals; each fault leaves one out."""

    count = 0

    def read_colours(self, root: etree._Element) -> None:
        """The colours of the materials by name: those of the robot, then those of visuals."""
        self.colours: dict[str, Colour] = {}
        visuals = (v for link in self.children(root, "link") for v in self.children(link, "visual"))
        for owner in (root, *visuals):
            for material in self.children(owner, "material"):
                colour = self._own_colour(material)
                if colour is not None and material.get("name"):
                    self.colours.setdefault(str(material.get("name")), colour)

    def _own_colour(self, material: etree._Element) -> Colour | None:
        for element in self.children(material, "color"):
            owner = f"material {quote(material.get('name') or '')}"
            rgba = self._numbers(element, "rgba", 4, owner)
            if rgba is not None:
                red, green, blue, alpha = rgba.clip(0.0, 1.0).tolist()
                return red, green, blue, alpha
        return None

    def visuals(self, link: etree._Element) -> Iterator[Visual]:
        """The visuals of a link that can be read."""
        owner = f"visual of link {quote(link.get('name') or '')}"
        for element in self.children(link, "visual"):
            self.count += 1
            if self.count > MOST_VISUALS:
                if self.count == MOST_VISUALS + 1:
                    self.note(element, f"there are more than {MOST_VISUALS} visuals; none follow")
                return
            before = len(self.faults.found)
            visual = self._visual(element, owner)
            if visual is not None and len(self.faults.found) == before:
                yield visual

    def _visual(self, element: etree._Element, owner: str) -> Visual | None:
        T = self._origin(element, owner)
        geometry = self._only(element, "geometry", owner)
        shapes = [] if geometry is None else list(geometry.iterchildren(etree.Element))
        if len(shapes) != 1:
            self.note(element, f"{owner} has {len(shapes)} shapes; it takes one")
            return None
        shape, kind = shapes[0], str(etree.QName(shapes[0]).localname)
        colour, place = self._colour(element), self.place(shape)
        if kind == "mesh":
            scale = self._vector(shape, "scale", (1.0, 1.0, 1.0), owner)
            if not shape.get("filename"):
                self.note(shape, f"{owner}: <mesh> has no filename")
            size = tuple(scale.tolist())
            return Visual("mesh", T, size, shape.get("filename"), colour, place)
        if kind == "box":
            sides = self._numbers(shape, "size", 3, owner)
            size = () if sides is None else tuple(sides.tolist())
            return self._solid("box", T, size, colour, shape, owner)
        if kind == "cylinder":
            given = [self._number(shape, key, owner) for key in ("radius", "length")]
            return self._solid("cylinder", T, _known(given), colour, shape, owner)
        if kind == "sphere":
            given = [self._number(shape, "radius", owner)]
            return self._solid("sphere", T, _known(given), colour, shape, owner)
        self.note(shape, f"{owner}: <{kind}> is no shape; it takes box, cylinder, sphere or mesh")
        return None

    def _solid(
        self,
        kind: Literal["box", "cylinder", "sphere"],
        T: Floats,
        size: tuple[float, ...],
        colour: Colour | None,
        shape: etree._Element,
        owner: str,
    ) -> Visual | None:
        if size and min(size) < 0:
            self.note(shape, f"{owner}: the sizes of a {kind} must not be negative")
        return Visual(kind, T, size, None, colour, self.place(shape)) if size else None

    def _colour(self, element: etree._Element) -> Colour | None:
        for material in self.children(element, "material"):
            return self._own_colour(material) or self.colours.get(str(material.get("name")))
        return None


def _known(numbers: list[float | None]) -> tuple[float, ...]:
    """The numbers, or none of them where one could not be read."""
    known = tuple(number for number in numbers if number is not None)
    return known if len(known) == len(numbers) else ()

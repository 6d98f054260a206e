"""Reading an untrusted XML file: no entities, no DTD, no network, a bounded size."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import NoReturn

from lxml import etree

from spart_blocks.base.errors import Fault, Place, RobotError

SIZE_LIMIT = 32 * 2**20  # bytes; the largest public robots have 0.3 MB
XACRO_HINT = (
    "expand it first: xacro robot.urdf.xacro > robot.urdf  (pip install xacro, or ROS's xacro)"
)

_DOCTYPE = re.compile(r"<!DOCTYPE")
_ENTITY_DECLARATION = re.compile(r"<!ENTITY")
_ENTITY_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);|#)")


def read_xml(path: Path) -> etree._Element:
    """The root element of an XML file in UTF-8. Raises RobotError, with the line if known."""
    data = _read_bytes(path)
    text = _decode(data, path)
    _refuse_entities(text, path)
    # The encoding is forced, so that what was checked above is what is parsed.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        reason = (error.msg or "no reason given").split(" (")[0]
        _refuse(f"not well-formed XML: {reason}", path, error.lineno)


def _refuse(message: str, path: Path, line: int | None = None, hint: str | None = None) -> NoReturn:
    raise RobotError(Fault(message, Place(str(path), line or None), hint))


def _read_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
    except FileNotFoundError:
        _refuse("there is no such file", path, hint=f"looked in {path.absolute().parent}")
    except (OSError, ValueError) as error:
        _refuse(f"cannot be opened: {error}", path)
    if stat.S_ISDIR(status.st_mode):
        _refuse("is a directory, not a URDF file", path)
    if not stat.S_ISREG(status.st_mode):
        _refuse("is not a regular file", path)
    if status.st_size > SIZE_LIMIT:
        _refuse_size(path)
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        _refuse(f"cannot be read: {error.strerror}", path)
    if len(data) > SIZE_LIMIT:
        _refuse_size(path)
    if not data.strip():
        _refuse("the file is empty", path)
    return data


def _refuse_size(path: Path) -> NoReturn:
    _refuse(f"the file is larger than {SIZE_LIMIT // 2**20} MB; no URDF is that long", path)


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        _refuse(f"not UTF-8: byte 0x{byte:02x}", path, line, "save the file as UTF-8")


def _refuse_entities(text: str, path: Path) -> None:
    """Reject declared and undeclared entities before the parser reads them, also in comments, which
    only a parser could distinguish.
    """
    doctype = _DOCTYPE.search(text)
    if not doctype:
        return
    found = _ENTITY_DECLARATION.search(text) or _ENTITY_REFERENCE.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        _refuse(
            "the file declares or uses XML entities; they are never expanded",
            path,
            line,
            "a URDF needs no DOCTYPE and no entities: write the text itself",
        )

"""What is done to sound input: to bytes, to trees of plain values, to XML and to zip files."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from lxml import etree

NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 3, 7, 1000, 10**6, 2**31, 2**63, -(2**63), 10**300, 0.5, -0.5, 1e-9, 1e-300),
    *(5e-324, 1e30, 1e31, 1e150, 1e308, -1e308, float("inf"), -float("inf"), float("nan"), -0.0),
)
TEXTS = ("", " ", "x", "1", "true", "null", "a b", "$kp", "$", "$$", "in", "é", "\u202e", "a.b",
         "a[0]", "a[0:2]", "->", "a -> b", "{", "[1, 2", "%s", "{:d}", "../x", "/etc/passwd",
         "x" * 300, "nan", "1e999", "0x10", "__class__", "ground", "qm", "\U0001f680")  # fmt: skip
# What comes among numbers, and in the place of lists of them.
JUNK: tuple[Any, ...] = (
    *(None, True, False, [], {}, [[]], [{}], [None], [1, None], [None, 1], [1, [2]], [[1], 2]),
    *([1, {"a": 1}], {"a": 1}, {"a": {"b": [1]}}, [[1, 2], [3]], [[1, 2], [3, 4]], [[[1]]]),
    *([1, "x"], ["x", 1], [1, True], [True, False], ["x"], [1, 2], [1, 2, 3], [0, 0, 0]),
    *([1e308, 1e308], [float("nan"), 1], [[1, 2], 3], [[], 1], [1, []], [[1, None], [2, 3]]),
    *([0] * 40, [[0] * 6] * 6, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], {"1": 2}, {"": None}),
)


def odd_value(chance: random.Random) -> Any:
    """A value that nobody expects."""
    return copied(chance.choice(chance.choice((NUMBERS, TEXTS, JUNK, JUNK))))


# --- bytes -------------------------------------------------------------------------------

_ODD_BYTES = (
    *(b"", b"\0", b"\xff", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1b[2J"),
    *(
        b"\r",
        b"\n",
        b"\t",
        b"'",
        b'"',
        b"<",
        b"&lt;",
        b"]]>",
        b"-",
        b",",
        b";",
        b"#",
        b"0x",
        b"1_0",
    ),
    *(b"9" * 60, b"1e999", b"nan", b"inf", b"{" * 40, b"[" * 40),
)


def spoilt(raw: bytes, chance: random.Random, most: int = 4) -> bytes:
    """Bytes of which some are cut, doubled, turned over or replaced."""
    for _ in range(chance.randint(1, most)):
        a = chance.randrange(len(raw) + 1)
        b = min(len(raw), a + chance.choice((0, 1, 2, 8, 40, 300)))
        way = chance.randrange(6)
        if way == 0:
            raw = raw[:a] if chance.random() < 0.4 else raw[:a] + raw[b:]
        elif way == 1:
            raw = raw[:b] + raw[a:b] * chance.choice((1, 1, 20)) + raw[b:]
        elif way == 2 and raw:
            at = chance.randrange(len(raw))
            raw = raw[:at] + bytes([raw[at] ^ (1 << chance.randrange(8))]) + raw[at + 1 :]
        elif way == 3 and len(raw) > 8:
            at = chance.randrange(len(raw) - 8)
            number = chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, len(raw)))
            raw = raw[:at] + struct.pack("<I", number) + raw[at + 4 :]
        else:
            raw = raw[:a] + chance.choice(_ODD_BYTES) + raw[b:]
    return raw


# --- trees of plain values -----------------------------------------------------------------


def spots(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a tree, as the mapping or list that holds it and the key there."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree))
    for key in keys:
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from spots(tree[key])


def copied(tree: Any) -> Any:
    """A tree whose mappings and lists are its own."""
    if isinstance(tree, dict):
        return {key: copied(value) for key, value in tree.items()}
    return [copied(value) for value in tree] if isinstance(tree, list) else tree


def bent(tree: Any, chance: random.Random, most: int = 3) -> Any:
    """A tree of which a few places hold something else."""
    tree = copied(tree)
    for _ in range(chance.choice((1, 1, 1, most))):
        places = list(spots(tree))
        if not places:
            break
        numbers = [(h, k) for h, k in places if isinstance(h[k], int | float)]
        lists = [(h, k) for h, k in places if isinstance(h[k], list)]
        pick = chance.random()
        if pick < 0.25 and lists:
            _bend_list(*chance.choice(lists), chance)
        elif pick < 0.45 and numbers:
            holder, key = chance.choice(numbers)
            holder[key] = chance.choice(NUMBERS) if pick < 0.38 else odd_value(chance)
        else:
            _bend_place(*chance.choice(places), tree, chance)
    return tree


def _bend_list(holder: Any, key: Any, chance: random.Random) -> None:
    values = holder[key]
    at = chance.randrange(len(values) + 1)
    way = chance.randrange(6)
    if way <= 1:
        values.insert(at, odd_value(chance))
    elif way == 2 and values:
        values[at % len(values)] = copied(chance.choice(JUNK))
    elif way == 3:
        holder[key] = values[:at]
    elif way == 4:
        holder[key] = values * chance.choice((2, 3, 50))
    else:
        holder[key] = [values]


def _bend_place(holder: Any, key: Any, tree: Any, chance: random.Random) -> None:
    way = chance.randrange(9)
    if way <= 2:
        holder[key] = odd_value(chance)
    elif way == 3:
        del holder[key]
    elif way == 4:
        holder[key] = chance.choice(([holder[key]], {"x": holder[key]}, {"type": holder[key]}))
    elif way == 5 and isinstance(holder, dict):
        name = chance.choice((*TEXTS, *(str(k) for _, k in spots(tree))))
        holder[name] = holder.pop(key)
    elif way == 6:
        other, its = chance.choice(list(spots(tree)))
        holder[key], other[its] = copied(other[its]), copied(holder[key])
    elif way == 7:
        other, its = chance.choice(list(spots(tree)))
        holder[key] = copied(other[its])
    elif isinstance(holder, dict):
        name = chance.choice(TEXTS)
        holder[name] = copied(holder[key])


_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Plain(_Dumper):  # type: ignore[misc, valid-type]
    """Without anchors: what is shared is written twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def yaml_text(tree: Any) -> bytes:
    """A tree as a YAML file."""
    text = yaml.dump(tree, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=1000)
    return str(text).encode("utf-8", "surrogatepass")


# --- XML -----------------------------------------------------------------------------------

_ATTRIBUTES = ("", "0", "-1", "nan", "inf", "-inf", "1e999", "1e308", "-1e300", "1e-320", "1e29",
               "0x10", "1_0", "1,5", "٣", "--1", "0 0", "0 0 0", "1 2 3 4", "1 0 0", "fixed",
               "prismatic", "planar", "floating", "continuous", "x" * 300, "9" * 500, "a b",
               "${x}", "true", "4294967296", "-4294967296", "é", "../x", "input", "output",
               "tunable", "1e30", "18446744073709551616")  # fmt: skip


def bent_xml(raw: bytes, chance: random.Random, most: int = 4) -> bytes:
    """An XML file of which some elements and attributes are others."""
    root = etree.fromstring(raw)
    for _ in range(chance.randint(1, most)):
        elements = list(root.iter(etree.Element))
        element = chance.choice(elements)
        other = chance.choice(elements)
        parent = element.getparent()
        way = chance.randrange(10)
        if way <= 4 and element.attrib:
            key = chance.choice(sorted(element.attrib))
            pool = [v for e in elements for v in e.attrib.values()]
            element.set(key, chance.choice((*_ATTRIBUTES, *pool[:40])))
        elif way == 5 and element.attrib:
            del element.attrib[chance.choice(sorted(element.attrib))]
        elif way == 6 and parent is not None:
            parent.remove(element)
        elif way == 7 and parent is not None and len(elements) < 2000:
            copy = etree.fromstring(etree.tostring(element))
            for _ in range(chance.choice((1, 1, 30))):
                other.append(etree.fromstring(etree.tostring(copy)))
        elif way == 8:
            element.tag = chance.choice([e.tag for e in elements])
        else:
            element.text = chance.choice(_ATTRIBUTES)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="utf-8"))


# --- zip files -----------------------------------------------------------------------------

_NAMES = ("", "/", "..", "../x", "/etc/x", "a/../..", "a\\b", "C:x", "a\0b", "x" * 300, ".", "./a",
          "a//b", "\udcff\udcfe", "é", "binaries", "resources", "resources/", "resources/a",
          "resources/a/b", "modelDescription.xml", "meta.npy", "t.npy", "a/" * 300, "con",
          "resources/\udcff", "resources/" + "y" * 250)  # fmt: skip
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def zipped(entries: Mapping[str, bytes], chance: random.Random | None = None) -> bytes:
    """Entries as a zip file; with chance, of any method, in any order, some twice or with
    names that lead elsewhere, are no UTF-8, or clash."""
    out = io.BytesIO()
    items = list(entries.items())
    if chance is not None:
        for _ in range(chance.choice((0, 0, 1, 1, 2))):
            name = chance.choice((*_NAMES, *(f"{n}/x" for n, _ in items), *(n for n, _ in items)))
            items.insert(
                chance.randrange(len(items) + 1), (name, bytes(chance.choice((0, 9, 999))))
            )
        if chance.random() < 0.1:
            chance.shuffle(items)
    with zipfile.ZipFile(out, "w") as archive:
        for name, raw in items:
            info = zipfile.ZipInfo("x")
            info.filename = name  # as it is, where ZipInfo would mend it
            if chance is not None and chance.random() < 0.1:
                info.compress_type = chance.choice(_METHODS)
                info.external_attr = chance.choice((0, 0o120777 << 16, 0o40777 << 16, 0xFFFFFFFF))
            _write(archive, info, raw)
    raw = out.getvalue()
    if chance is not None and chance.random() < 0.35:
        raw = _headers_bent(raw, chance)
    return raw


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, raw: bytes) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            archive.writestr(info, raw)
        except UnicodeEncodeError:  # a name of bytes that no text is
            info.filename = info.filename.encode("utf-8", "surrogateescape").decode("cp437")
            archive.writestr(info, raw)


_FIELDS = {b"PK\x01\x02": ((4, 2), (6, 2), (8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2),
                           (30, 2), (32, 2), (34, 2), (38, 4), (42, 4)),
           b"PK\x03\x04": ((4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)),
           b"PK\x05\x06": ((4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2))}  # fmt: skip


def _headers_bent(raw: bytes, chance: random.Random) -> bytes:
    """A zip file with numbers of its headers that are others."""
    data = bytearray(raw)
    for _ in range(chance.randint(1, 3)):
        mark = chance.choice(tuple(_FIELDS))
        found = [k for k in range(len(data)) if data.startswith(mark, k)]
        if not found:
            continue
        offset, size = chance.choice(_FIELDS[mark])
        at = chance.choice(found) + offset
        most = 256**size - 1
        number = chance.choice(
            (0, 1, 8, 9, 12, 14, 99, 0x800, most, most // 2, chance.randint(0, most))
        )
        data[at : at + size] = (number & most).to_bytes(size, "little")
    return bytes(data)

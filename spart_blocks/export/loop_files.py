"""The C code around a subdiagram: a model with flat arrays of doubles for the loop of sb_loop.h,
its links, and a main program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spart_blocks.export.exported_links import LiveLink, link_initialisers
from spart_blocks.export.interface import numbers_of
from spart_blocks.export.step import StepCode
from spart_blocks.program.c.text import c_string, header, indented


def runtime_file(name: str) -> str:
    """The text of a file of the C runtime."""
    return header(f"export/c/{name}")


def model_header(code: StepCode) -> str:
    """The text of NAME_model.h."""
    interface = code.interface
    sizes = {"U": interface.inputs, "P": interface.parameters, "Y": interface.outputs}
    text = _named(runtime_file("model.h.in"), code)
    for letter, members in sizes.items():
        text = text.replace(f"SIZE_{letter}", str(numbers_of(members)))
    return re.sub(r"\bREAL\b", code.real, text)


def main_source(code: StepCode) -> str:
    """The text of main.c."""
    return _named(runtime_file("main.c.in"), code)


def _named(text: str, code: StepCode) -> str:
    text = re.sub(r"\bNAME_MODEL_H\b", f"{code.name.upper()}_MODEL_H", text)
    return re.sub(r"\bNAME(?=\b|_)", code.name, text)


def opened_in_c(link: LiveLink) -> bool:
    """Whether main.c opens a link."""
    return link.link.endpoint.packets_go_to() is not None


def links_header(code: StepCode, links: Sequence[LiveLink]) -> str:
    """The text of NAME_links.h: the frames and addresses of the links that main.c opens."""
    name = code.name
    reached = {link: link.link.endpoint.packets_go_to() for link in links}
    opened = {link: place for link, place in reached.items() if place is not None}
    rows: dict[str, list[str]] = {"receive": [], "send": []}
    for k, (live, (address, port)) in enumerate(opened.items()):
        safe = live.way == "send" and live.link.safe is not None
        values = [
            *(c_string(live.name), c_string(address), str(port)),
            *(f"&{name}_frame_{k}", f"{name}_safe_{k}" if safe else "NULL"),
            repr(float(live.link.timeout)),
        ]
        rows[live.way].append(f"{{{', '.join(values)}}},")
    none = '{"", "", 0, NULL, NULL, 0},'
    tables = []
    for way, found in rows.items():
        head = f"static const {name}_link {name}_{way}s[] = {{"
        tables.append("\n".join([head, *indented([*found, none]), "};"]))
    counts = {"INCOMING": rows["receive"], "OUTGOING": rows["send"]}
    texts = [
        f"/* The links of {name}, included by main.c. */",
        f'#ifndef {name.upper()}_LINKS_H\n#define {name.upper()}_LINKS_H\n\n#include "sb_link.h"',
        "\n".join(f"#define {name}_{word} {len(found)}" for word, found in counts.items()),
        f"""/* A link with its address. timeout: time for which a received frame is valid [s]. */
typedef struct {{
  const char *name, *address;
  unsigned short port;
  const sb_frame *frame;
  const double *safe;
  double timeout;
}} {name}_link;""",
        link_initialisers(list(opened), name),
        *tables,
        "#endif",
    ]
    return "\n\n".join(text.rstrip("\n") for text in texts if text) + "\n"

"""The reader of YAML text, which robots share: see spart_blocks/document.py."""

from spart_blocks.document import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_FAULTS,
    MAX_KEY,
    MAX_NODES,
    TEXT_NODE,
    Document,
    Key,
    Keys,
    parse_document,
    parse_value,
    read_document,
    text_size,
)

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_FAULTS",
    "MAX_KEY",
    "MAX_NODES",
    "TEXT_NODE",
    "Document",
    "Key",
    "Keys",
    "parse_document",
    "parse_value",
    "read_document",
    "text_size",
]

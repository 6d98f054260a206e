"""Writes docs/diagram.schema.json, the JSON Schema of diagram files, from their models.

python docs/make_schema.py
"""

from __future__ import annotations

from pathlib import Path

from spart_blocks.diagram.sections.schema import json_schema

SCHEMA = Path(__file__).with_name("diagram.schema.json")

if __name__ == "__main__":
    SCHEMA.write_text(json_schema(), encoding="utf-8")
    print(f"written: {SCHEMA}")

"""Diagrams as regression tests: a run is checked against their `expect:` section.

Importing this loads nothing; `files` finds tests, `check` runs one.
"""

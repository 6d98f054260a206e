"""Diagrams as regression tests: a run is checked against the claims of section `expect:`.

Importing this loads nothing; `files` finds tests, `check` runs one.
"""

"""Diagrams as regression tests: their `expect:` section, held against a run.

Importing this loads nothing; `files` finds tests, `check` runs one.
"""

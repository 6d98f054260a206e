"""Broken input of every format that the package reads, by the hundred thousand.

`python tests/nightly/fuzz` runs them; one module for each format, listed in formats.py.
Whatever comes in, the answer is a result or an error of the package, within LIMIT seconds.
"""

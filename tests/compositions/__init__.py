"""Random compositions of blocks: diagrams drawn from seeds, run in every way there is, compared
with each other and with a reference of their own, and made small where they differ.

One command: .venv/bin/python tests/compositions --from 0 --count 200
"""

"""The text of a diagram as data: its files, references, wires and conditions, before anything is
built.
"""

"""A diagram as it is written: its files, references, wires and conditions."""

"""Writes programs as C, and compiles C to libraries.

`writer` gives the functions, tables and sizes of a program for all loops that run it: in the
simulation's library, over lanes, in FMUs and in exported C. `functions` prints expressions, in one
of the `dialects`. `text` reads the headers of the package.
"""

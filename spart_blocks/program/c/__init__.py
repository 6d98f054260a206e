"""Programs as C source text, and C source text as libraries.

`writer` has the functions, tables and sizes of a program for every loop around them: in the
simulation's library, over lanes, in FMUs and in exported C. `functions` prints expressions, in a
dialect of `dialects`. `text` reads the headers of the package.
"""

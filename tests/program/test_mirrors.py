"""Structs of C and their mirrors in Python have one layout, or nothing compiles."""

import ctypes

import pytest

from spart_blocks.program.c.compiler import CompilerError, strict_loaded
from spart_blocks.program.c.text import mirrored

STRUCT = "typedef struct { int first; double in; int kinds[3]; } thing;\n"


def mirror(*fields):
    class Thing(ctypes.Structure):
        _fields_ = fields

    return STRUCT + mirrored({"thing": Thing})


FIRST, IN, KINDS = ("first", ctypes.c_int), ("in_", ctypes.c_double), ("kinds", ctypes.c_int * 3)


def test_a_mirror_of_the_same_layout_compiles():
    strict_loaded(mirror(FIRST, IN, KINDS), ("-std=c99", "-Wall", "-Wextra", "-Werror"))


@pytest.mark.parametrize(
    "fields",
    [
        (IN, FIRST, KINDS),  # swapped
        (FIRST, ("in_", ctypes.c_float), KINDS),
        (FIRST, IN, ("kinds", ctypes.c_int * 2)),
        (FIRST, IN),
        (FIRST, IN, KINDS, ("more", ctypes.c_int)),
        (("first", ctypes.c_double), IN, KINDS),
    ],
)
def test_one_of_another_layout_does_not(fields):
    with pytest.raises(CompilerError):
        strict_loaded(mirror(*fields), ())


def test_swapped_fields_of_the_same_size_do_not_either():
    class Pair(ctypes.Structure):
        _fields_ = (("b", ctypes.c_int), ("a", ctypes.c_int))

    with pytest.raises(CompilerError):
        strict_loaded("typedef struct { int a, b; } pair;\n" + mirrored({"pair": Pair}), ())

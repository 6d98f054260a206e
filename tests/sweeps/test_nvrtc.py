"""Kernels compile for a card that need not be there, and take few registers."""

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from kernel_usage import usages
from lane_libraries import Lanes, same_bits

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.program.c.compiler import compiler_name, loaded_library
from spart_blocks.program.c.dialects import FLAGS, LANES, numbers_header
from spart_blocks.program.c.functions import c_function
from spart_blocks.sweeps.run.card import KernelError, cubin

pytest.importorskip("cuda.bindings.nvrtc")

DIAGRAMS = Path(__file__).parents[2] / "diagrams"


# The rates of many runs, whose numbers stand run by run.
KERNEL = """
SB_KERNEL void all_rates(long long n, const SB_REAL *t, const SB_REAL *x, const SB_REAL *xd,
                         const SB_REAL *p, SB_REAL *out) {
  for (long long k = SB_THREAD; k < n; k += SB_THREADS)
    rates(t[k], x + k * NX, xd + k * ND, p + k * NP, out + k * NX);
}
"""


def kernel_of(program, *, single=False):
    sizes = {"NX": len(program.x0), "ND": len(program.xd0), "NP": len(program.p)}
    head = "#define SB_SINGLE\n" * single + numbers_header()
    text = c_function("rates", program.rates, dialect=LANES) + KERNEL
    return head + re.sub(r"\bN[XDP]\b", lambda name: str(sizes[name[0]]), text)


@pytest.mark.parametrize(("single", "most"), [(False, 220), (True, 120)])
def test_the_rates_of_a_spacecraft_need_no_memory_for_registers(single, most):
    program = sb.trace(DIAGRAMS / "spacecraft_pd.yaml")
    made = cubin(kernel_of(program, single=single))
    assert made.code.startswith(b"\x7fELF")
    usage = usages(made.log)["all_rates"]
    print(usage)
    assert (usage.stored, usage.loaded) == (0, 0)
    assert usage.registers <= most


@pytest.mark.parametrize("name", ["signals/recorded_motion", "signals/thrusters"])
def test_tables_and_switching_blocks_compile(name):
    made = cubin(kernel_of(sb.trace(DIAGRAMS / f"{name}.yaml")))
    assert usages(made.log)["all_rates"].registers < 256


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_a_kernel_compiled_as_c_has_the_bits_of_a_lane():
    program = sb.trace(DIAGRAMS / "spacecraft_pd.yaml")
    library = loaded_library(kernel_of(program), FLAGS)
    rng = np.random.default_rng(6)
    given = [
        np.zeros((16, 1)),
        *(np.tile(v, (16, 1)) for v in (program.x0, program.xd0, program.p)),
    ]
    given[1] += 0.1 * rng.standard_normal(given[1].shape)
    out = np.zeros((16, len(program.x0)))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*given, out)]
    library.all_rates(ctypes.c_longlong(16), *pointers)
    assert same_bits(out, Lanes({"rates": program.rates}, 8)("rates", *given))


def test_what_is_no_kernel_is_refused_with_what_the_compiler_said():
    with pytest.raises(KernelError, match=r'runs.cu\(1\): error: identifier "nothing"'):
        cubin('extern "C" __global__ void f() { nothing(); }')
    with pytest.raises(InputError, match="NVRTC does not compile for sm_1"):
        cubin('extern "C" __global__ void f() {}', "sm_1")


def test_spills_of_called_functions_count_too():
    log = """ptxas info    : Compiling entry function 'go' for 'sm_90'
ptxas info    : Function properties for go
ptxas         .     48 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 64 bytes cumulative stack size
ptxas info    : Function properties for part
ptxas         .     16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads"""
    (usage,) = usages(log).values()
    assert (usage.registers, usage.stack, usage.stored, usage.loaded) == (255, 64, 12, 20)

"""Forward dynamics, inverse dynamics and inertia matrix, against Pinocchio.

From Python, each by its fastest public call:
  ours        call = sb.compiled(f, ...).bound(...); call()
  checked     sb.compiled(f, ...)(q, v, tau), which checks, copies, gives fresh results
  pinocchio   pinocchio.aba(model, data, q, v, tau), rnea, crba

In a loop in C, without Python: ours by its address, and Pinocchio's headers compiled here
with -O3 -march=native -DNDEBUG, which takes g++ two minutes, once.

Both sides take the same arrays in the same coordinates and gravity, and their results are
compared first. The 7-joint arm has a fixed base; Talos (pip install example-robot-data) is
free-flying. Interleaved rounds; medians, and the median of each round's ratio.

Run: python benchmarks/dynamics.py [--rounds 21] [--moment 0.05] [--eigen FOLDER] [--keep]
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
from side_by_side import arguments, keep
from twins import ARM, Twins, humanoid, interleaved, ratio, repeated

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name, shared_library

Peers = dict[str, Callable[[int], None]]

# What each computes, of what, and by which function of Pinocchio.
ALGORITHMS = {
    "forward": (("q", "v", "tau"), "aba"),
    "inverse": (("q", "v", "a"), "rnea"),
    "inertia": (("q",), "crba"),
}

LOOP = """
typedef int (*sb_function)(const double **, double **, long long *, double *, int);
void sb_loop(sb_function f, const double **arg, double **res, long long calls) {
  while (calls--) f(arg, res, 0, 0, 0);
}
"""


def pointers(arrays: list[np.ndarray]) -> ctypes.Array:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


def c_loop(function: sb.program.CompiledFunction, given: list[np.ndarray], out: np.ndarray):
    """Our function called from a loop in C."""
    loop = ctypes.CDLL(str(shared_library(LOOP))).sb_loop
    loop.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_longlong]

    def repeat(calls: int) -> None:
        loop(function.address, pointers(given), pointers([out]), calls)

    return repeat


def pinocchio_library(eigen: Path) -> ctypes.CDLL:
    """Pinocchio's headers and pinocchio_loop.cpp, compiled (minutes) or from before."""
    source = Path(__file__).with_name("pinocchio_loop.cpp")
    headers = Path(pin.__file__).parents[4] / "include"
    flags = ["-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w", "-fPIC", "-shared"]
    # As Pinocchio's own build has it: its joint types are more than Boost's default.
    flags += ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"]
    flags += ["-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"]
    command = [os.environ.get("CXX", "g++"), *flags, f"-I{headers}", f"-I{eigen}", str(source)]
    key = hashlib.sha256((" ".join(command) + source.read_text()).encode()).hexdigest()[:16]
    made = Path(tempfile.gettempdir()) / f"spart-pinocchio-{os.getuid()}-{key}.so"
    if not made.exists():
        subprocess.run([*command, "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


def cpp_twin(library: ctypes.CDLL, model: pin.Model) -> ctypes.c_void_p:
    kinds = ["FreeFlyer", "RX", "RY", "RZ", "PX", "PY", "PZ"]
    kind = [kinds.index(j.shortname().removeprefix("JointModel")) for j in model.joints[1:]]
    places = [np.append(M.rotation.ravel(), M.translation) for M in model.jointPlacements[1:]]
    lower = np.tril_indices(3)
    bodies = [np.concatenate([[I.mass], I.lever, I.inertia[lower]]) for I in model.inertias[1:]]
    given = [
        np.array(list(model.parents)[1:], np.int64), np.array(kind, np.int64),
        np.concatenate(places), np.concatenate(bodies), np.array(model.gravity.linear),
    ]  # fmt: skip
    library.twin.restype = ctypes.c_void_p
    addresses = (ctypes.c_void_p(array.ctypes.data) for array in given)
    return ctypes.c_void_p(library.twin(ctypes.c_longlong(len(kind)), *addresses))


def cpp_loop(
    library: ctypes.CDLL, peer: str, model: pin.Model, given: list[np.ndarray], out: np.ndarray
) -> Callable[[int], None]:
    """Pinocchio's function called from a loop in C++."""
    twin, loop = cpp_twin(library, model), getattr(library, peer)

    def repeat(calls: int) -> None:
        addresses = (ctypes.c_void_p(array.ctypes.data) for array in (*given, out))
        loop(twin, *addresses, ctypes.c_longlong(calls))

    return repeat


def peers_of(twins: Twins, algorithm: str, library: ctypes.CDLL | None) -> tuple[Peers, Peers]:
    """Those called from Python, and those called in a loop, checked against each other."""
    names, peer = ALGORITHMS[algorithm]
    given = [twins.random()[name] for name in names]
    function = sb.compiled(getattr(twins, algorithm), *(array.shape for array in given))
    model, data, theirs = twins.model, twins.model.createData(), getattr(pin, peer)
    call = function.bound(*given)
    truth = np.array(theirs(model, data, *given))
    truth = np.triu(truth) + np.triu(truth, 1).T if truth.ndim == 2 else truth
    assert np.abs(call() - truth).max() < 1e-9 * np.abs(truth).max(), algorithm
    in_python = {
        "ours": repeated(call),
        "checked": repeated(lambda: function(*given)),
        "pinocchio": repeated(
            {
                1: lambda: theirs(model, data, given[0]),
                3: lambda: theirs(model, data, given[0], given[1], given[2]),
            }[len(given)]
        ),
    }
    in_c = {}
    if function.address:
        in_c["ours"] = c_loop(function, given, np.zeros_like(truth))
    if library:
        out = np.zeros_like(truth)
        in_c["pinocchio"] = cpp_loop(library, peer, model, given, out)
        in_c["pinocchio"](1)
        found = np.triu(out.T) + np.triu(out.T, 1).T if out.ndim == 2 else out
        assert np.abs(found - truth).max() < 1e-9 * np.abs(truth).max(), f"{algorithm} in C++"
    return in_python, in_c


def report(
    where: str, algorithm: str, peers: Peers, options: argparse.Namespace
) -> dict[str, float]:
    """Print the times; the figures to keep."""
    times = interleaved(peers, options.rounds, options.moment)
    cells = [f"{name} {statistics.median(t) * 1e6:7.3f} us" for name, t in times.items()]
    figures = {f"{name} us": statistics.median(t) * 1e6 for name, t in times.items()}
    if len(times) > 1 and "pinocchio" in times:
        factor = figures["ratio"] = ratio(times, "ours", "pinocchio")
        cells.append(f"ours is {factor:.2f} x as fast as {ALGORITHMS[algorithm][1]}")
    print(f"  {algorithm:8} {where:12}", "   ".join(cells), flush=True)
    return {f"{algorithm} {where} {name}": value for name, value in figures.items()}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--moment", type=float, default=0.05, help="seconds of each round")
    parser.add_argument(
        "--eigen",
        type=Path,
        default=Path(ca.__file__).parent / "include" / "eigen3",
        help="folder of Eigen's headers, by default those that CasADi brings",
    )
    options = parser.parse_args()
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    library = pinocchio_library(options.eigen) if compiler else None
    if library is None:
        print("no C++ compiler (CXX): the loops in C are left out")
    print(f"pinocchio {pin.__version__}, casadi {ca.__version__}, numpy {np.__version__}")
    print(f"compiler: {compiler_name()}")
    robots = [Twins(ARM, floating=False)]
    talos = humanoid()
    if talos:
        robots.append(Twins(talos, floating=True))
    figures: dict[str, float] = {}
    for twins, robot in zip(robots, ("arm", "humanoid"), strict=False):
        print(f"{twins.name}, gravity {twins.model.gravity.linear}")
        for algorithm in ALGORITHMS:
            in_python, in_c = peers_of(twins, algorithm, library)
            found = report("from Python", algorithm, in_python, options)
            if in_c:
                found |= report("in C", algorithm, in_c, options)
            figures |= {f"{robot} {name}": value for name, value in found.items()}
    if not talos:
        print("no humanoid: pip install example-robot-data")
    if options.keep:
        keep(__file__, figures, "pin", "casadi")


if __name__ == "__main__":
    main()

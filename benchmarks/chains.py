"""Forward dynamics of chains of 20, 40 and 80 links: the cost of a link, and of compiling.

Each link is a meter long and turns about x, y or z of the one before, which stands askew;
the base is fixed, and gravity the same on both sides. The price of a link should not depend
on their number, though the code grows with it. Times are of calls from Python, ours bound
and pinocchio.aba(model, data, q, v, tau), in interleaved rounds over all chains; medians.
Tracing and compiling is timed with an empty cache.

Run: python benchmarks/chains.py [--links 20 40 80] [--rounds 21] [--moment 0.05] [--keep]
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pinocchio as pin
from side_by_side import arguments, keep
from twins import Twins, interleaved, ratio, repeated

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name

JOINT = """
<joint name="j{k}" type="revolute"><parent link="l{before}"/><child link="l{k}"/>
  <origin xyz="0.1 0 1" rpy="0.3 0.2 0"/><axis xyz="{axis}"/>
  <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<link name="l{k}"><inertial><origin xyz="0.01 0.02 0.5"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.12" izz="0.05" ixy="0.01" ixz="0.005" iyz="0.003"/>
</inertial></link>"""
AXES = ("1 0 0", "0 1 0", "0 0 1")


def chain(folder: Path, links: int) -> Twins:
    joints = (JOINT.format(k=k, before=k - 1, axis=AXES[k % 3]) for k in range(1, links + 1))
    path = folder / f"chain{links}.urdf"
    path.write_text(f'<robot name="chain"><link name="l0"/>{"".join(joints)}\n</robot>')
    return Twins(path, floating=False)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--links", type=int, nargs="+", default=[20, 40, 80])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--moment", type=float, default=0.05, help="seconds of each round")
    options = parser.parse_args()
    peers, compiling = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPART_CACHE"] = folder  # empty
        print(f"pinocchio {pin.__version__}, compiler: {compiler_name()}")
        for links in options.links:
            twins = chain(Path(folder), links)
            q, v, tau = (twins.random()[name] for name in ("q", "v", "tau"))
            model, data = twins.model, twins.model.createData()
            start = time.perf_counter()
            function = sb.compiled(twins.forward, links, links, links)
            compiling[links] = time.perf_counter() - start
            call, truth = function.bound(q, v, tau), pin.aba(model, data, q, v, tau)
            assert np.abs(call() - truth).max() < 1e-9 * np.abs(truth).max()
            peers[f"ours {links}"] = repeated(call)
            peers[f"pinocchio {links}"] = repeated(
                lambda m=model, d=data, q=q, v=v, tau=tau: pin.aba(m, d, q, v, tau)
            )
        times = interleaved(peers, options.rounds, options.moment)
    prices, figures = [], {}
    for links in options.links:
        ours, theirs = f"ours {links}", f"pinocchio {links}"
        a, b = (statistics.median(times[name]) / links * 1e9 for name in (ours, theirs))
        prices.append(a)
        figures |= {f"{links} link ns": a, f"{links} compiling s": compiling[links]}
        print(
            f"{links:3} links: ours {a:6.1f} ns a link, pinocchio {b:6.1f}, "
            f"{ratio(times, ours, theirs):.2f} x as fast; "
            f"traced and compiled in {compiling[links]:.1f} s"
        )
    print(f"the dearest link costs {max(prices) / min(prices) - 1:.0%} more than the cheapest")
    figures |= {"cheapest link ns": min(prices), "dearest link ns": max(prices)}
    if options.keep:
        keep(__file__, figures, "pin", "casadi")


if __name__ == "__main__":
    main()

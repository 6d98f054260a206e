"""Writes docs/speed.md and the table of README.md, from the figures that benchmarks/ have kept.

python docs/make_speed_page.py
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "benchmarks" / "results.json"
PAGE, README = ROOT / "docs" / "speed.md", ROOT / "README.md"

# {script[name of a figure]}, by the names in the kept file; {machine} and {versions} of all.
TEXT = """\
# Speed

<!-- Written by docs/make_speed_page.py from benchmarks/results.json. Do not edit. -->

Compared with the fastest interface of each peer ({machine}; {versions};
medians of interleaved runs, results compared first). Each script of
[benchmarks/](../benchmarks/) has kept its figures by `--keep` in `results.json` there, with the
day, the commit, the processor, the compiler and the versions; this page is made of them. Other
work ran on the same cores, so that times may be two to three times those of an idle machine;
ratios vary less, since peers take turns.

| what | peer | this package | ratio |
| --- | --- | --- | --- |
| 7-joint arm, PD to a moving reference, 10 s at rtol 1e-6, the solver's loop | bdsim, \
`pinocchio.aba` in its plant: {closed_loop[bdsim loop s]} s | compiled, RK45: \
{closed_loop[compiled loop s]} s | {closed_loop[compiled loop ratio]} |
| | the same | without a compiler, CVODES: {closed_loop[native loop s]} s | \
{closed_loop[native loop ratio]} |
| the same arm, controller sampled at 1 kHz, 10 s | bdsim: {sampled[bdsim loop s]} s | compiled, \
RK45: {sampled[RK45 loop s]} s | {sampled[RK45 loop ratio]} |
| | the same | compiled, RK4: {sampled[RK4 loop s]} s | {sampled[RK4 loop ratio]} |
| the same arm, RK4 at 1 kHz, 10 s | MuJoCo's `mj_step` with RK4: {fixed_step[mujoco loop s]} s \
| compiled, RK4: {fixed_step[compiled loop s]} s | {fixed_step[compiled loop ratio]} |
| the same, whole call | reading the model and `mj_step`: {fixed_step[mujoco call s]} s | \
`sb.simulate`: {fixed_step[compiled call s]} s | {fixed_step[compiled call ratio]} |
| seven stiff problems of 2 to 20 states, rtol 1e-4 to 1e-10 | CVODE in C of its own, exact \
Jacobian, at the error that it has | Rodas5P | {stiff[least ratio]} to {stiff[largest ratio]} |
| a heated rod of 1,000 cells | the same with KLU | the same | {stiff[heat_rod_1000 ratio]} |
| a delta robot that presses on a stiff table, 55 states | the same, dense | the same | \
{stiff[delta_contact ratio]} |
| the first row for sets of gains and starts, CPU time of each on a core | bdsim in \
processes: {many_runs[bdsim in processes s]} s | {many_runs[lanes]} lanes: \
{many_runs[usual lanes s]} s | {many_runs[bdsim in processes ratio]} |
| | Drake's serial Monte Carlo: {many_runs[drake, serial s]} s | the same | \
{many_runs[drake, serial ratio]} |
| | MuJoCo's `rollout`, RK4 at 1 ms: {many_runs[mujoco rollout, 1 ms s]} s, error \
{many_runs[mujoco rollout, 1 ms error]} | the same, error {many_runs[usual lanes error]} | \
{many_runs[mujoco rollout, 1 ms ratio]} |
| forward dynamics in lanes, a core | Pinocchio's C++: {lanes[pinocchio ns]} ns | \
{lanes[lanes]} lanes: {lanes[usual lanes ns]} ns | {lanes[usual lanes ratio]} |
| forward dynamics, a call from Python, arm / Talos (44 joints) | `pinocchio.aba`: \
{dynamics[arm forward from Python pinocchio us]} / \
{dynamics[humanoid forward from Python pinocchio us]} us | \
{dynamics[arm forward from Python ours us]} / {dynamics[humanoid forward from Python ours us]} us \
| {dynamics[arm forward from Python ratio]} / {dynamics[humanoid forward from Python ratio]} |
| inverse dynamics | `pinocchio.rnea`: {dynamics[arm inverse from Python pinocchio us]} / \
{dynamics[humanoid inverse from Python pinocchio us]} us | \
{dynamics[arm inverse from Python ours us]} / {dynamics[humanoid inverse from Python ours us]} us \
| {dynamics[arm inverse from Python ratio]} / {dynamics[humanoid inverse from Python ratio]} |
| inertia matrix | `pinocchio.crba`: {dynamics[arm inertia from Python pinocchio us]} / \
{dynamics[humanoid inertia from Python pinocchio us]} us | \
{dynamics[arm inertia from Python ours us]} / {dynamics[humanoid inertia from Python ours us]} us \
| {dynamics[arm inertia from Python ratio]} / {dynamics[humanoid inertia from Python ratio]} |
| forward dynamics in a loop in C | Pinocchio's C++: {dynamics[arm forward in C pinocchio us]} / \
{dynamics[humanoid forward in C pinocchio us]} us | {dynamics[arm forward in C ours us]} / \
{dynamics[humanoid forward in C ours us]} us | {dynamics[arm forward in C ratio]} / \
{dynamics[humanoid forward in C ratio]} |
| inverse dynamics in a loop in C | Pinocchio's C++: {dynamics[arm inverse in C pinocchio us]} / \
{dynamics[humanoid inverse in C pinocchio us]} us | {dynamics[arm inverse in C ours us]} / \
{dynamics[humanoid inverse in C ours us]} us | {dynamics[arm inverse in C ratio]} / \
{dynamics[humanoid inverse in C ratio]} |
| inertia matrix in a loop in C | Pinocchio's C++: {dynamics[arm inertia in C pinocchio us]} / \
{dynamics[humanoid inertia in C pinocchio us]} us | {dynamics[arm inertia in C ours us]} / \
{dynamics[humanoid inertia in C ours us]} us | {dynamics[arm inertia in C ratio]} / \
{dynamics[humanoid inertia in C ratio]} |
| forward dynamics with 2 of 6 joints prescribed, compiled | without prescribed joints: \
{hybrid_dynamics[6-joint arm, forward dynamics us]} us | \
{hybrid_dynamics[6-joint arm, joints 2 and 5 prescribed us]} us | \
{hybrid_dynamics[6-joint arm, joints 2 and 5 prescribed ratio]} |
| delta robot, 24 rates and 15 loop rows: accelerations and loop forces, a call from Python | \
`pinocchio.constraintDynamics`: {closed_chains[pinocchio us]} us, loops open by \
{closed_chains[pinocchio loops m/s^2]} m/s^2 | {closed_chains[spart_blocks us]} us, \
{closed_chains[spart_blocks loops m/s^2]} m/s^2 | {closed_chains[pinocchio ratio]} |
| | MuJoCo's `mj_forward`, `connect`: {closed_chains[mujoco us]} us, soft | the same | \
{closed_chains[mujoco ratio]} |
| a step by RK4 at 1 kHz, arm / spacecraft, outputs kept | the simulation's own compiled loop: \
{exported_step[arm_computed_torque, own us]} / {exported_step[spacecraft_pd, own us]} us | \
exported C: {exported_step[arm_computed_torque, C us]} / {exported_step[spacecraft_pd, C us]} us | \
{exported_step[arm_computed_torque, ratio]} / {exported_step[spacecraft_pd, ratio]} |
| a page that runs, in Chromium: the 7-joint arm of the gallery, 8 s / a spacecraft, 20 s | the \
same in a lane of native code, called from Python: {web_pages[arm_computed_torque lane ms]} / \
{web_pages[spacecraft_pd lane ms]} ms | {web_pages[arm_computed_torque run ms]} / \
{web_pages[spacecraft_pd run ms]} ms; {web_pages[arm_computed_torque kB]} / \
{web_pages[spacecraft_pd kB]} kB | {web_pages[arm_computed_torque ratio]} / \
{web_pages[spacecraft_pd ratio]} |
| 1,000 blocks: load, trace, compile, run 1 s | bdsim's `compile` alone: \
{many_blocks[1000 bdsim compile s]} s | {many_blocks[1000 whole s]} s | |
| 10,000 blocks: the same | bdsim's `compile` alone: {many_blocks[10000 bdsim compile s]} s | \
{many_blocks[10000 whole s]} s | |

The default record, which keeps what straight lines need, costs the loop of six diagrams \
{record[least loop ratio]} to {record[largest loop ratio]} times as much as 501 samples, and the
whole call {record[least call ratio]} to {record[largest call ratio]} times.

In `spart realtime`, a minute at 1 kHz on the same two shared cores, the step of the arm's
computed-torque controller takes {realtime_loop[step p99 us]} us at p99 and misses \
{realtime_loop[missed]} deadlines; the machine woke the loop too late for {realtime_loop[late]} of
{realtime_loop[steps]}. With plant and controller in two processes over UDP the arm stays within
{hardware_in_the_loop[python, clean rad]} rad of the all-in-one simulation.

The pick-and-place of the delta robot, under computed torque and with inverse kinematics in the
loop, runs {record[loops/delta_pick_and_place real time]} times faster than real time.

Tracing, checking and compiling the arm takes {closed_loop[empty cache s]} s, once; from the cache
{closed_loop[from the cache s]} s. A chain of 20, 40 or 80 links costs {chains[cheapest link ns]} to
{chains[dearest link ns]} ns a link; the longest compiles in {chains[80 compiling s]} s. A second
`spart run` of a file takes {page_figures[second run s]} s of processor time, its three pictures
included, most of it to import Matplotlib and to draw.
"""

TABLE = """\
| what | peer | ratio |
| --- | --- | --- |
| 7-joint arm under PD, 10 s at rtol 1e-6 | bdsim with Pinocchio in its plant | \
{closed_loop[compiled loop ratio]} |
| the same without a C compiler | the same | {closed_loop[native loop ratio]} |
| the same arm, its controller sampled at 1 kHz | the same | {sampled[RK45 loop ratio]} |
| the same arm, RK4 at 1 kHz | MuJoCo's `mj_step` with RK4 | {fixed_step[compiled loop ratio]} |
| seven stiff problems of 2 to 20 states, at equal error | CVODE in C | \
{stiff[least ratio]} to {stiff[largest ratio]} |
| many runs of it, CPU time of each on a core | Drake's serial Monte Carlo | \
{many_runs[drake, serial ratio]} |
| forward dynamics, a call from Python | `pinocchio.aba` | \
{dynamics[arm forward from Python ratio]} |
| delta robot, accelerations and loop forces | `pinocchio.constraintDynamics` | \
{closed_chains[pinocchio ratio]} |
"""

NAMES = {"pin": "Pinocchio", "mujoco": "MuJoCo", "drake": "Drake", "bdsim": "bdsim"}


def told(value: float) -> str:
    """A figure as pages tell it: counts in full, others in two digits, from 100 on in three."""
    if isinstance(value, int):
        return f"{value:,}"
    short = f"{value:.{2 if abs(value) >= 100 else 1}e}"
    return short.replace("e-0", "e-") if abs(value) < 1e-3 else f"{Decimal(short):,f}"


def kept() -> dict[str, Any]:
    """What each script has kept: see `keep` of benchmarks/side_by_side.py."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def filled(text: str) -> str:
    """The text with the kept figures in its fields."""
    scripts = kept()
    figures = {
        name: {key: told(value) for key, value in script["figures"].items()}
        for name, script in scripts.items()
    }
    machines = sorted({script["processor"] for script in scripts.values()})
    return text.format(**figures, machine=" and ".join(machines), versions=_versions(scripts))


def _versions(scripts: dict[str, Any]) -> str:
    told = []
    for package, name in NAMES.items():
        those = {script["versions"].get(package) for script in scripts.values()} - {None}
        told.append(f"{name} {' and '.join(sorted(those))}")
    compilers = {script["compiler"] for script in scripts.values()}
    return ", ".join([*told, *sorted(compilers)])


def pages() -> dict[Path, str]:
    """The text of each page."""
    readme = README.read_text(encoding="utf-8")
    head, heading, rest = readme.partition("\n## Speed\n")
    table = filled(TABLE)
    rest = re.sub(r"^\|.*?\n(?=\n)", lambda _: table, rest, count=1, flags=re.M | re.S)
    return {PAGE: filled(TEXT), README: head + heading + rest}


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
        print(f"written: {page}")

"""What located crossings cost: a current controller at 5 kHz behind a converter of 0.01 A, the
current a sine of 5 A at 50 Hz, so that a tick passes over up to 31 levels.

Interleaved, medians of `--repeat` runs in one process:
  gain      a GAIN in place of the converter
  unread    the converter, which only the controller reads, at its ticks: nothing is located
  recorded  its signal is in the record: every level is located in the steps
  felt      it is fed back to the circuit, too: steps end before every level
For each the loop and its ratio to that of `gain`, how many times the signal jumps between two
ticks, and what one such crossing costs.

Run: python benchmarks/crossings.py [--repeat 25] [--t 0.05]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

import numpy as np

import spart_blocks as sb

DIAGRAM = """
clocks: {{ctrl: {{rate: 5000}}}}
blocks:
  wanted: {{type: WAVEFORM, wave: sine, freq: 50, amplitude: 5}}
  adc: {{{adc}}}
  error: {{type: SUM, signs: "+-"}}
  gain: {{type: GAIN, K: 0.5}}
  held: {{type: ZOH, clock: ctrl}}
  integral: {{type: INTEGRATOR_S, clock: ctrl, gain: 200}}
  volts: {{type: SUM, signs: "++"}}
  winding: {{type: FCN, expression: "(v - 0.5*i)/1e-3", arguments: [v, i]}}
  current: {{type: INTEGRATOR}}
wires:
  - current -> adc
  - {drop} -> winding.i
  - wanted -> error.0
  - adc -> error.1
  - error -> gain, integral
  - gain -> held
  - held -> volts.0
  - integral -> volts.1
  - volts -> winding.v
  - winding -> current
run: {{T: {T}, log: [{log}]}}
"""
QUANTIZER, ONE = "type: QUANTIZER, interval: 0.01", "type: GAIN, K: 1"
CASES = {
    "gain": {"adc": ONE, "drop": "current", "log": "adc"},
    "unread": {"adc": QUANTIZER, "drop": "current", "log": ""},
    "recorded": {"adc": QUANTIZER, "drop": "current", "log": "adc"},
    "felt": {"adc": QUANTIZER, "drop": "adc", "log": "adc"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=25)
    parser.add_argument("--t", type=float, default=0.05, help="end time [s]")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs = {}
        for name, case in CASES.items():
            path = Path(folder) / f"{name}.yaml"
            path.write_text(DIAGRAM.format(**case, T=given.t))
            programs[name] = sb.trace(sb.load(path))
        loops: dict[str, list[float]] = {name: [] for name in CASES}
        found = {}
        for k in range(given.repeat + 1):
            for name, program in programs.items():
                found[name] = sb.simulate(program)
                if k:  # the first compiles
                    loops[name].append(found[name].info["wall_time"])
    base = statistics.median(loops["gain"])
    print(f"{'':<10}{'loop [ms]':>11}{'ratio':>8}{'crossings':>11}{'each [us]':>11}")
    for name, results in found.items():
        loop, jumps = statistics.median(loops[name]), 0
        if name in ("recorded", "felt"):
            jumps = np.count_nonzero(np.diff(results["adc"], axis=0))
        each = f"{1e6 * (loop - base) / jumps:>11.2f}" if jumps else ""
        print(f"{name:<10}{1e3 * loop:>11.2f}{loop / base:>8.1f}{jumps:>11,}{each}")


if __name__ == "__main__":
    main()

// The amplitude spectrum of a stretch of a signal.

import type { Column } from "../run/column";
import { valueAt } from "../run/record";

const [FEWEST, MOST] = [64, 8192]; // points

export interface Spectrum {
  /** Hz. */
  f: Float64Array;
  /** Of a sine, its amplitude. */
  amplitude: Float64Array;
  /** Points that were transformed. */
  count: number;
}

/** The spectrum between two times: as many even samples as there are rows, a power of two, linear
 * between rows; without their mean; Hann's window. It ends where rows are too sparse to tell more. */
export function spectrumOf(t: Float64Array, column: Column, from: number, to: number): Spectrum | null {
  let rows = 0;
  for (const time of t) if (time >= from && time <= to) rows++;
  if (!(to > from) || rows < 8) return null;
  const count = Math.min(Math.max(2 ** Math.ceil(Math.log2(rows)), FEWEST), MOST);
  const re = new Float64Array(count);
  for (let k = 0; k < count; k++) re[k] = valueAt(t, column, from + (k / count) * (to - from));
  const bins = Math.min(count / 2, Math.floor(rows / 2)) + 1;
  const amplitude = amplitudes(re).slice(0, bins);
  return { f: Float64Array.from({ length: bins }, (_, k) => k / (to - from)), amplitude, count };
}

/** The amplitudes of even samples, of frequencies from 0 to half their rate: without their mean, by
 * Hann's window, whose gain is taken out. */
export function amplitudes(samples: Float64Array): Float64Array {
  const { length } = samples;
  const mean = samples.reduce((sum, one) => sum + one, 0) / length;
  const re = samples.map((one, k) => (one - mean) * 0.5 * (1 - Math.cos((2 * Math.PI * k) / length)));
  const im = new Float64Array(length);
  transform(re, im);
  return Float64Array.from({ length: length / 2 + 1 }, (_, k) => (Math.hypot(re[k]!, im[k]!) * (k === 0 || 2 * k === length ? 2 : 4)) / length);
}

/** Fourier transform in place, of a power of two of numbers (Cooley and Tukey, 1965). */
export function transform(re: Float64Array, im: Float64Array): void {
  const count = re.length;
  for (let i = 1, j = 0; i < count; i++) { // into the order of reversed bits
    let bit = count >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    [re[i], re[j]] = [re[j]!, re[i]!];
    [im[i], im[j]] = [im[j]!, im[i]!];
  }
  for (let size = 2; size <= count; size *= 2) {
    const half = size / 2;
    for (let k = 0; k < half; k++) {
      const [c, s] = [Math.cos((-2 * Math.PI * k) / size), Math.sin((-2 * Math.PI * k) / size)];
      for (let at = k; at < count; at += size) {
        const [x, y] = [re[at + half]! * c - im[at + half]! * s, re[at + half]! * s + im[at + half]! * c];
        re[at + half] = re[at]! - x;
        im[at + half] = im[at]! - y;
        re[at]! += x;
        im[at]! += y;
      }
    }
  }
}

/** The frequency with the largest amplitude, between bins as a parabola through three has it. */
export function peakOf({ f, amplitude }: Spectrum): number {
  let at = 1;
  for (let k = 2; k < amplitude.length; k++) if (amplitude[k]! > amplitude[at]!) at = k;
  const [before, here, after] = [amplitude[at - 1] ?? 0, amplitude[at] ?? 0, amplitude[at + 1] ?? 0];
  const bend = before - 2 * here + after;
  return (f[at] ?? 0) + (bend < 0 ? (0.5 * (before - after) * (f[1] ?? 0)) / bend : 0);
}

// The ticks of axes: their steps and texts.

import { tickText } from "../../../viewer/src/numbers";

/** The steps of ticks: 1, 2 and 5 times powers of ten, as `tickText` writes them. */
export const STEPS = Array.from({ length: 90 }, (_, k) => [1, 2, 5][k % 3]! * 10 ** (Math.floor(k / 3) - 15));

/** The texts of ticks, all with as many decimals as their step needs. */
export function texts(splits: readonly number[]): string[] {
  const step = splits.length > 1 ? splits[1]! - splits[0]! : 1;
  return splits.map((value) => tickText(Math.abs(value) < 1e-9 * step ? 0 : value, step));
}

// Differences of two texts by lines: patience, so that what has moved apart stays what it is.

import type { LineChange } from "../protocol";

/** The changes that turn the lines `before` into `after`, in order. */
export function lineChanges(before: readonly string[], after: readonly string[]): LineChange[] {
  const found: LineChange[] = [];
  compare(before, after, 0, before.length, 0, after.length, found);
  return found;
}

function compare(a: readonly string[], b: readonly string[], i: number, iEnd: number, j: number, jEnd: number, found: LineChange[]): void {
  while (i < iEnd && j < jEnd && a[i] === b[j]) { i++; j++; }
  while (i < iEnd && j < jEnd && a[iEnd - 1] === b[jEnd - 1]) { iEnd--; jEnd--; }
  if (i === iEnd && j === jEnd) return;
  const anchors = i < iEnd && j < jEnd ? anchorsOf(a, b, i, iEnd, j, jEnd) : [];
  if (anchors.length === 0) {
    found.push([i, iEnd, b.slice(j, jEnd)]);
    return;
  }
  for (const [x, y] of anchors) {
    compare(a, b, i, x, j, y, found);
    [i, j] = [x + 1, y + 1];
  }
  compare(a, b, i, iEnd, j, jEnd, found);
}

/** Pairs of equal lines that are in both texts once: the longest sequence of them in order. */
function anchorsOf(a: readonly string[], b: readonly string[], i: number, iEnd: number, j: number, jEnd: number): [number, number][] {
  const theirs = onceIn(b, j, jEnd);
  const pairs: [number, number][] = [];
  for (const [line, x] of onceIn(a, i, iEnd)) {
    const y = theirs.get(line);
    if (y !== undefined) pairs.push([x, y]);
  }
  pairs.sort(([x], [y]) => x - y);
  const ends: number[] = []; // the last pair of the best sequence of each length
  const before: number[] = [];
  pairs.forEach(([, y], k) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![1] < y) low = middle + 1;
      else high = middle;
    }
    before[k] = low > 0 ? ends[low - 1]! : -1;
    ends[low] = k;
  });
  const found: [number, number][] = [];
  for (let k = ends.at(-1) ?? -1; k >= 0; k = before[k]!) found.push(pairs[k]!);
  return found.reverse();
}

function onceIn(lines: readonly string[], from: number, to: number): Map<string, number> {
  const found = new Map<string, number>();
  for (let k = from; k < to; k++) found.set(lines[k]!, found.has(lines[k]!) ? -1 : k);
  for (const [line, k] of found) if (k < 0) found.delete(line);
  return found;
}

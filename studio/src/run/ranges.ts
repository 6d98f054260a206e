// Sliders of parameters.

export interface Range {
  min: number;
  max: number;
}

/** The bounds of a parameter, where it has some. */
export interface Bounds {
  min: number | null;
  max: number | null;
}

/** What a slider covers: from bound to bound; without bounds from 0 to twice a value, wider where it has
 * gone beyond. */
export function rangeOf(first: number, value: number, bounds: Bounds = { min: null, max: null }): Range {
  const { min, max } = free(first, value);
  const [low, high] = [bounds.min ?? Math.min(min, bounds.max ?? min), bounds.max ?? Math.max(max, bounds.min ?? max)];
  return low < high ? { min: low, max: high } : { min: low, max: low + 1 };
}

function free(first: number, value: number): Range {
  const least = first === 0 ? 1 : 2 * Math.abs(first);
  const most = Math.max(least, Math.abs(value) > least ? 2 * Math.abs(value) : 0);
  const signed = first === 0 || Math.sign(value) * Math.sign(first) < 0;
  if (signed) return { min: -most, max: most };
  return first > 0 ? { min: 0, max: most } : { min: -most, max: 0 };
}

/** The number of a YAML text; NaN where it is none. */
export function numberOf(text: string): number {
  return /^[-+.\d]/.test(text.trim()) ? Number(text) : NaN;
}

const MOST_ELEMENTS = 16;

/** The numbers of a YAML list such as "[1, 2.5]"; null where it is none. */
export function listOf(text: string): number[] | null {
  const inner = /^\s*\[([^[\]]*)\]\s*$/.exec(text)?.[1];
  const numbers = inner?.split(",").map(numberOf);
  return numbers && numbers.length <= MOST_ELEMENTS && !numbers.some(Number.isNaN) ? numbers : null;
}

/** The list with another element. */
export function withElement(text: string, index: number, element: string): string {
  const numbers = listOf(text) ?? [];
  return `[${numbers.map((number, at) => (at === index ? element : String(number))).join(", ")}]`;
}

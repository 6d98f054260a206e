// Sliders of parameters.

export interface Range {
  min: number;
  max: number;
}

/** What a slider covers: from 0 to twice a value, wider where it has gone beyond. */
export function rangeOf(first: number, value: number): Range {
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

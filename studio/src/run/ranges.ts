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

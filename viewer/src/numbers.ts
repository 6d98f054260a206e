// Numbers as people read them: ticks of axes, and values at the cursor.

/** The step 1, 2 or 5 times a power of ten that divides a span into about `count` parts. */
export function niceStep(span: number, count: number): number {
  const raw = span / Math.max(count, 1);
  if (!(raw > 0) || !Number.isFinite(raw)) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(raw));
  const digit = raw / power;
  return power * (digit <= 1.001 ? 1 : digit <= 2.001 ? 2 : digit <= 5.001 ? 5 : 10);
}

/** The multiples of a nice step between two numbers. */
export function ticks(low: number, high: number, count: number): number[] {
  const step = niceStep(high - low, count);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.min(Math.max(last - first + 1, 0), 100) }, (_, k) => {
    return (first + k) * step;
  });
}

/** A tick's text, with as many decimals as its step needs. */
export function tickText(value: number, step: number): string {
  const size = Math.max(Math.abs(value), step);
  if (size >= 1e5 || size < 1e-4) {
    return minus(value === 0 ? "0" : value.toExponential(1).replace("e+", "e"));
  }
  return minus(value.toFixed(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))));
}

/** A value with four significant digits. */
export function valueText(value: number): string {
  if (Number.isNaN(value)) {
    return "–";
  }
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) {
    return minus(value.toExponential(2).replace("e+", "e"));
  }
  return minus(value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3));
}

function minus(text: string): string {
  return text.replaceAll("-", "−");
}

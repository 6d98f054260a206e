/** The name of a signal or a block as formulas spell it. */
export function spelled(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(name) ? name : `'${name}'`;
}

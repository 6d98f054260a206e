// Names for new blocks.

/** A name that no block has: the wanted one, or with a number after it. */
export function freeName(wanted: string, taken: Iterable<string>): string {
  const all = new Set(taken);
  const stem = wanted.replace(/\d+$/, "") || wanted;
  if (!all.has(wanted)) return wanted;
  for (let k = 2; ; k++) if (!all.has(`${stem}${k}`)) return `${stem}${k}`;
}

/** What a new block of a type is called at first: "Joint PD" and "JOINT_PD" as "joint_pd". */
export function nameOfType(type: string): string {
  const plain = type.toLowerCase().replace(/[^a-z0-9_]+/g, "_").replace(/^[_\d]+|_+$/g, "");
  return plain || "block";
}

// Actions of states and transitions: in the file a mapping, in a field an assignment on each line.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const ASSIGNMENT = /^([A-Za-z_]\w*)\s*=(?!=)\s*(.+)$/s;

/** Assignments, "y = 2*u; n = n + 1", as a mapping of YAML. Throws where a line is none. */
export function yamlOfAssignments(text: string): string {
  const lines = text.split(/[;\n]/).map((line) => line.trim()).filter(Boolean);
  const entries = lines.map((line) => {
    const found = ASSIGNMENT.exec(line);
    if (!found) throw new Error(`“${line}” is no assignment: write variable = formula`);
    return `${found[1]}: ${yamlOfValue(found[2]!.trim())}`;
  });
  return `{${entries.join(", ")}}`;
}

/** A number, a list of such values in brackets, or a formula. */
function yamlOfValue(text: string): string {
  if (NUMBER.test(text)) return text;
  const inner = /^\[(.*)\]$/s.exec(text)?.[1];
  const parts = inner === undefined ? null : partsOf(inner);
  return parts ? `[${parts.map(yamlOfValue).join(", ")}]` : JSON.stringify(text);
}

/** The parts between commas outside of brackets; null where brackets do not match. */
function partsOf(text: string): string[] | null {
  const parts = [""];
  let depth = 0;
  for (const letter of text) {
    if ("([".includes(letter)) depth++;
    if (")]".includes(letter) && --depth < 0) return null;
    if (letter === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return depth === 0 ? parts.map((part) => part.trim()).filter(Boolean) : null;
}

// Texts of parameters: in the file they are YAML, in a field for text they are plain.

const PLAIN = /^[A-Za-z][\w ./-]*$/;
const WORDS = /^(true|false|yes|no|on|off|null|y|n)$/i;

/** A plain text as a YAML value. References, "$name", stay what they are. */
export function toYaml(text: string): string {
  if (/^\$\w+$/.test(text)) return text;
  return PLAIN.test(text) && !WORDS.test(text) && !text.endsWith(" ") ? text : JSON.stringify(text);
}

/** The plain text of a YAML value. */
export function fromYaml(yaml: string): string {
  if (yaml.length > 1 && yaml.startsWith('"') && yaml.endsWith('"')) {
    try {
      return JSON.parse(yaml) as string;
    } catch {
      return yaml;
    }
  }
  const single = yaml.length > 1 && yaml.startsWith("'") && yaml.endsWith("'");
  return single ? yaml.slice(1, -1).replaceAll("''", "'") : yaml;
}

const NUMBERS = /^\[[\s;,]*[+-]?[\d.][\d.eE+\-\s;,]*\]$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Numbers as MATLAB has them, "[1 2; 3 4]", as YAML has them; any other text as it is. */
export function withCommas(text: string): string {
  if (!NUMBERS.test(text)) return text;
  const rows = text.slice(1, -1).split(";").map((row) => row.split(/[\s,]+/).filter(Boolean));
  if (!rows.every((row) => row.length > 0 && row.every((one) => NUMBER.test(one)))) return text;
  const [first] = rows;
  if (rows.length === 1) return /\S\s+[^\s,\]]/.test(text.replace(/,\s*/g, ",")) ? `[${first!.join(", ")}]` : text;
  return rows.every((row) => row.length === 1) ? `[${rows.join(", ")}]` : `[${rows.map((row) => `[${row.join(", ")}]`).join(", ")}]`;
}

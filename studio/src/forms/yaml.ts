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

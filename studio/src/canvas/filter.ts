// Finding things by what a person types.

/** How well a text answers a word: smaller is better, null where not at all. */
function rank(word: string, text: string): number | null {
  const found = text.toLowerCase().indexOf(word);
  if (found < 0) return null;
  if (found === 0) return text.length === word.length ? 0 : 1;
  return /[\s_./-]/.test(text[found - 1] ?? "") ? 2 : 3;
}

/** The things in whose texts each typed word occurs, best first. Texts count in their order: a
 * name before a description. */
export function matching<T>(typed: string, things: readonly T[], texts: (thing: T) => readonly string[]): T[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...things];
  const found: { thing: T; score: number }[] = [];
  for (const thing of things) {
    const all = texts(thing);
    let score = 0;
    for (const word of words) {
      const best = Math.min(...all.map((text, k) => 4 * k + (rank(word, text) ?? Infinity)));
      score += best;
    }
    if (score < Infinity) found.push({ thing, score });
  }
  return found.sort((a, b) => a.score - b.score).map(({ thing }) => thing);
}

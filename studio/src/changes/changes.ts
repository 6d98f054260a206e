// What the open file is compared with: a commit or another file, and what has changed since.

import { attempt, metAgain, reveal, showSheet } from "../actions";
import type { ChangeLine, Revisions } from "../protocol";
import { connection, now, patch, watch } from "../store";

/** A commit by its id, or another file by its path. */
export type Against = { commit: string } | { other: string };

let against: Against | null = null;
let asked = 0;
let compared: { path: string; revision: string } | null = null;

/** Compare the open file, and mark what differs until it is ended; also anew after each change of the
 * file. */
export async function compareWith(with_: Against): Promise<void> {
  against = with_;
  await ask();
}

export function endComparing(): void {
  against = null;
  compared = null;
  asked += 1;
  patch({ changes: null, gone: null });
}

export function comparedWith(): Against | null {
  return against;
}

async function ask(): Promise<void> {
  const { opened } = now();
  if (!opened || !against) return;
  const mine = ++asked;
  compared = { path: opened.path, revision: opened.revision };
  const changes = await attempt(() => connection.ask("changes", { path: opened.path, ...against }));
  if (mine === asked) patch({ changes });
}

watch(() => {
  const { opened, changes } = now();
  if (!against || !compared) return;
  if (opened?.path !== compared.path) return endComparing();
  if (opened.revision !== compared.revision && changes) void ask();
});
metAgain.add(() => void (against && ask()));

export function revisionsOf(path: string): Promise<Revisions | null> {
  return attempt(() => connection.ask("revisions", { path }));
}

/** Go to what has changed: the block, or where it was. */
export async function goTo({ at, block, sign }: ChangeLine): Promise<void> {
  if (at === null || block === null) return;
  const { sheet, changes } = now();
  if (sheet?.at !== at) await showSheet(at);
  const within = now().sheet?.within ?? "";
  const gone = changes?.sheets[within]?.gone.some(({ name }) => name === block);
  if (gone && (sign === "-" || sign === "~")) patch({ gone: block });
  else await reveal(at, block);
}

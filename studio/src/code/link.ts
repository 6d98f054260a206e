// The text of an editor and that of the file, kept the same both ways.
//
// base is the text that the server has, at `revision`; local are the changes from it to what stands in
// the editor. What changes elsewhere is mapped over the local changes, so that caret, selection and
// scroll stay; what is typed is tried when the typing rests, and written where it adds no mistake.

import { Annotation, ChangeSet, Text, Transaction } from "@codemirror/state";
import type { EditorView, ViewUpdate } from "@codemirror/view";

import { notify, rewrite, tried, unwritten } from "../actions";
import type { LineChange, Problem } from "../protocol";
import { connection, now, patch, watch } from "../store";
import { lineChanges } from "./lines";

/** Of changes that are not typed here. */
export const Elsewhere = Annotation.define<boolean>();

export interface Status {
  /** loading; the file's own text; typed and not written; read-only, of another file. */
  state: "loading" | "same" | "typed" | "foreign";
  /** The file whose text it is. */
  path: string;
  /** What is wrong with what is typed, or with the file. */
  problems: readonly Problem[];
  /** What is typed is not written, as it would add mistakes. */
  isWrong: boolean;
  /** It cannot be read as it is. */
  isRefused: boolean;
}

/** How long typing rests before it is tried [ms]. */
const REST = 500;
/** Requests have at most this length, with some room. */
const MOST_SENT = 900_000;

/** What was typed and could not be written when its editor was closed, by the path of the file. */
const kept = new Map<string, { base: Text; revision: string; doc: Text }>();

export class Link {
  private base = Text.empty;
  private revision = "";
  private local = ChangeSet.empty(0);
  private since: ChangeSet | null = null;
  private seen = "";
  private queue: Promise<unknown> = Promise.resolve();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private unwatch: () => void;
  private closed = false;
  private view: EditorView | null = null;
  status: Status = { state: "loading", path: "", problems: [], isWrong: false, isRefused: false };

  /** file: the path of the open file. changed: called with each status. */
  constructor(private readonly file: string, private readonly changed: (status: Status) => void, private readonly forget: () => void) {
    this.unwatch = watch(() => this.look());
    unwritten.add(this.finish);
  }

  /** Before a run, which is of the file. */
  private readonly finish = async (): Promise<void> => {
    if (this.isDirty && !(await this.write())) notify("What is typed in the text is not right yet, and not in the file", "note");
  };

  begin(view: EditorView): void {
    this.view = view;
    this.look();
  }

  /** Look whether the file, or the sheet's, is another than that which stands here. */
  private look(): void {
    const { opened, sheet } = now();
    if (!this.view || opened?.path !== this.file || !sheet) return;
    const foreign = sheet.within === null ? sheet.at : "";
    const key = `${opened.revision} ${foreign}`;
    if (key !== this.seen) {
      this.seen = key;
      void this.inTurn(() => this.fetch());
    } else if (!this.isDirty && this.status.problems !== opened.problems && this.status.state === "same") {
      this.tell({ problems: opened.problems });
    }
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T | undefined> {
    const next = this.queue.then(() => (this.closed ? undefined : work())).catch(() => undefined);
    this.queue = next;
    return next;
  }

  get isDirty(): boolean {
    return this.view !== null && this.status.state !== "foreign" && !this.view.state.doc.eq(this.base);
  }

  private tell(change: Partial<Status>): void {
    this.status = { ...this.status, ...change };
    this.changed(this.status);
  }

  // --- from the file -------------------------------------------------------------------------

  private async fetch(): Promise<void> {
    const { opened, sheet } = now();
    const { view } = this;
    if (!view || opened?.path !== this.file || !sheet) return;
    const foreign = sheet.within === null;
    if (opened.revision === this.revision && !foreign && this.status.state !== "foreign") return this.settle();
    const answer = await connection.ask("text", { path: this.file, at: foreign ? sheet.at : "" });
    if (this.closed) return;
    const text = Text.of(answer.text.split(/\r\n|\r|\n/));
    const isFirst = this.status.state === "loading" || this.status.path !== answer.path;
    if (isFirst && this.isDirty) this.keep();
    const draft = isFirst && answer.revision ? kept.get(this.file) : undefined;
    if (isFirst) {
      this.become(text);
      if (draft) this.restore(draft);
    } else {
      const remote = changeSet(this.base, text);
      const typed = this.local;
      view.dispatch({ changes: remote.map(typed), annotations: [Elsewhere.of(true), Transaction.addToHistory.of(false)] });
      this.local = typed.map(remote, true);
      this.base = text;
    }
    this.revision = answer.revision;
    this.status = { ...this.status, state: answer.revision ? "same" : "foreign", path: answer.path };
    this.settle();
  }

  /** After the base has changed. */
  private settle(): void {
    const { opened } = now();
    if (this.isDirty) {
      this.tell({ state: "typed" });
      this.rest();
    } else if (this.view) {
      this.local = ChangeSet.empty(this.view.state.doc.length);
      const problems = this.status.state === "foreign" ? [] : opened?.problems ?? [];
      this.tell({ state: this.status.state === "foreign" ? "foreign" : "same", problems, isWrong: false, isRefused: false });
    }
  }

  private become(text: Text): void {
    const { view } = this;
    view!.dispatch({
      changes: { from: 0, to: view!.state.doc.length, insert: text },
      selection: { anchor: 0 },
      annotations: [Elsewhere.of(true), Transaction.addToHistory.of(false)],
    });
    this.base = text;
    this.local = ChangeSet.empty(text.length);
    this.forget();
  }

  private restore({ base, doc }: { base: Text; doc: Text }): void {
    const typed = changeSet(base, doc);
    const remote = changeSet(base, this.base);
    const local = typed.map(remote, true);
    kept.delete(this.file);
    this.view!.dispatch({ changes: local, annotations: [Elsewhere.of(true), Transaction.addToHistory.of(false)] });
    this.local = local;
  }

  // --- into the file ---------------------------------------------------------------------------

  /** Called with each update of the editor. */
  update({ transactions, docChanged }: ViewUpdate): void {
    if (!docChanged) return;
    for (const one of transactions) {
      if (!one.docChanged || one.annotation(Elsewhere)) continue;
      this.local = this.local.compose(one.changes);
      if (this.since) this.since = this.since.compose(one.changes);
    }
    if (!transactions.some((one) => one.docChanged && !one.annotation(Elsewhere))) return;
    if (this.isDirty) {
      if (this.status.state === "same") this.tell({ state: "typed" });
      this.rest();
    } else {
      this.drop();
    }
  }

  /** What was typed is taken back. */
  private drop(): void {
    clearTimeout(this.timer);
    if (now().trial.length) patch({ trial: [] });
    this.settle();
  }

  private rest(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.write(), REST);
  }

  /** Write what is typed. anyway: also where it adds mistakes, if it can be read. Answers whether
   * nothing is left to write. */
  async write(anyway = false): Promise<boolean> {
    clearTimeout(this.timer);
    await this.inTurn(() => this.commit(anyway));
    return !this.isDirty;
  }

  private async commit(anyway: boolean): Promise<void> {
    const { view } = this;
    if (!view || !this.isDirty) return;
    if (now().opened?.revision !== this.revision) await this.fetch();
    if (!this.isDirty) return;
    const { doc } = view.state;
    const changes = lineChanges(this.base.toJSON(), doc.toJSON());
    if (sizeOf(changes) > MOST_SENT) {
      const hint = "change the file with another program; it is read again here";
      this.tell({ problems: [{ message: "this is too much text for one change", hint }], isWrong: true, isRefused: true });
      return;
    }
    const { problems, right, refused } = await tried({ op: "text", changes });
    if (view.state.doc !== doc || this.closed) return; // the next rest tries what stands then
    const isWrong = !right;
    if (isWrong && (refused || !anyway)) {
      patch({ trial: problems });
      this.tell({ problems: refused ? [refused, ...(refused.others ?? [])] : problems, isWrong, isRefused: !!refused });
      return;
    }
    this.since = ChangeSet.empty(doc.length);
    const written = await rewrite(this.revision, changes);
    const { since } = this;
    this.since = null;
    if (!written) return;
    this.base = doc;
    this.local = since;
    this.revision = written.opened.revision;
    this.seen = `${this.revision} `;
    if (since.empty) this.forget(); // what is written is taken back in the file
    this.status = { ...this.status, isWrong: false, isRefused: false };
    this.settle();
  }

  private keep(): void {
    kept.set(this.file, { base: this.base, revision: this.revision, doc: this.view!.state.doc });
  }

  /** Write what can be written, and keep the rest until the editor is opened again. */
  close(): void {
    clearTimeout(this.timer);
    this.unwatch();
    unwritten.delete(this.finish);
    if (this.isDirty) {
      this.keep();
      const { base, view, revision } = this;
      const changes = lineChanges(base.toJSON(), view!.state.doc.toJSON());
      void tried({ op: "text", changes }).then(async ({ right }) => {
        if (right && now().opened?.path === this.file && (await rewrite(revision, changes))) kept.delete(this.file);
      });
    }
    this.closed = true;
  }
}

/** Whether something typed is not in a file. */
export function hasUnwritten(): boolean {
  return kept.size > 0;
}

/** The lines that differ, as changes of a document. */
function changeSet(before: Text, after: Text): ChangeSet {
  const changes = lineChanges(before.toJSON(), after.toJSON()).map(([first, last, lines]) => {
    const isEnd = first === before.lines;
    const text = lines.join("\n");
    if (first < last && lines.length) return { from: before.line(first + 1).from, to: before.line(last).to, insert: text };
    if (lines.length) return isEnd ? { from: before.length, insert: `\n${text}` } : { from: before.line(first + 1).from, insert: `${text}\n` };
    if (last < before.lines) return { from: before.line(first + 1).from, to: before.line(last + 1).from };
    return { from: Math.max(before.line(first + 1).from - 1, 0), to: before.length };
  });
  return ChangeSet.of(changes, before.length);
}

function sizeOf(changes: readonly LineChange[]): number {
  return changes.reduce((sum, [, , lines]) => sum + lines.reduce((size, line) => size + 2 * line.length + 4, 32), 0);
}


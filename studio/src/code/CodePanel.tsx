// The text beside the sheet.

import { useEffect, useState } from "react";

import { openFile } from "../actions";
import { Edge } from "../app/Edge";
import { Tool } from "../app/Header";
import { patch, useStudio } from "../store";
import CodeEditor from "./CodeEditor";
import { pathOfSelection } from "./follow";
import type { Status } from "./link";
import type { Path } from "./places";

export default function CodePanel() {
  const code = useStudio((state) => state.code);
  const opened = useStudio((state) => state.opened?.path);
  const [status, setStatus] = useState<Status | null>(null);
  const part = usePart(code === "block");
  const leave = (close: boolean): void => {
    if (close) patch({ code: null });
    toTheSheet();
  };
  const isForeign = status?.state === "foreign";
  return (
    <>
      <Edge name="Width of the text" of="code" first={400} way="left" />
      <section className="code-pane" aria-label="Text">
        <div className="code-head">
          <select aria-label="What of the text" value={code ?? "file"} onChange={(event) => patch({ code: event.target.value as "file" | "block" })}>
            <option value="file">Whole file</option>
            <option value="block">Selected block</option>
          </select>
          <span className="grow" title={status?.path}>{isForeign ? `${status.path}, read only` : ""}</span>
          {isForeign && <button type="button" onClick={() => void openFile(status.path)}>Open it</button>}
          <Tool icon="close" name="Close the text" keys="Ctrl+E" onClick={() => leave(true)} />
        </div>
        <CodeEditor key={opened} part={part} name="Text of the diagram" follows onStatus={setStatus} onLeave={leave} autoFocus />
        <p className={`code-state${status?.isWrong ? " wrong" : ""}`} role="status">{status ? said(status) : ""}</p>
      </section>
    </>
  );
}

/** The block that is selected last, if only that is shown. */
function usePart(isPart: boolean): Path | null {
  useStudio((state) => state.selection);
  useStudio((state) => state.sheet);
  const [last, setLast] = useState<Path | null>(null);
  const path = isPart ? pathOfSelection(null) : null;
  const key = path && JSON.stringify(path);
  useEffect(() => {
    if (key) setLast(JSON.parse(key) as Path);
  }, [key]);
  return isPart ? path ?? last : null;
}

function said({ state, problems, isWrong, isRefused }: Status): string {
  if (state === "loading" || state === "foreign") return "";
  const [first] = problems;
  const what = problems.length > 1 ? `${problems.length} problems: ${first?.message}` : first?.message ?? "";
  if (isRefused) return `Not written: ${what}`;
  if (isWrong) return `Not written, Ctrl+S writes it all the same. ${what}`;
  return state === "typed" ? "Typing…" : what;
}

/** Give the focus to what is selected on the sheet. */
function toTheSheet(): void {
  const found = document.querySelector<HTMLElement>(".react-flow__node.selected") ?? document.querySelector<HTMLElement>(".react-flow__node");
  found?.focus({ preventScroll: true });
}

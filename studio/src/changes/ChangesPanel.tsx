// What has changed in the file: since which commit, or from which file, and a list that leads there.

import { useEffect, useState } from "react";

import { useDiagrams } from "../jobs/diagrams";
import type { ChangeLine, Revisions } from "../protocol";
import type { Runs } from "../run/runs";
import { useStudio } from "../store";
import "./changes.css";
import { comparedWith, compareWith, endComparing, goTo, revisionsOf } from "./changes";

export function ChangesPanel({ runs }: { runs: Runs }) {
  if (runs.path.startsWith("loop:")) return <p className="panel-empty">A loop has no versions: they are of diagrams.</p>;
  return <OfFile key={runs.path} path={runs.path} />;
}

function OfFile({ path }: { path: string }) {
  const [known, setKnown] = useState<Revisions | null>(null);
  const changes = useStudio((state) => state.changes);
  const revision = useStudio(({ opened }) => opened?.revision);
  useEffect(() => void revisionsOf(path).then((found) => found && setKnown(found)), [path, revision]);
  if (!known) return <p className="panel-empty">Loading…</p>;
  return (
    <div className="panel-page change-list">
      <Choice path={path} known={known} />
      {changes && <Found old={changes.old} groups={changes.groups} notes={changes.notes} />}
    </div>
  );
}

function Choice({ path, known: { commits, why } }: { path: string; known: Revisions }) {
  const changes = useStudio((state) => state.changes);
  const diagrams = useDiagrams();
  const against = comparedWith();
  const value = !changes || !against ? "" : "commit" in against ? `commit ${against.commit}` : `file ${against.other}`;
  const choose = (chosen: string): void => {
    const [kind, ...rest] = chosen.split(" ");
    const name = rest.join(" ");
    if (!chosen) endComparing();
    else void compareWith(kind === "commit" ? { commit: name } : { other: name });
  };
  return (
    <div className="panel-tools">
      <label>
        Compare with{" "}
        <select value={value} onChange={({ target }) => choose(target.value)}>
          <option value="">nothing</option>
          {commits.length > 0 && (
            <optgroup label="Commits of this file">
              {commits.map(({ id, when, author, subject }, k) => (
                <option key={id} value={`commit ${id}`}>{`${k === 0 ? "the last commit: " : ""}${id.slice(0, 8)} ${when.slice(0, 10)} ${subject.slice(0, 60)} (${author})`}</option>
              ))}
            </optgroup>
          )}
          <optgroup label="Other files">
            {diagrams.filter((one) => one.path !== path).map((one) => <option key={one.path} value={`file ${one.path}`}>{one.path}</option>)}
          </optgroup>
        </select>
      </label>
      {changes && <button type="button" onClick={endComparing}>End comparing</button>}
      {why && <span className="note">{why}</span>}
      {changes && <Legend />}
    </div>
  );
}

function Legend() {
  return (
    <span className="change-legend">
      <span className="added">+ added</span> <span className="changed-now">~ changed</span> <span className="removed">- gone, dashed</span>
    </span>
  );
}

interface FoundProps {
  old: string;
  groups: readonly { heading: string; changes: readonly ChangeLine[] }[];
  notes: readonly string[];
}

function Found({ old, groups, notes }: FoundProps) {
  return (
    <>
      {groups.length === 0 && <p role="status">{`Nothing has changed since ${old}: both mean the same.`}</p>}
      {groups.map(({ heading, changes }) => (
        <section key={heading} aria-label={heading}>
          <h2>{heading}</h2>
          <ul>{changes.map((change, k) => <li key={k}><Line change={change} /></li>)}</ul>
        </section>
      ))}
      {notes.map((note) => <p className="note" key={note}>{note}</p>)}
    </>
  );
}

const KINDS = { "+": "added", "-": "removed", "~": "changed-now", ">": "changed-now" } as const;
const WORDS = { "+": "added", "-": "removed", "~": "changed", ">": "moved" } as const;

function Line({ change }: { change: ChangeLine }) {
  const { sign, what, before, after, unit, at, block } = change;
  const text = (
    <>
      <span className={KINDS[sign]} aria-hidden="true">{sign}</span><span className="unseen">{WORDS[sign]}</span>{" "}
      <strong>{what}</strong>
      {(before || after) && <span className="change-values"> {before && <del>{before}</del>}{before && after && " → "}{after && <ins>{after}</ins>} {unit}</span>}
    </>
  );
  if (at === null || block === null) return <span className="change">{text}</span>;
  return <button type="button" className="change" onClick={() => void goTo(change)}>{text}</button>;
}

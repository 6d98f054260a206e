// The claims of the diagram's section `expect:`, and what a test says of each.

import { useEffect, useState } from "react";

import { edit } from "../actions";
import type { Claim, Claims, Problem, Test } from "../protocol";
import { seconds } from "../run/RunBar";
import { useRun } from "../run/book";
import type { Runs } from "../run/runs";
import { withScope } from "../scopes/edit";
import { showPanel } from "../panels/kept";
import { patch, useStudio } from "../store";
import { ClaimForm } from "./ClaimForm";
import { type Found, judged, others, removing, summary, type Verdict, wordsOf } from "./claim";
import "./claims.css";
import { beginTest, record, stopTest, useClaims, useTest } from "./tests";

/** What is being written: a new claim, about a signal or none yet, or a change of one. */
type Writing = { signal: string } | { claim: Claim } | null;

export function TestsPanel({ runs }: { runs: Runs }) {
  if (runs.path.startsWith("loop:")) return <p className="panel-empty">A loop has no test: tests are of diagrams.</p>;
  return <OfFile runs={runs} />;
}

function OfFile({ runs }: { runs: Runs }) {
  const { path } = runs;
  const claims = useClaims(path);
  const test = useTest(path);
  const revision = useStudio(({ opened }) => opened?.revision);
  const claiming = useStudio((state) => state.claiming);
  const [writing, setWriting] = useState<Writing>(null);
  useEffect(() => {
    if (claiming === null) return;
    setWriting({ signal: claiming });
    patch({ claiming: null });
  }, [claiming]);
  if (!claims) return <p className="panel-empty">Loading…</p>;
  const stale = test !== null && test.revision !== "" && test.revision !== revision;
  const form = writing && (
    <ClaimForm key={"claim" in writing ? writing.claim.path : `new ${writing.signal}`} runs={runs} kinds={claims.kinds} claims={claims.claims}
      claim={"claim" in writing ? writing.claim : undefined} signal={"signal" in writing ? writing.signal : undefined} onClose={() => setWriting(null)} />
  );
  return (
    <div className="panel-page tests">
      <Tools path={path} claims={claims} test={test} onAdd={() => setWriting({ signal: "" })} />
      {test && <State test={test} stale={stale} />}
      {test && <Changes path={path} test={test} />}
      {form}
      {claims.claims.length > 0 && (
        <table>
          <thead>
            <tr><th scope="col">State</th><th scope="col">Claim</th><th scope="col">Line</th><th scope="col">What the test says</th><th scope="col"><span className="unseen">Change</span></th></tr>
          </thead>
          <tbody>
            {claims.claims.map((claim) => (
              <Row key={claim.path} runs={runs} claim={claim} all={claims.claims} test={test} stale={stale} onChange={() => setWriting({ claim })} />
            ))}
          </tbody>
        </table>
      )}
      {claims.claims.length === 0 && (
        <p className="note">
          {claims.tested ? "The diagram claims only that it runs to its end: add what its signals must show."
            : "There is no test yet. A claim says what a run must show, such as the final value of a signal; claims are written into the file, under expect:."}
        </p>
      )}
      <Others runs={runs} found={others(claims.claims, test)} test={test} />
    </div>
  );
}

interface ToolsProps {
  path: string;
  claims: Claims;
  test: Test | null;
  onAdd: () => void;
}

function Tools({ path, claims, test, onAdd }: ToolsProps) {
  const running = test?.state === "running";
  const baseline = claims.claims.some(({ kind }) => kind === "baseline");
  return (
    <div className="panel-tools">
      {running ? <button type="button" onClick={() => stopTest(path)}>Stop the test</button>
        : <button type="button" className="primary" disabled={!claims.tested} title="What spart test does, for the file as it is on disk" onClick={() => void beginTest(path)}>Run the test</button>}
      <button type="button" onClick={onAdd}>Add a claim…</button>
      {baseline && (
        <button type="button" disabled={running} title="What spart test --update does; a baseline that is there is not overwritten before you have seen what changes"
          onClick={() => void beginTest(path, true)}>Record the baseline</button>
      )}
      {running && test && <Progress test={test} />}
    </div>
  );
}

function Progress({ test: { running, done, all, unit } }: { test: Test }) {
  const far = all > 0 ? `${unit === "s" ? seconds(done) : done} of ${unit === "s" ? seconds(all) : all} ${unit}` : "starting";
  return (
    <span className="test-progress">
      <progress aria-label="Progress of the test" max={all || 1} value={all > 0 ? done : undefined} /> {running} {far}
    </span>
  );
}

function State({ test, stale }: { test: Test; stale: boolean }) {
  const { state, cases, problem } = test;
  if (state === "running") return null;
  const bad = state === "failed" || cases.some(({ passed }) => !passed);
  return (
    <p className={`test-state ${bad ? "bad" : state === "ended" ? "good" : ""}`}>
      <strong>{bad ? "✗ " : state === "ended" ? "✓ " : ""}{summary(test, stale)}</strong>{" "}
      {cases.length > 0 && <span className="note">{`${cases.reduce((sum, one) => sum + one.seconds, 0).toFixed(1)} s`}</span>}
      {problem?.hint && <span className="hint">{problem.hint}</span>}
    </p>
  );
}

/** The baselines that were recorded, and those that would take the place of others. */
function Changes({ path, test }: { path: string; test: Test }) {
  const found = test.cases.flatMap(({ change }) => change ?? []);
  const asked = found.some(({ written }) => !written) && test.state === "ended";
  if (test.update && test.state === "ended" && !found.length && test.cases.every(({ passed }) => passed)) {
    return <p className="note">The baseline still holds, and stays as it is.</p>;
  }
  return (
    <>
      {found.map(({ file, lines, written }) => (
        <section key={file} className="baseline-change" aria-label={`Baseline ${file}`}>
          <p>{written ? `Recorded ${file}` : `${file} would change:`}</p>
          {!(written && lines[0] === "new") && <ul>{lines.map((line) => <li key={line}>{line}</li>)}</ul>}
        </section>
      ))}
      {asked && (
        <div className="row" role="group" aria-label="Overwrite the baseline?">
          <button type="button" className="primary" onClick={() => void record(path)}>Overwrite the baseline</button>
          <button type="button" onClick={() => void beginTest(path)}>Leave it, and test again</button>
        </div>
      )}
    </>
  );
}

const WORDS: Record<Verdict, [mark: string, word: string]> = {
  passed: ["✓", "passed"], failed: ["✗", "failed"], warned: ["!", "missed, a warning"], changes: ["Δ", "would change"],
  recorded: ["✓", "recorded"], unjudged: ["–", "not judged yet"],
};

interface RowProps {
  runs: Runs;
  claim: Claim;
  all: readonly Claim[];
  test: Test | null;
  stale: boolean;
  onChange: () => void;
}

function Row({ runs, claim, all, test, stale, onChange }: RowProps) {
  const { verdict, findings } = judged(claim, test);
  const [mark, word] = WORDS[verdict];
  const name = [claim.kind, claim.signal].filter(Boolean).join(" ");
  return (
    <tr className={`claim ${verdict}${stale ? " stale" : ""}`}>
      <td className="verdict">{`${mark} ${word}`}{stale && verdict !== "unjudged" && <span className="note"> before the last change</span>}</td>
      <th scope="row"><strong>{name}</strong> <span>{wordsOf(claim)}</span></th>
      <td className="note">{claim.line}</td>
      <td><Findings runs={runs} findings={findings} /></td>
      <td className="claim-tools">
        <button type="button" aria-label={`Change ${name}`} onClick={onChange}>Change</button>
        <button type="button" aria-label={`Remove ${name}`} onClick={() => void edit(...removing(claim, all))}>Remove</button>
      </td>
    </tr>
  );
}

const MOST = 6;

function Findings({ runs, findings }: { runs: Runs; findings: readonly Found[] }) {
  if (findings.length > 1 && findings.every(({ verdict }) => verdict === "passed")) {
    return <details><summary>{`${findings.length} hold`}</summary><List runs={runs} findings={findings} /></details>;
  }
  return <List runs={runs} findings={findings} />;
}

function List({ runs, findings }: { runs: Runs; findings: readonly Found[] }) {
  return (
    <ul className="findings">
      {findings.slice(0, MOST).map((finding, k) => <li key={k}><Finding runs={runs} finding={finding} several={findings.length > 1} /></li>)}
      {findings.length > MOST && <li className="note">{`and ${findings.length - MOST} more ${findings[0]!.verdict}`}</li>}
    </ul>
  );
}

function Finding({ runs, finding, several }: { runs: Runs; finding: Found; several: boolean }) {
  const { signal, message, t, case: name } = finding;
  const shown = useRun(runs) !== undefined;
  return (
    <>
      {[name, several || signal.includes("[") ? signal : ""].filter(Boolean).map((part) => <strong key={part}>{part}: </strong>)}
      {message}{" "}
      {t !== null && (
        <button type="button" className="jump" disabled={!shown} title={shown ? "Show this time in the scopes" : "Run the diagram to see it in scopes"}
          aria-label={`Show ${signal} at ${seconds(t)} s`} onClick={() => jump(runs, signal, t)}>{`→ ${seconds(t)} s`}</button>
      )}
    </>
  );
}

/** Show a time in the scopes, one of which has the signal. */
function jump(runs: Runs, element: string, t: number): void {
  const signal = element.replace(/\[[^[]*\]$/, "");
  const { scopes } = runs.state;
  const known = runs.run?.signals.some(({ name }) => name === signal) ?? false;
  if (known && !scopes.some(({ signals }) => signals.includes(signal))) runs.patch({ scopes: withScope(scopes, [signal]) });
  runs.timeline.goTo(t);
  void showPanel("scopes");
}

/** What is of no claim in the list. */
function Others({ runs, found, test }: { runs: Runs; found: readonly Found[]; test: Test | null }) {
  const faults: Problem[] = (test?.cases ?? []).flatMap((one) => one.faults);
  const warnings = [...new Set((test?.cases ?? []).flatMap((one) => one.warnings))];
  if (!found.length && !faults.length && !warnings.length) return null;
  return (
    <ul className="findings others" aria-label="What else the test says">
      {faults.map(({ place, message, hint }, k) => <li key={`fault ${k}`} className="failed">✗ {place} {message} <span className="hint">{hint}</span></li>)}
      {found.map((finding, k) => (
        <li key={k} className={finding.verdict}>
          {WORDS[finding.verdict].join(" ")}, {finding.kind}: <Finding runs={runs} finding={finding} several />
        </li>
      ))}
      {warnings.map((text) => <li key={text}>! {text}</li>)}
    </ul>
  );
}

// The runs of a file: which one is shown, which are laid over it, and what can be made of them.

import { useState } from "react";

import type { Run } from "../protocol";
import { useRunsState } from "./book";
import { ContinueDialog } from "./ContinueDialog";
import { downloadOf } from "./requests";
import { seconds, wordsOf } from "./RunBar";
import type { Runs } from "./runs";

export function RunsPanel({ runs }: { runs: Runs }) {
  const all = useRunsState(runs, (state) => state.runs);
  const shown = useRunsState(runs, (state) => state.shown);
  const [continuing, setContinuing] = useState(false);
  const isFile = !runs.path.startsWith("loop:");
  if (all.length === 0) return <p className="panel-empty">There is no run yet.</p>;
  const run = runs.runOf(shown);
  return (
    <div className="panel-page">
      {isFile && (
        <div className="panel-tools">
          <button type="button" disabled={!run || run.state === "preparing"} onClick={() => setContinuing(true)}>
            Continue from the time that is shown…
          </button>
        </div>
      )}
      <table className="runs">
        <thead>
          <tr>
            <th scope="col">Shown</th><th scope="col">Laid over, dashed</th><th scope="col">Run</th>
            <th scope="col">State</th><th scope="col">Changed</th><th scope="col">Save</th>
          </tr>
        </thead>
        <tbody>{[...all].reverse().map((one) => <Row key={one.run} runs={runs} run={one} />)}</tbody>
      </table>
      {continuing && run && <ContinueDialog runs={runs} run={run} onClose={() => setContinuing(false)} />}
    </div>
  );
}

function Row({ runs, run }: { runs: Runs; run: Run }) {
  const shown = useRunsState(runs, (state) => state.shown === run.run);
  const over = useRunsState(runs, (state) => state.overlaid.includes(run.run));
  const tuned = Object.entries(run.tuned).map(([name, text]) => `${name} = ${text}`).join(", ");
  const toggle = (): void => {
    const { overlaid } = runs.state;
    runs.patch({ overlaid: over ? overlaid.filter((number) => number !== run.run) : [...overlaid, run.run] });
  };
  return (
    <tr>
      <td><input type="radio" name="shown-run" aria-label={`Show ${run.label}`} checked={shown} onChange={() => runs.choose(run.run)} /></td>
      <td><input type="checkbox" aria-label={`Lay ${run.label} over`} checked={over} disabled={shown} onChange={toggle} /></td>
      <th scope="row">{run.label}</th>
      <td>{`${wordsOf(run)}, ${seconds(run.start)} to ${seconds(run.t)} s`}</td>
      <td>{tuned}</td>
      <td>
        <Downloads runs={runs} run={run} />
        {run.kept === "signals" && <span className="note"> signals only: run it again for its motion</span>}
      </td>
    </tr>
  );
}

const KINDS = { npz: "results as NumPy arrays", csv: "results as a table", mcap: "recording for Foxglove, PlotJuggler and Rerun", html: "recording, a page by itself", "live.html": "page that runs, with sliders" } as const;
const LABELS = { npz: "npz", csv: "csv", mcap: "MCAP", html: "HTML", "live.html": "live" } as const;

function Downloads({ runs, run }: { runs: Runs; run: Run }) {
  if (runs.path.startsWith("loop:") || run.state !== "ended") return null;
  const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
  return (
    <>
      {kinds.map((kind) => kind.endsWith("html") && run.kept === "signals" ? null : (
        <a key={kind} className="download" href={downloadOf(runs.path, run.run, kind)} download title={`Save the ${KINDS[kind]}`}
          aria-label={`${run.label}: ${KINDS[kind]}`}>
          {LABELS[kind]}
        </a>
      ))}
    </>
  );
}

// Breakpoints of the open file, and what changed at the event or tick that is shown.

import { type FormEvent, useEffect, useRef, useState } from "react";

import { timeText } from "../../../viewer/src/clock";
import { attempt, reveal } from "../actions";
import type { AtInstant, Breakpoint, Change, Run } from "../protocol";
import { connection, patch, useStudio } from "../store";
import { useRun, useRunsState } from "./book";
import { setBreakpoints, useBreakpoints } from "./breakpoints";
import "./debug.css";
import { isOver, type Runs } from "./runs";
import { spelled } from "./spelled";

export function DebugPanel({ runs }: { runs: Runs }) {
  if (runs.path.startsWith("loop:")) return <p className="panel-empty">Loops are watched, and not stopped.</p>;
  return (
    <div className="panel-page debug">
      <section aria-label="Breakpoints">
        <h2>Breakpoints</h2>
        <Adding runs={runs} />
        <List runs={runs} />
      </section>
      <div>
        <Settings runs={runs} />
        <Changed runs={runs} />
      </div>
    </div>
  );
}

function Adding({ runs }: { runs: Runs }) {
  const { path } = runs;
  const all = useBreakpoints(path);
  const breaking = useStudio((state) => state.breaking);
  const signals = useRunsState(runs, () => runs.run?.signals ?? NONE);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (breaking === null || !field.current) return;
    field.current.value = breaking;
    field.current.focus();
    field.current.setSelectionRange(breaking.length, breaking.length);
    patch({ breaking: null });
  }, [breaking]);
  const add = (event: FormEvent): void => {
    event.preventDefault();
    const condition = field.current!.value.trim();
    if (!condition) return;
    const others = all.filter((one) => one.condition !== condition);
    void setBreakpoints(path, [...others, { condition, enabled: true }]).then((taken) => {
      if (taken && field.current) field.current.value = "";
    });
  };
  return (
    <form onSubmit={add}>
      <input ref={field} aria-label="Condition" placeholder="norm(plant.qm) > 1" list="signal-names" spellCheck={false} autoComplete="off"
        title="Where it becomes true; a number: where it crosses zero; event(block): at its events; machine.state == 'name'" />
      <datalist id="signal-names">{signals.slice(0, MOST_NAMES).map(({ name }) => <option key={name} value={spelled(name)} />)}</datalist>
      <button type="submit">Add</button>
    </form>
  );
}

const NONE: Run["signals"] = [];
const MOST_NAMES = 500;

function List({ runs }: { runs: Runs }) {
  const { path } = runs;
  const all = useBreakpoints(path);
  const run = useRun(runs);
  if (all.length === 0)
    return <p className="note">A run pauses where a condition becomes true, as <code>h &lt; 0.1</code>, or a value such as <code>h - 1</code> crosses zero; <code>event(block)</code> means a block’s events, <code>modes.state == 'on'</code> a state of a machine.</p>;
  const change = (one: Breakpoint, enabled: boolean): void =>
    void setBreakpoints(path, all.map((other) => (other === one ? { ...one, enabled } : other)));
  return (
    <table>
      <thead><tr><th scope="col">On</th><th scope="col">Pause when</th><th scope="col">Met</th><td /></tr></thead>
      <tbody>
        {all.map((one) => {
          const { condition, enabled } = one;
          const about = run?.breakpoints[condition];
          const isMet = enabled && run?.paused?.condition?.split("; ").includes(condition);
          return (
            <tr key={condition} className={isMet ? "met" : ""}>
              <td className="fixed"><input type="checkbox" aria-label={`Pause when ${condition}`} checked={enabled} onChange={({ target }) => change(one, target.checked)} /></td>
              <td>
                <code>{condition}</code>
                {enabled && about?.problem && <p className="wrong-text">{about.problem}</p>}
              </td>
              <td className="fixed values">{enabled ? (about?.hits ?? 0) : ""}</td>
              <td className="fixed">
                <button type="button" aria-label={`Remove ${condition}`} onClick={() => void setBreakpoints(path, all.filter((other) => other !== one))}>Remove</button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Settings({ runs }: { runs: Runs }) {
  const clocks = useRun(runs)?.clocks ?? [];
  const clock = useRunsState(runs, (state) => state.clock);
  const interval = useRunsState(runs, (state) => state.interval);
  return (
    <div className="step-settings" role="group" aria-label="Steps">
      <label>Step by
        <input type="number" min="0" step="any" aria-label="Interval of a step" defaultValue={interval}
          onChange={({ target }) => target.valueAsNumber > 0 && runs.patch({ interval: target.valueAsNumber })} /> s
      </label>
      <label>to ticks of
        <select value={clocks.some(({ name }) => name === clock) ? clock! : ""} onChange={({ target }) => runs.patch({ clock: target.value || null })}>
          <option value="">any clock</option>
          {clocks.map(({ name, text }) => <option key={name} value={name}>{`the clock ${text}`}</option>)}
        </select>
      </label>
    </div>
  );
}

// --- what changed ------------------------------------------------------------------------------

const LOOK_AFTER = 150; // ms, so that scrubbing asks for few

function Changed({ runs }: { runs: Runs }) {
  const [found, setFound] = useState<AtInstant | null>(null);
  const state = useRun(runs)?.state;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asked: string | null = null;
    const look = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const { run, timeline } = runs;
        const moves = timeline.playing || (timeline.atEnd && run?.state === "running");
        if (!run || run.state === "preparing" || moves) return;
        const about = { path: runs.path, run: run.run, t: timeline.time };
        const key = JSON.stringify(about);
        if (key === asked) return;
        asked = key;
        void attempt(() => connection.ask("changed", about)).then((now) => now && key === asked && setFound(now));
      }, LOOK_AFTER);
    };
    look();
    const end = runs.timeline.hear(look);
    return () => (end(), clearTimeout(timer));
  }, [runs, state]);
  const run = runs.run;
  return (
    <section aria-label="What changed" aria-live="polite">
      <h2>{found ? `What changed at ${timeText(found.t, run ? (run.T ?? run.t) - run.start : 1)}` : "What changed"}</h2>
      {found ? <Instant found={found} /> : <p className="note">F10 runs to the next event, F8 to the next tick; with Ctrl back in the record.</p>}
      {run && isOver(run) && run.kept === "signals" && <p className="note">Only signals of this run are kept.</p>}
    </section>
  );
}

function Instant({ found: { events, ticks, changes, more } }: { found: AtInstant }) {
  if (events.length + ticks.length === 0)
    return <p className="note">Nothing happens at this time: F10 leads to the next event, Ctrl+F10 to the one before.</p>;
  return (
    <>
      <ul>
        {events.map(({ block, what }, k) => <li key={k}><To block={block} /> {what}</li>)}
        {ticks.map((text) => <li key={text}>tick of the clock {text}</li>)}
      </ul>
      {changes.length === 0 && <p className="note">No state and no output has jumped.</p>}
      <table>
        <tbody>{changes.map((one) => <Row key={`${one.kind} ${one.block} ${one.name}`} change={one} />)}</tbody>
      </table>
      {more > 0 && <p className="note">{`${more} more changes are left out.`}</p>}
    </>
  );
}

const KINDS = { state: "state", mode: "active state", output: "output" };

function Row({ change: { kind, block, name, before, after } }: { change: Change }) {
  return (
    <tr>
      <th scope="row"><To block={block} /></th>
      <td>{name && name !== "state" ? `${KINDS[kind]} ${name.replace(/^state /, "")}` : KINDS[kind]}</td>
      <td className="values">{`${before} → ${after}`}</td>
    </tr>
  );
}

function To({ block }: { block: string }) {
  const cut = block.lastIndexOf("/");
  return (
    <button type="button" className="link" onClick={() => void reveal(block.slice(0, Math.max(cut, 0)), block.slice(cut + 1))}>{block}</button>
  );
}

// A new run from the time that is shown, with states and parameters changed.

import { useEffect, useRef, useState } from "react";

import { attempt } from "../actions";
import type { Run, State } from "../protocol";
import { found } from "../scopes/edit";
import { connection } from "../store";
import { continueFrom } from "./requests";
import { seconds } from "./RunBar";
import type { Runs } from "./runs";
import { useTunables } from "./tuning";

const MOST = 60;

interface Props {
  runs: Runs;
  run: Run;
  onClose: () => void;
}

export function ContinueDialog({ runs, run, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [t] = useState(() => runs.timeline.time);
  const [states, setStates] = useState<readonly State[]>([]);
  const [changed, setChanged] = useState<Record<string, number[]>>({});
  const [tuned, setTuned] = useState<Record<string, string>>(run.tuned);
  const [busy, setBusy] = useState(false);
  const [pushed, setPushed] = useState<readonly string[]>([]);
  useEffect(() => dialog.current!.showModal(), []);
  useEffect(() => {
    void attempt(() => connection.ask("states", { path: runs.path, run: run.run, t })).then((all) => all && setStates(all));
    void attempt(() => connection.ask("pushed", { path: runs.path, run: run.run, t })).then((plants) => plants && setPushed(plants));
  }, [runs, run.run, t]);
  const go = async (): Promise<void> => {
    setBusy(true);
    const begun = await continueFrom(runs, { run: run.run, t, states: changed, tuned });
    setBusy(false);
    if (begun) dialog.current?.close();
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="continue-title" onClose={onClose}>
      <h2 id="continue-title">{`Continue ${run.label} from ${seconds(t)} s`}</h2>
      {pushed.length > 0 && <p role="status">{`A push acts on ${pushed.join(", ")} at this time: the new run begins without it.`}</p>}
      <div className="body">
        <States states={states} changed={changed} onChange={(block, values) => setChanged({ ...changed, [block]: values })} />
        <Parameters runs={runs} tuned={tuned} onChange={(name, text) => setTuned({ ...tuned, [name]: text })} />
      </div>
      <div className="buttons">
        <button type="button" className="primary" disabled={busy} onClick={() => void go()}>Continue</button>
        <button type="button" onClick={() => dialog.current!.close()}>Cancel</button>
      </div>
    </dialog>
  );
}

interface StatesProps {
  states: readonly State[];
  changed: Record<string, number[]>;
  onChange: (block: string, values: number[]) => void;
}

function States({ states, changed, onChange }: StatesProps) {
  if (states.length === 0) return null;
  return (
    <section aria-label="States">
      <h3>States</h3>
      {states.map(({ block, values, labels }) => {
        const now = changed[block] ?? values;
        return (
          <fieldset key={block} className="state-block">
            <legend>{block}{changed[block] && " ● changed"}</legend>
            {now.slice(0, MOST).map((value, index) => {
              const name = labels[index] ?? String(index);
              return (
                <label key={index}>
                  <span>{name}</span>
                  <input type="number" step="any" className="number" aria-label={`${block} ${name}`} defaultValue={Number(value.toPrecision(6))}
                    onChange={({ target }) => {
                      if (Number.isFinite(target.valueAsNumber)) onChange(block, now.map((old, at) => (at === index ? target.valueAsNumber : old)));
                    }} />
                </label>
              );
            })}
          </fieldset>
        );
      })}
    </section>
  );
}

interface ParametersProps {
  runs: Runs;
  tuned: Record<string, string>;
  onChange: (name: string, text: string) => void;
}

function Parameters({ runs, tuned, onChange }: ParametersProps) {
  const all = useTunables(runs);
  const [search, setSearch] = useState("");
  if (all.length === 0) return null;
  const some = found(all, search);
  return (
    <section aria-label="Parameters">
      <h3>Parameters</h3>
      <input type="search" aria-label="Search parameters" placeholder="Search parameters" value={search} onChange={({ target }) => setSearch(target.value)} />
      <table>
        <tbody>
          {some.slice(0, MOST).map(({ name, unit }) => {
            const text = tuned[name] ?? all.find((one) => one.name === name)!.first;
            return (
              <tr key={name}>
                <th scope="row">{name}{tuned[name] !== undefined && " ● changed"}</th>
                <td><input className="number" aria-label={name} value={text} onChange={({ target }) => onChange(name, target.value)} /></td>
                <td className="note">{unit}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

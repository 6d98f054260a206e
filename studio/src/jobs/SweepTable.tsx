// The table of a sweep: a row for each run, sorted by any column; each can be run in the page.

import { useEffect, useState } from "react";

import { attempt } from "../actions";
import type { Job, SweepTable as Table } from "../protocol";
import type { Runs } from "../run/runs";
import { connection, patch } from "../store";

type Sort = { by: string; down: boolean };

export function SweepTable({ runs, job }: { runs: Runs; job: Job }) {
  const [sort, setSort] = useState<Sort>({ by: "", down: false });
  const [start, setStart] = useState(0);
  const [table, setTable] = useState<Table | null>(null);
  useEffect(() => {
    let wanted = true;
    const asked = { job: job.job, start, sort: sort.by, down: sort.down };
    void attempt(() => connection.ask("sweep-table", asked)).then((found) => found && wanted && setTable(found));
    return () => void (wanted = false);
  }, [job.job, job.state, start, sort]);
  if (!table) return <p className="note">Loading…</p>;
  const { columns, rows, count, planned, failed, metrics } = table;
  const by = (column: string): void => {
    setStart(0);
    setSort({ by: column, down: sort.by === column && !sort.down });
  };
  const run = async (number: number): Promise<void> => {
    const begun = await attempt(() => connection.ask("sweep-run", { job: job.job, run: number, speed: runs.state.speed }));
    if (!begun) return;
    runs.take(begun);
    patch({ panel: "scopes" });
  };
  const at = columns.indexOf("run");
  return (
    <div className="sweep-table">
      <p className="note">
        {`${count.toLocaleString("en")} of ${planned.toLocaleString("en")} runs`}{failed > 0 && `, ${failed.toLocaleString("en")} failed`}
      </p>
      <div className="sweep-rows" tabIndex={0} role="region" aria-label={`Runs of ${job.title}`}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col" className={metrics.includes(column) ? "metric" : ""} aria-sort={sort.by === column ? (sort.down ? "descending" : "ascending") : "none"}>
                  <button type="button" onClick={() => by(column)}>{column}{sort.by === column && (sort.down ? " ↓" : " ↑")}</button>
                </th>
              ))}
              <th scope="col"><span className="unseen">Open</span></th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={String(row[at])}>
                {row.map((value, k) => <td key={k} className={typeof value === "number" ? "number" : ""}>{shown(value)}</td>)}
                <td><button type="button" aria-label={`Run with the values of run ${row[at]}`} onClick={() => void run(Number(row[at]))}>Run</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {count > rows.length && (
        <div className="row">
          <button type="button" disabled={start === 0} onClick={() => setStart(Math.max(0, start - rows.length))}>Rows before</button>
          <span className="note">{`${start + 1} to ${start + rows.length} of ${count}`}</span>
          <button type="button" disabled={start + rows.length >= count} onClick={() => setStart(start + rows.length)}>Rows after</button>
        </div>
      )}
    </div>
  );
}

function shown(value: number | string | boolean | null): string {
  if (value === null) return "–";
  return typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value);
}

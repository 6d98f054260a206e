// Cells of numbers, to type into and to paste into from a spreadsheet.

import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef } from "react";

import { pasted, put } from "./values";

interface Props {
  rows: string[][];
  /** The names of the columns; numbers without. */
  names?: readonly string[];
  name: string;
  onChange: (rows: string[][]) => void;
}

export function CellGrid({ rows, names, name, onChange }: Props) {
  const home = useRef<HTMLDivElement>(null);
  const wanted = useRef<[number, number] | null>(null);
  const width = rows[0]?.length ?? 1;
  const cellAt = (i: number, j: number): HTMLInputElement | null =>
    home.current?.querySelector(`[data-cell="${i},${j}"]`) ?? null;
  useEffect(() => {
    if (wanted.current) cellAt(...wanted.current)?.focus(); // which selects it
    wanted.current = null;
  });
  const set = (i: number, j: number, text: string): void => onChange(rows.map((row, k) => (k === i ? row.map((one, l) => (l === j ? text : one)) : row)));
  const addRow = (at = rows.length): void => {
    wanted.current = [at, 0];
    onChange([...rows.slice(0, at), Array.from({ length: width }, () => ""), ...rows.slice(at)]);
  };
  const press = (event: KeyboardEvent<HTMLInputElement>, i: number, j: number): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { selectionStart: start, selectionEnd: end, value } = event.currentTarget;
    const isAll = start === 0 && end === value.length;
    const step = event.key === "ArrowUp" ? [-1, 0] : event.key === "ArrowDown" ? [1, 0]
      : event.key === "ArrowLeft" && (start === 0 || isAll) ? [0, -1] : event.key === "ArrowRight" && (end === value.length || isAll) ? [0, 1] : null;
    if (step) {
      const next = cellAt(i + step[0]!, j + step[1]!);
      next?.focus();
      event.preventDefault();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (i + 1 === rows.length) addRow();
      else cellAt(i + 1, j)?.focus();
    }
  };
  const paste = (event: ClipboardEvent, i: number, j: number): void => {
    const others = pasted(event.clipboardData.getData("text"));
    if (!others) return;
    event.preventDefault();
    onChange(names ? put(rows, others.map((row) => row.slice(0, width - j)), i, j) : put(rows, others, i, j));
  };
  return (
    <div className="grid-home" ref={home}>
      <table aria-label={name}>
        <thead>
          <tr><td />{(names ?? rows[0] ?? []).map((one, j) => <th key={j} scope="col">{names ? one : j}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              <th scope="row">{i}</th>
              {row.map((one, j) => (
                <td key={j}>
                  <input data-cell={`${i},${j}`} aria-label={`${names?.[j] ?? `column ${j}`}, row ${i}`} value={one} spellCheck={false} autoComplete="off"
                    onFocus={(event) => event.target.select()} onChange={(event) => set(i, j, event.target.value)}
                    onKeyDown={(event) => press(event, i, j)} onPaste={(event) => paste(event, i, j)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div className="grid-tools" role="toolbar" aria-label="Rows and columns">
        <button type="button" onClick={() => addRow()}>Add a row</button>
        <button type="button" disabled={rows.length < 2} onClick={() => onChange(rows.slice(0, -1))}>Remove the last row</button>
        {!names && <button type="button" onClick={() => onChange(rows.map((row) => [...row, ""]))}>Add a column</button>}
        {!names && <button type="button" disabled={width < 2} onClick={() => onChange(rows.map((row) => row.slice(0, -1)))}>Remove the last column</button>}
        {!names && <button type="button" onClick={() => onChange(rows[0]!.map((_, j) => rows.map((row) => row[j]!)))}>Transpose</button>}
      </div>
    </div>
  );
}

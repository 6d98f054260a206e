// A value in a window of its own: cells, a table with its curve, lines of formulas, or its text.

import { type KeyboardEvent, useEffect, useRef, useState } from "react";

import { edit, tried } from "../actions";
import { Dialog } from "../app/Dialog";
import { Tool } from "../app/Header";
import type { Field, Operation, Problem } from "../protocol";
import { CellGrid } from "./CellGrid";
import { Curve } from "./Curve";
import "./editors.css";
import { cellsOf, linesOf, textOfCells, textOfLines } from "./values";
import { fromYaml } from "./yaml";

interface Props {
  field: Field;
  /** What is typed of it, as YAML. */
  text: string;
  /** The fields of the same block. */
  beside: readonly Field[];
  isOwn: (problem: Problem) => boolean;
  onClose: () => void;
}

type Mode = "table" | "cells" | "lines" | "text";

const NAMES: Record<Mode, string> = { table: "Table", cells: "Cells", lines: "Lines", text: "Text" };
const PAIRS = [["x", "y"], ["times", "values"]];
const PAUSE = 250;

export default function ValueDialog({ field, text, beside, isOwn, onClose }: Props) {
  const pair = pairOf(field, beside);
  const more = field.lines && field.name !== "arguments" ? beside.find(({ name }) => name === "arguments") : undefined;
  const all = pair ?? (more ? [field, more] : [field]);
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(all.map((one) => [one.path, one === field || one.path === field.path ? text : one.text ?? ""])));
  const [mode, setMode] = useState<Mode>(() => firstMode(field, text, pair && tableOf(pair, texts)));
  const [wrong, setWrong] = useState<Problem | undefined>();
  const home = useRef<HTMLDivElement>(null);
  useEffect(() => { // after the window is open, which gives the focus to its first button
    const first = home.current?.querySelector<HTMLInputElement>("td input, textarea");
    first?.focus();
  }, [mode]);
  const own = texts[field.path] ?? "";
  const operations = all.flatMap((one): Operation[] => operationsFor(one, texts[one.path] ?? ""));
  const key = JSON.stringify(operations);
  useEffect(() => {
    let wanted = true;
    const timer = setTimeout(() => {
      if (operations.length === 0) return setWrong(undefined);
      void tried(...operations).then(({ problems, refused }) => wanted && setWrong(refused ?? problems.find(isOwn)));
    }, PAUSE);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [key]);
  const keep = async (): Promise<void> => {
    if (operations.length === 0 || (await edit(...operations))) return onClose();
    const { refused } = await tried(...operations);
    setWrong(refused);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void keep();
    }
    event.stopPropagation(); // no key of this window is one of the field's
  };
  const modes = (["table", "cells", "lines", "text"] as const).filter((one) => canBe(one, own, field, pair && tableOf(pair, texts)) || one === mode);
  const set = (path: string, value: string): void => setTexts((known) => ({ ...known, [path]: value }));
  return (
    <Dialog name={`Value of ${field.name}`} className="value-dialog" onClose={onClose}>
      <div ref={home} onKeyDown={press}>
        <div className="dialog-head">
          <h2>{pair ? pair.map(({ name }) => name).join(", ") : field.name}{field.unit && <span className="unit"> [{field.unit}]</span>}</h2>
          <Tool icon="close" name="Close" onClick={onClose} />
        </div>
        <p className="doc">{field.doc}</p>
        <div className="value-modes" role="group" aria-label="Shown as">
          {modes.map((one) => <button key={one} type="button" aria-pressed={one === mode} onClick={() => setMode(one)}>{NAMES[one]}</button>)}
        </div>
        {mode === "table" && pair && <Table pair={pair} texts={texts} beside={beside} onChange={setTexts} />}
        {mode === "cells" && <Cells key={field.path} name={field.name} text={own} onChange={(value) => set(field.path, value)} />}
        {mode === "lines" && (
          <Lines field={field} text={own} onChange={(value) => set(field.path, value)}
            more={more && { text: texts[more.path] ?? "", onChange: (value) => set(more.path, value) }} />
        )}
        {mode === "text" && (
          <textarea aria-label={`${field.name} as text`} value={own} spellCheck={false} onChange={(event) => set(field.path, event.target.value)} />
        )}
        {wrong && <p className="wrong-text" role="alert">{wrong.message} <span className="hint">{wrong.hint}</span></p>}
        <div className="value-end">
          <button type="button" onClick={onClose} title="Escape">Cancel</button>
          <button type="button" onClick={() => void keep()} title="Ctrl+Enter">Keep</button>
        </div>
      </div>
    </Dialog>
  );
}

function operationsFor({ path, text }: Field, typed: string): Operation[] {
  const value = typed.trim();
  if (value === (text ?? "").trim()) return [];
  return value === "" ? [{ op: "unset", path }] : [{ op: "set", path, text: value }];
}

/** The two fields that are the columns of a table. */
function pairOf(field: Field, beside: readonly Field[]): readonly [Field, Field] | null {
  for (const names of PAIRS) {
    const found = names.map((name) => beside.find((one) => one.name === name));
    if (names.includes(field.name) && found[0] && found[1] && !beside.some(({ name }) => name === "z")) return [found[0], found[1]];
  }
  return null;
}

/** The columns of a table, where both are lists of one length. */
function tableOf(pair: readonly [Field, Field], texts: Record<string, string>): string[][] | null {
  const columns = pair.map(({ path }) => cellsOf(texts[path] ?? ""));
  const [x, y] = columns;
  if (!x || !y || (x.rows[0]?.length ?? 1) > 1) return null;
  const isNew = x.rows.length === 1 && y.rows.length === 1;
  if (!isNew && (x.shape === "scalar" || y.shape === "scalar")) return null;
  return x.rows.length === y.rows.length ? x.rows.map((row, k) => [row[0]!, ...y.rows[k]!]) : null;
}

function canBe(mode: Mode, text: string, field: Field, table: string[][] | null): boolean {
  if (mode === "table") return table !== null;
  if (mode === "cells") return !field.lines && field.kind !== "text" && cellsOf(text) !== null;
  if (mode === "lines") return (field.lines || isOfTexts(text)) && linesOf(text) !== null;
  return true;
}

function isOfTexts(text: string): boolean {
  return (linesOf(text) ?? []).some((line) => !/^[-+.\d$]/.test(line));
}

function firstMode(field: Field, text: string, table: string[][] | null): Mode {
  return (["table", "lines", "cells", "text"] as const).find((mode) => canBe(mode, text, field, table)) ?? "text";
}

function Cells({ name, text, onChange }: { name: string; text: string; onChange: (text: string) => void }) {
  const [cells, setCells] = useState(() => cellsOf(text)!);
  return (
    <CellGrid name={name} rows={cells.rows} onChange={(rows) => {
      const shape = rows[0]!.length > 1 ? "matrix" : rows.length > 1 && cells.shape === "scalar" ? "list" : cells.shape;
      const next = { shape, rows } as const;
      setCells(next);
      onChange(rows.every((row) => row.every((one) => one.trim() === "")) ? "" : textOfCells(next));
    }} />
  );
}

interface TableProps {
  pair: readonly [Field, Field];
  texts: Record<string, string>;
  beside: readonly Field[];
  onChange: (texts: Record<string, string>) => void;
}

function Table({ pair, texts, beside, onChange }: TableProps) {
  const [rows, setRows] = useState(() => tableOf(pair, texts)!);
  const [x, y] = pair;
  const width = rows[0]!.length;
  const names = [x.name, ...(width === 2 ? [y.name] : rows[0]!.slice(1).map((_, k) => `${y.name}[${k}]`))];
  const change = (next: string[][]): void => {
    setRows(next);
    onChange({
      [x.path]: textOfCells({ shape: "list", rows: next.map((row) => row.slice(0, 1)) }),
      [y.path]: textOfCells({ shape: width > 2 ? "matrix" : "list", rows: next.map((row) => row.slice(1)) }),
    });
  };
  const points = rows.map((row) => [Number(row[0]), Number(row[1])] as const);
  const isDrawn = width === 2 && rows.every((row) => row.every((one) => one.trim() !== "" && Number.isFinite(Number(one))));
  const how = beside.find(({ name }) => name === "interpolation");
  return (
    <div className="value-body">
      <CellGrid name={`${x.name} and ${y.name}`} names={names} rows={rows} onChange={change} />
      {isDrawn && (
        <Curve points={points} interpolation={fromYaml(how?.text ?? how?.default ?? "")} names={[x.name, y.name]}
          onMove={(index, px, py) => change(rows.map((row, k) => (k === index ? [String(px), String(py)] : row)))} />
      )}
    </div>
  );
}

interface LinesProps {
  field: Field;
  text: string;
  onChange: (text: string) => void;
  more?: { text: string; onChange: (text: string) => void };
}

function Lines({ field, text, onChange, more }: LinesProps) {
  const [typed, setTyped] = useState(() => (linesOf(text) ?? []).join("\n"));
  const [names, setNames] = useState(() => (more && linesOf(more.text)?.join(", ")) ?? "");
  const wasList = useRef(text.trim().startsWith("["));
  return (
    <>
      {more && (
        <label>Arguments, the names of the inputs
          <input className="arguments" value={names} spellCheck={false} placeholder="u" onChange={(event) => {
            setNames(event.target.value);
            const all = event.target.value.split(/[\s,]+/).filter(Boolean);
            more.onChange(all.length ? `[${all.join(", ")}]` : "");
          }} />
        </label>
      )}
      <textarea aria-label={`${field.name}, one a line`} value={typed} spellCheck={false} onChange={(event) => {
        setTyped(event.target.value);
        onChange(textOfLines(event.target.value, wasList.current));
      }} />
      <p className="hint">One a line; a line that begins with a space goes on with the one before.</p>
    </>
  );
}

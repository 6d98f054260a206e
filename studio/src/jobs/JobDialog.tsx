// The form of a sweep, a comparison or an export: the options of the command of spart.

import { type FormEvent, useEffect, useId, useRef, useState } from "react";

import { attempt, written } from "../actions";
import { Dialog } from "../app/Dialog";
import { fromYaml } from "../forms/yaml";
import type { Content, JobKind, JobOption } from "../protocol";
import { connection, now, patch, useStudio } from "../store";
import "./jobs.css";
import { useDiagrams } from "./diagrams";
import { allKinds, begin } from "./jobs";
import { isPair, labelOf, optionsOf, parted, sidesOf, type Typed } from "./options";

const TITLES = { sweep: "Sweep: many runs", fit: "Fit to measurements", tune: "Tune a design", optimize: "Optimal control", compare: "Compare", export: "Export" } as const;
const BUTTONS = { sweep: "Run the sweep", fit: "Fit", tune: "Tune", optimize: "Optimize", compare: "Run and compare", export: "Export" } as const;
type Which = keyof typeof TITLES;

const NOTES: Record<string, string> = {
  sweep: "What is left empty is as the section sweep: of the file has it.",
  fit: "Measured files and experiments are those of the section fit: of the file. Parameters left empty are, too.",
  tune: "What is asked and the cases are those of the section tune: of the file. What is left empty is, too.",
  optimize: "What is left empty is as the section optimize: of the file has it.",
  compare: "Left empty, all choices of the file's variants are compared. Metrics are those of the section compare: of the file.",
};

export const SweepDialog = () => <JobDialog which="sweep" />;
export const FitDialog = () => <JobDialog which="fit" />;
export const TuneDialog = () => <JobDialog which="tune" />;
export const OptimizeDialog = () => <JobDialog which="optimize" />;
export const CompareDialog = () => <JobDialog which="compare" />;
export const ExportDialog = () => <JobDialog which="export" />;

/** What was typed last, by file and kind, to be changed and tried again. */
const kept = new Map<string, Typed>();

function JobDialog({ which }: { which: Which }) {
  const [kinds, setKinds] = useState<readonly JobKind[] | null>(null);
  const close = (): void => patch({ dialog: null });
  useEffect(() => void allKinds().then((found) => (found ? setKinds(found) : close())), []);
  return (
    <Dialog name={TITLES[which]} className="job-dialog" onClose={close}>
      <h2>{TITLES[which]}</h2>
      {kinds ? <JobForm which={which} kinds={kinds.filter(({ kind, export: exports }) => (which === "export" ? exports : kind === which))} onClose={close} />
        : <p role="status">Loading…</p>}
    </Dialog>
  );
}

function JobForm({ which, kinds, onClose }: { which: Which; kinds: readonly JobKind[]; onClose: () => void }) {
  const path = useStudio(({ opened }) => opened?.path ?? "");
  const [name, setName] = useState(kinds[0]!.kind);
  const kind = kinds.find((one) => one.kind === name) ?? kinds[0]!;
  const key = `${path} ${name}`;
  const [typed, setTyped] = useState<Typed>(() => kept.get(key) ?? firstOf(kind));
  const [format, setFormat] = useState("");
  const [other, setOther] = useState("");
  const [busy, setBusy] = useState(false);
  const contents = useContents(path);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("select, input")?.focus(), []);
  const [first, others] = parted(name, kind.options);
  const choose = (next: string): void => {
    setName(next);
    setFormat("");
    setTyped(kept.get(`${path} ${next}`) ?? firstOf(kinds.find((one) => one.kind === next)!));
  };
  const change = (option: string, value: Typed[string]): void => {
    const next = { ...typed, [option]: value };
    kept.set(key, next);
    setTyped(next);
  };
  const go = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    await written(); // the file as it is in the page
    const asked = { kind: name, options: optionsOf(kind.options, typed), ...(format && { format }), ...(other && { other }) };
    const begun = await begin(asked, which === "export");
    setBusy(false);
    if (begun) onClose();
  };
  const field = (option: JobOption) => <Option key={`${name} ${option.name}`} option={option} value={typed[option.name]} contents={contents} onChange={(value) => change(option.name, value)} />;
  return (
    <form ref={form} className="job-form" onSubmit={(event) => void go(event)}>
      <div className="job-fields">
        {kinds.length > 1 && (
          <label className="job-option"><span>what</span>
            <select value={name} onChange={({ target }) => choose(target.value)}>
              {kinds.map((one) => <option key={one.kind} value={one.kind}>{one.title}</option>)}
            </select>
          </label>
        )}
        {kind.formats.length > 0 && (
          <label className="job-option"><span>file type</span>
            <select value={format || kind.formats[0]} onChange={({ target }) => setFormat(target.value)}>
              {kind.formats.map((one) => <option key={one}>{one}</option>)}
            </select>
          </label>
        )}
        {name === "compare" && <Other own={path} value={other} onChange={setOther} />}
        {NOTES[name] && <p className="doc">{NOTES[name]}</p>}
        {first.map(field)}
        {others.length > 0 && <details open={first.length === 0 && !kind.formats.length}><summary>More options</summary>{others.map(field)}</details>}
      </div>
      <div className="row">
        <button type="submit" className="primary" disabled={busy}>{BUTTONS[which]}</button>
        <button type="button" onClick={onClose}>Cancel</button>
        <span className="doc">spart {kind.command}</span>
      </div>
    </form>
  );
}

/** The second file of a comparison. */
function Other({ own, value, onChange }: { own: string; value: string; onChange: (path: string) => void }) {
  const diagrams = useDiagrams();
  return (
    <label className="job-option"><span>with another file</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">no: variants and cases of this one</option>
        {diagrams.filter(({ path }) => path !== own).map(({ path }) => <option key={path}>{path}</option>)}
      </select>
    </label>
  );
}

/** The variants that are shown, where others than the file's own are chosen, so that a sweep is of them. */
function firstOf({ kind }: JobKind): Typed {
  const chosen = now().opened?.variants.filter(({ chosen, choices }) => chosen !== choices[0]) ?? [];
  return kind === "sweep" && chosen.length ? { variant: chosen.map(({ slot, chosen: choice }) => `${slot}=${choice}`) } : {};
}

interface OptionProps {
  option: JobOption;
  value: Typed[string] | undefined;
  contents: readonly Content[];
  onChange: (value: Typed[string]) => void;
}

function Option({ option, value, contents, onChange }: OptionProps) {
  const id = useId();
  const { name, doc, choices, flag, several, required, default: otherwise } = option;
  const label = labelOf(option);
  const text = typeof value === "string" ? value : "";
  const common = { id, "aria-describedby": `${id}-doc` };
  if (flag) {
    return (
      <div className="job-option">
        <label className="job-flag"><input {...common} type="checkbox" checked={value === true} onChange={({ target }) => onChange(target.checked)} /> {label}</label>
        <p className="doc" id={`${id}-doc`}>{doc}</p>
      </div>
    );
  }
  return (
    <div className="job-option">
      <label htmlFor={id}>{label}{required && <abbr title="required">*</abbr>}</label>
      {choices.length ? (
        <select {...common} value={text} onChange={({ target }) => onChange(target.value)}>
          <option value="">{otherwise ? `${otherwise} (default)` : ""}</option>
          {choices.filter((one) => one !== otherwise).map((one) => <option key={one}>{one}</option>)}
        </select>
      ) : several ? (
        <Lines {...common} option={option} label={label} lines={Array.isArray(value) ? (value as readonly string[]) : []} names={namesFor(name, contents)} onChange={onChange} />
      ) : (
        <input {...common} value={text} placeholder={otherwise || option.value.toLowerCase()} required={required} spellCheck={false} autoComplete="off"
          onChange={({ target }) => onChange(target.value)} />
      )}
      <p className="doc" id={`${id}-doc`}>{doc.replace(/ May be repeated\./, "")}</p>
    </div>
  );
}

interface LinesProps {
  id: string;
  "aria-describedby": string;
  option: JobOption;
  label: string;
  lines: readonly string[];
  names: readonly string[];
  onChange: (lines: string[]) => void;
}

/** The values of an option that may be repeated, one in each line; there is always an empty line more. */
function Lines({ id, "aria-describedby": about, option, label, lines, names, onChange }: LinesProps) {
  const rows = [...lines, ""];
  const set = (at: number, text: string): void => onChange(rows.map((line, k) => (k === at ? text : line)).filter((line, k) => line !== "" || k < at));
  const [left = "", right = ""] = sidesOf(option.value.toLowerCase());
  return (
    <div className="job-lines" role="group" aria-label={label}>
      {rows.map((line, k) => {
        const common = { spellCheck: false, autoComplete: "off", "aria-describedby": about, required: option.required && k === 0, ...(k === 0 && { id }) };
        if (!isPair(option)) {
          return <input key={k} {...common} aria-label={`${label} ${k + 1}`} placeholder={option.value.toLowerCase()} list={`${id}-names`} value={line} onChange={({ target }) => set(k, target.value)} />;
        }
        const [name, value] = sidesOf(line);
        const joined = (a: string, b: string): string => (a || b ? `${a}=${b}` : "");
        return (
          <div className="job-pair" key={k}>
            <input {...common} aria-label={`${label} ${k + 1}: ${left}`} placeholder={left} list={`${id}-names`} value={name} onChange={({ target }) => set(k, joined(target.value.replace(/=/g, ""), value))} />
            <input aria-label={`${label} ${k + 1}: ${right}`} spellCheck={false} autoComplete="off" placeholder={EXAMPLES[option.name] ?? right} value={value} onChange={({ target }) => set(k, joined(name, target.value))} />
          </div>
        );
      })}
      <datalist id={`${id}-names`}>{names.map((one) => <option key={one} value={one} />)}</datalist>
    </div>
  );
}

const EXAMPLES: Record<string, string> = {
  over: "[10, 20] or {normal: {mean: 20, sd: 2}}", metric: "abs(final(plant.qm[0]))", constraint: "peak(torque) <= 2", control: "[-1, 1]", end: "[1, 0] or {max: 1}", limit: "{max: 1}", parameter: "[0.1, 10]", variant: "a,b",
};
const MOST_NAMES = 500;

/** What can be named in an option: parameters, slots, blocks or signals. */
function namesFor(option: string, contents: readonly Content[]): string[] {
  const { opened, sheet } = now();
  if (option === "variant") return opened?.variants.map(({ slot }) => slot) ?? [];
  if (["input", "output", "open", "end", "limit"].includes(option)) return [...new Set(sheet?.wires.map(({ source }) => source))];
  const full = ({ at, block }: Content): string => (at ? `${at}/${block}` : block);
  if (["part", "plant", "block"].includes(option)) return contents.map(full).slice(0, MOST_NAMES);
  if (["metric", "case", "constraint"].includes(option)) return [];
  const own = opened?.params.map(({ name }) => name) ?? [];
  const others = contents.flatMap((one) => Object.entries(one.parameters).filter(([, text]) => isNumber(text)).map(([name]) => `${full(one)}.${name}`));
  return [...own, ...others, "run.T"].slice(0, MOST_NAMES);
}

function isNumber(text: string): boolean {
  return /^[-+[\d.]/.test(fromYaml(text));
}

function useContents(path: string): readonly Content[] {
  const [found, setFound] = useState<readonly Content[]>([]);
  useEffect(() => void attempt(() => connection.ask("contents", { path })).then((all) => all && setFound(all)), [path]);
  return found;
}

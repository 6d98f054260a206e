// The form of one block, made from what its type says of its parameters.

import { lazy, Suspense } from "react";

import { openFile, showSheet } from "../actions";
import { Mend } from "../app/Mend";
import { renameBlock } from "../canvas/commands";
import type { Form, SheetBlock } from "../protocol";
import { askForBreakpoint } from "../run/asking";
import { patch, pathOf, useStudio } from "../store";
import { CommittedInput } from "./CommittedInput";
import { FieldInput } from "./FieldInput";
import { useForm } from "./useForm";

const BusForm = lazy(() => import("./BusForm"));
const KindsForm = lazy(() => import("../kinds/KindsForm"));
const VariantForm = lazy(() => import("./VariantForm"));

/** What has a list of its own in the form of a block of buses. */
const BUS_FIELDS: readonly string[] = ["signals", "bus"];

export function BlockForm({ name }: { name: string }) {
  const sheet = useStudio((state) => state.sheet);
  const problems = useStudio((state) => state.opened?.problems) ?? [];
  const form = useForm(name);
  const block = sheet?.blocks.find((one) => one.name === name);
  if (!block || !sheet) return null;
  const path = pathOf(sheet.at, name);
  const readOnly = sheet.within === null;
  const isBus = /^BUS_(CREATOR|SELECTOR|ASSIGNMENT)$/.test(block.type);
  const fields = (form?.fields ?? []).filter((field) => !isBus || !BUS_FIELDS.includes(field.name));
  const known = new Set(fields.map((field) => field.name));
  const own = problems.filter((problem) => problem.block === path);
  const others = own.filter(({ argument }) => !argument || !known.has(argument));
  return (
    <section className="form" aria-label={name} aria-busy={!form}>
      <h2 className="unseen">{name}</h2>
      <CommittedInput className="form-name" aria-label="Name of the block" value={name} readOnly={readOnly} commit={(to) => renameBlock(name, to)} />
      <p className="form-type">
        {readOnly ? <strong>{block.type}</strong> : <button type="button" title="Another type" onClick={() => patch({ dialog: "retype" })}>{block.type}</button>}
        {form && <span>{form.summary}</span>}
      </p>
      <Openers block={block} />
      {sheet.at === "" && !readOnly && <Suspense><VariantForm name={name} type={block.type} /></Suspense>}
      {others.map((problem) => (
        <p className="wrong-text" key={problem.message}>{problem.message} <Mend problem={problem} /> <span className="hint">{problem.hint}</span></p>
      ))}
      {isBus && <Suspense><BusForm name={name} /></Suspense>}
      {fields.map((field) => (
        <FieldInput key={field.path} field={field} readOnly={readOnly} beside={fields}
          problems={own.filter(({ argument }) => argument === field.name)}
          isOwn={(problem) => problem.block === path && (!problem.argument || problem.argument === field.name)} />
      ))}
      {block.opens !== null && block.look === "subsystem" && <Suspense><KindsForm block={name} /></Suspense>}
      {form && <About form={form} />}
    </section>
  );
}

function Openers({ block: { opens, file } }: { block: SheetBlock }) {
  return (
    <div className="row">
      {opens !== null && <button type="button" onClick={() => void showSheet(opens)}>Open</button>}
      <button type="button" title="Pause runs at its events, or when its signals meet a condition (F9)" onClick={askForBreakpoint}>Breakpoint…</button>
      {file !== null && <button type="button" onClick={() => void openFile(file)}>Open its file, {file}</button>}
    </div>
  );
}

function About({ form: { description, ports } }: { form: Form }) {
  return (
    <>
      {ports.length > 0 && (
        <details className="ports">
          <summary>Ports</summary>
          <dl>
            {ports.map(({ name, output, shape, unit, doc }) => (
              <div key={`${output} ${name}`}>
                <dt>{output ? "out" : "in"} {name} <span className="unit">{[shape && `(${shape})`, unit].filter(Boolean).join(" ")}</span></dt>
                <dd>{doc}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {description.length > 0 && (
        <details className="about">
          <summary>About this block</summary>
          {description.map((text) => <p key={text}>{text}</p>)}
        </details>
      )}
    </>
  );
}

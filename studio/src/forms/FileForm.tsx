// What is the file's own: its parameters and how it runs.

import { useState } from "react";

import { edit } from "../actions";
import type { Field, Opened, Problem } from "../protocol";
import { useStudio } from "../store";
import { FieldInput } from "./FieldInput";

export function FileForm() {
  const opened = useStudio((state) => state.opened);
  if (!opened) return null;
  const about = (field: Field) => (problem: Problem): boolean => !problem.block && problem.argument === field.name;
  const input = (field: Field) => (
    <FieldInput key={field.path} field={field} problems={opened.problems.filter(about(field))} isOwn={(problem) => !problem.block} />
  );
  return (
    <section className="form" aria-label="File">
      <h2>{opened.name}</h2>
      {opened.description && <p>{opened.description}</p>}
      <h3>Parameters</h3>
      {opened.params.map(input)}
      <NewParameter />
      <h3>Run</h3>
      {runFields(opened).map(input)}
    </section>
  );
}

function runFields({ run: { T, solver } }: Opened): Field[] {
  const shared = { choices: [], required: false, tunable: null };
  return [
    { ...shared, name: "T", path: "run.T", kind: "number", unit: "s", doc: "How long a run lasts.", default: "", text: String(T) },
    { ...shared, name: "solver", path: "run.solver", kind: "text", unit: "", doc: "What integrates over time.", default: "", text: solver },
  ];
}

function NewParameter() {
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const add = async (): Promise<void> => {
    if (!(await edit({ op: "set", path: `params.${name.trim()}`, text: value.trim() }))) return;
    setName("");
    setValue("");
  };
  return (
    <form className="new-parameter" onSubmit={(event) => { event.preventDefault(); void add(); }}>
      <input aria-label="Name of a new parameter" placeholder="name" value={name} required spellCheck={false} onChange={(event) => setName(event.target.value)} />
      <input aria-label="Value of a new parameter" placeholder="value" value={value} required spellCheck={false} onChange={(event) => setValue(event.target.value)} />
      <button type="submit">Add</button>
    </form>
  );
}

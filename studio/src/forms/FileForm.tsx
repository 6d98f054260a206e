// What is the file's own: its parameters and how it runs.

import { lazy, Suspense, useEffect, useRef, useState } from "react";

import { edit } from "../actions";
import { Tool } from "../app/Header";
import type { Field, ModelFile, Operation, Problem } from "../protocol";
import { connection, patch, useStudio } from "../store";
import { NewName } from "./CommittedInput";
import { FieldInput } from "./FieldInput";
import { useForm } from "./useForm";

export function FileForm() {
  const opened = useStudio((state) => state.opened);
  const within = useStudio((state) => state.sheet?.within);
  const form = useForm("");
  if (!opened) return null;
  const about = (field: Field) => (problem: Problem): boolean => !problem.block && problem.argument === field.name;
  const common = (field: Field) => ({
    field, problems: opened.problems.filter(about(field)), isOwn: (problem: Problem) => !problem.block,
  });
  return (
    <section className="form" aria-label="File">
      <h2>{opened.name}</h2>
      {opened.description && <p>{opened.description}</p>}
      {within && (
        <>
          <h3>Parameters of {within}</h3>
          {form?.fields.filter(({ path }) => path.startsWith(`subsystems.${within}.params.`)).map((field) => (
            <FieldInput key={field.path} field={field} problems={[]} isOwn={() => true} tools={<Remove field={field} />} />
          ))}
          <NewEntry section={`subsystems.${within}.params`} what={`parameter of ${within}`} example="value" />
        </>
      )}
      <h3>Parameters</h3>
      {opened.params.map((field) => <Entry key={field.path} {...common(field)} renaming={(name, to) => ({ op: "rename-parameter", name, to })} />)}
      <NewEntry section="params" what="parameter" example="value" />
      <h3>Robots</h3>
      {opened.robots.map((field) => <Entry key={field.path} {...common(field)} renaming={entry("robots")} />)}
      <NewRobot />
      <h3>Clocks</h3>
      {opened.clocks.map((field) => <Entry key={field.path} {...common(field)} renaming={entry("clocks")} />)}
      <NewEntry section="clocks" what="clock" example="{T: 0.01}" />
      <h3>Run</h3>
      {form?.fields.filter(({ path }) => path.startsWith("run.")).map((field) => <FieldInput key={field.path} {...common(field)} />)}
    </section>
  );
}

const Declaration = lazy(async () => ({ default: (await import("./Declaration")).Declaration }));

function entry(section: "clocks" | "robots"): Renaming {
  return (name, to) => ({ op: "rename-entry", section, name, to });
}

type Renaming = (name: string, to: string) => Operation;

/** A parameter, robot or clock of the file, whose name can be changed with all its uses. */
function Entry({ renaming, ...given }: Parameters<typeof FieldInput>[0] & { renaming: Renaming }) {
  const { name } = given.field;
  const [naming, setNaming] = useState(false);
  const [about, setAbout] = useState(false);
  const rename = async (to: string | null): Promise<void> => {
    setNaming(false);
    if (to && to !== name && (await edit(renaming(name, to)))) patch({ filling: to });
  };
  const heading = naming && <NewName name={name} onDone={rename} />;
  const { min, max } = given.field;
  const bounds = min == null && max == null ? "" : `${min ?? "−∞"} to ${max ?? "∞"}`;
  const isParameter = given.field.path.startsWith("params.");
  const declared = isParameter && (min != null || max != null || given.field.unit || given.field.doc);
  const tools = (
    <>
      {isParameter && <Tool icon="about" name={`Unit, bounds and meaning of ${name}`} onClick={() => setAbout(!about)} />}
      <Tool icon="rename" name={`Rename ${name}, also where it is used`} onClick={() => setNaming(true)} />
      <Remove field={given.field} also={declared ? `declare.${name}` : undefined} />
    </>
  );
  const field = bounds ? { ...given.field, doc: [given.field.doc, bounds].filter(Boolean).join("; ") } : given.field;
  return (
    <>
      <FieldInput {...given} field={field} heading={heading} tools={tools} />
      {about && <Suspense><Declaration field={given.field} onClose={() => setAbout(false)} /></Suspense>}
    </>
  );
}

function Remove({ field: { name, path }, also }: { field: Field; also?: string | undefined }) {
  const operations: Operation[] = [path, ...(also ? [also] : [])].map((one) => ({ op: "unset", path: one }));
  return <Tool icon="close" name={`Remove ${name}`} onClick={() => void edit(...operations)} />;
}

/** The robot files that were found last, for the diagram of a path. */
let modelsFor: { path: string | undefined; models: readonly ModelFile[] | null } = { path: undefined, models: null };

/** A robot from a file of the project: chosen, named, added. */
function NewRobot() {
  const path = useStudio((state) => state.opened?.path);
  const [models, setModels] = useState(modelsFor.path === path ? modelsFor.models : null);
  const [chosen, setChosen] = useState("");
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const look = (): void => {
    void connection.ask("models", { path }).then((found) => {
      modelsFor = { path, models: found };
      setModels(found);
    }, () => undefined);
  };
  useEffect(() => void (models ?? look()), [path]); // there before the list is opened
  const choose = (file: string): void => {
    const model = models?.find((one) => one.path === file);
    setChosen(file);
    setName(model?.name ?? "");
    setText(model?.text ?? "");
  };
  const add = async (): Promise<void> => {
    if (await edit({ op: "set", path: `robots.${name.trim()}`, text })) choose("");
  };
  return (
    <form className="new-robot" onSubmit={(event) => { event.preventDefault(); void add(); }}>
      <select aria-label="Model of a new robot" value={chosen} onFocus={look} onPointerDown={look} onChange={(event) => choose(event.target.value)}>
        <option value="">{models?.length === 0 ? "no models in this project" : "add a robot from…"}</option>
        {models?.map((model) => <option key={model.path}>{model.path}</option>)}
      </select>
      {chosen && (
        <div className="new-parameter">
          <input aria-label="Name of the new robot" value={name} required pattern={NAME} title={NAME_RULE} spellCheck={false} onChange={(event) => setName(event.target.value)} />
          <input aria-label="Section of the new robot" value={text} required spellCheck={false} onChange={(event) => setText(event.target.value)} />
          <button type="submit">Add</button>
        </div>
      )}
    </form>
  );
}

/** Of names of parameters, robots and ports, as a pattern of inputs. */
export const NAME = "\\s*[A-Za-z_][A-Za-z0-9_]*\\s*";
export const NAME_RULE = "letters, digits and _, a letter first";

function NewEntry({ section, what, example }: { section: string; what: string; example: string }) {
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const first = useRef<HTMLInputElement>(null);
  const add = async (): Promise<void> => {
    setName("");
    setValue("");
    first.current?.focus(); // the next one is typed meanwhile
    if (await edit({ op: "set", path: `${section}.${name.trim()}`, text: value.trim() })) return;
    setName((next) => next || name);
    setValue((next) => next || value);
  };
  return (
    <form className="new-parameter" onSubmit={(event) => { event.preventDefault(); void add(); }}>
      <input ref={first} aria-label={`Name of a new ${what}`} placeholder="name" value={name} required spellCheck={false}
        pattern={NAME} title={NAME_RULE} onChange={(event) => setName(event.target.value)} />
      <input aria-label={`Value of a new ${what}`} placeholder={example} value={value} required spellCheck={false} onChange={(event) => setValue(event.target.value)} />
      <button type="submit">Add</button>
    </form>
  );
}

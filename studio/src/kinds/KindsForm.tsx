// What kind of subsystem a block is: the conditions on which it runs, and its copies.

import { edit } from "../actions";
import { CommittedInput } from "../forms/CommittedInput";
import { FieldInput } from "../forms/FieldInput";
import { NAME, NAME_RULE } from "../forms/FileForm";
import { NamesInput } from "../forms/NamesInput";
import { useAboutBlock } from "../forms/useForm";
import type { Field, Kind, Kinds, Operation } from "../protocol";

const NAMES: Record<Kind["kind"], string> = { enabled: "Enabled", triggered: "Triggered", reset: "Resettable", for_each: "For each" };

/** The kind of a block of the sheet, or of the subsystem that the sheet shows for the block "". */
export default function KindsForm({ block }: { block: string }) {
  const kinds = useAboutBlock("kinds", block);
  if (!kinds) return null;
  const { within, sheet, used, kinds: all } = kinds;
  return (
    <section className="kinds" aria-label="Kind of subsystem">
      <h3>Runs</h3>
      {within === null ? <p className="hint">Its conditions are those of its file.</p>
        : <Definition key={within} name={within} used={used} />}
      {all.map((kind) => (
        <KindRow key={kind.kind} kind={kind} kinds={kinds} readOnly={(kind.kind === "for_each" ? sheet : within) === null} />
      ))}
    </section>
  );
}

/** The name of the definition, which all blocks of it share. */
function Definition({ name, used }: { name: string; used: number }) {
  if (!name) return null;
  return (
    <label className="definition">Definition
      <CommittedInput value={name} pattern={NAME} title={NAME_RULE} commit={(to) => edit({ op: "rename-subsystem", name, to })} />
      {used > 1 && <span className="hint">shared by {used} blocks</span>}
    </label>
  );
}

function KindRow({ kind, kinds, readOnly }: { kind: Kind; kinds: Kinds; readOnly: boolean }) {
  const { given, doc, fields } = kind;
  return (
    <fieldset className="kind" disabled={readOnly}>
      <label title={doc}>
        <input type="checkbox" checked={given} onChange={() => void edit(toggled(kind, kinds))} />
        {NAMES[kind.kind]}
      </label>
      {given && fields.map((field) => <One key={field.path} field={field} readOnly={readOnly} />)}
    </fieldset>
  );
}

function One({ field, readOnly }: { field: Field; readOnly: boolean }) {
  if (field.name === "over") {
    const chosen = (field.text ?? "").replace(/^\[|\]$/g, "").split(",").map((one) => one.trim()).filter(Boolean);
    const write = (names: readonly string[]): void => void edit({ op: "set", path: field.path, text: `[${names.join(", ")}]` });
    return <NamesInput label="over" chosen={chosen} among={field.choices.map((name) => ({ name }))} readOnly={readOnly} write={write} />;
  }
  return <FieldInput field={field} readOnly={readOnly} problems={[]} isOwn={({ message }) => message.includes(field.name)} />;
}

function toggled({ kind, given, fields }: Kind, { block, within, sheet }: Kinds): Operation {
  if (kind !== "for_each") return { op: given ? "uncondition" : "condition", kind, within: within ?? "" };
  const path = (fields[0]?.path ?? "").replace(/\.[^.]*$/, "");
  return given ? { op: "unset", path } : { op: "for-each", name: block, within: sheet ?? "" };
}

// The bar above the diagram: where one is, undo and redo, search, variants.

import { choose, redo, showProject, showSheet, undo } from "../actions";
import { now, patch, useStudio } from "../store";
import { Icon, type IconName } from "./Icon";

export function Header() {
  const opened = useStudio((state) => state.opened);
  if (!opened) return null;
  return (
    <header className="header">
      <h1 className="unseen">{opened.name}</h1>
      <Tool icon="home" name="All diagrams" onClick={() => void showProject()} />
      <Breadcrumbs />
      <div className="tools" role="toolbar" aria-label="File">
        <Tool icon="undo" name={opened.undo ? `Undo: ${opened.undo}` : "Undo"} keys="Ctrl+Z"
          disabled={!opened.undo} onClick={() => void undo()} />
        <Tool icon="redo" name={opened.redo ? `Redo: ${opened.redo}` : "Redo"} keys="Ctrl+Shift+Z"
          disabled={!opened.redo} onClick={() => void redo()} />
        <Tool icon="code" name="Text" keys="Ctrl+E" onClick={() => patch({ code: now().code ? null : "file" })} />
        <Tool icon="search" name="Search" keys="Ctrl+F" onClick={() => patch({ dialog: "search" })} />
        <Tool icon="export" name="Export" keys="Shift+E" onClick={() => patch({ dialog: "export" })} />
      </div>
      <Variants />
      <span className="grow" />
      <Connected />
      <Tool icon="help" name="Keys" keys="?" onClick={() => patch({ dialog: "help" })} />
    </header>
  );
}

export interface ToolProps {
  icon: IconName;
  name: string;
  keys?: string;
  disabled?: boolean;
  /** Tab passes by: what it does has a key. */
  aside?: boolean;
  onClick: () => void;
}

/** A button with a picture. */
export function Tool({ icon, name, keys, disabled, aside, onClick }: ToolProps) {
  return (
    <button type="button" className="tool" aria-label={name} title={keys ? `${name} (${keys})` : name}
      disabled={disabled} tabIndex={aside ? -1 : undefined} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

function Breadcrumbs() {
  const opened = useStudio((state) => state.opened);
  const at = useStudio((state) => state.sheet?.at ?? "");
  const steps = at ? at.split("/") : [];
  const places = steps.map((name, k) => ({ name, at: steps.slice(0, k + 1).join("/") }));
  const crumbs = [{ name: opened?.path ?? "", at: "" }, ...places];
  return (
    <nav className="breadcrumbs" aria-label="Where you are">
      <ol>
        {crumbs.map((crumb) => (
          <li key={crumb.at}>
            <button type="button" aria-current={crumb.at === at ? "page" : undefined}
              onClick={() => void showSheet(crumb.at)}>
              {crumb.name}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Variants() {
  const variants = useStudio((state) => state.opened?.variants);
  return variants?.map(({ slot, choices, chosen }) => (
    <label className="variant" key={slot}>
      <span>{slot}</span>
      <select value={chosen} onChange={(event) => void choose(slot, event.target.value)}>
        {choices.map((choice) => <option key={choice}>{choice}</option>)}
      </select>
    </label>
  ));
}

const LOST = {
  lost: "Not connected; trying again. Where spart studio has ended, start it again and open its link",
  locked: "spart studio was started again: open the link that its terminal shows",
};

function Connected() {
  const link = useStudio((state) => state.link);
  return link === "open" ? null : <span className="gone" role="alert">{LOST[link]}</span>;
}

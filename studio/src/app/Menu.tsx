// The menu of commands for what is selected, opened by the right button, a long press or the Menu key.

import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from "react";

import { now, patch } from "../store";
import { Dialog } from "./Dialog";
import { allCommands, type Command, type Subject } from "./keys";

/** What the commands of the menu are about. */
function subjects(): Subject[] {
  const { selection, wires, marks } = now();
  const found: Subject[] = [];
  if (selection.length) found.push("block");
  if (wires.length) found.push("wire");
  if (marks.length) found.push("mark");
  return found.length ? found : ["sheet"];
}

/** The commands that do something now, group by group. */
export function commandsFor(about: readonly Subject[]): Command[][] {
  const groups = allCommands().map(([, commands]) =>
    commands.filter(({ on, when }) => on?.some((one) => about.includes(one)) && (when?.() ?? true)));
  return groups.filter((commands) => commands.length > 0);
}

/** Browsers may take for a click that the finger is lifted which has opened the menu; it would close it. */
function ignoreLifting(): () => void {
  const next = new AbortController();
  addEventListener("click", (event) => event.detail > 0 && event.stopPropagation(), { capture: true, signal: next.signal });
  addEventListener("pointerdown", () => next.abort(), { capture: true, signal: next.signal });
  return () => next.abort();
}

export function Menu({ at }: { at: { x: number; y: number } }) {
  const list = useRef<HTMLUListElement>(null);
  const groups = commandsFor(subjects());
  const close = (): void => patch({ menu: null });
  const items = (): HTMLButtonElement[] => [...(list.current?.querySelectorAll<HTMLButtonElement>("[role=menuitem]") ?? [])];
  useLayoutEffect(() => {
    const dialog = list.current?.closest("dialog");
    const box = dialog?.getBoundingClientRect();
    if (!dialog || !box) return;
    dialog.style.left = `${Math.max(4, Math.min(at.x, innerWidth - box.width - 4))}px`;
    dialog.style.top = `${Math.max(4, Math.min(at.y, innerHeight - box.height - 4))}px`;
    items()[0]?.focus();
  });
  useEffect(ignoreLifting, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = items();
    const present = all.indexOf(document.activeElement as HTMLButtonElement);
    const steps: Record<string, number> = { ArrowDown: present + 1, ArrowUp: present - 1, Home: 0, End: -1 };
    const to = steps[event.key];
    if (to !== undefined) all.at(to % all.length)?.focus();
    else if (event.key === "Tab") close();
    else if (/^[a-z]$/i.test(event.key) && !event.ctrlKey && !event.metaKey) {
      const order = [...all.slice(present + 1), ...all.slice(0, present + 1)];
      order.find((one) => one.textContent?.toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const run = ({ run }: Command): void => {
    close();
    // The focus is back in the page then.
    queueMicrotask(() => void run(""));
  };
  return (
    <Dialog name="Commands" className="menu" at={[at.x, at.y]} onClose={close}>
      <ul role="menu" aria-label="Commands" ref={list} onKeyDown={onKeyDown}>
        {groups.map((commands, k) => commands.map((command, j) => (
          <li role="none" key={command.what} className={k > 0 && j === 0 ? "first" : undefined}>
            <button type="button" role="menuitem" tabIndex={-1} onClick={() => run(command)} onPointerMove={(event) => event.currentTarget.focus()}>
              <span>{command.what}</span>{command.keys[0] && <kbd>{command.keys[0]}</kbd>}
            </button>
          </li>
        )))}
      </ul>
    </Dialog>
  );
}

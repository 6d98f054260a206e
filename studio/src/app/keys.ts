// Keys and what they do. Parts of the page give their commands; the window of keys lists them all.

import { useEffect } from "react";

/** What is selected; the sheet where nothing is. */
export type Subject = "block" | "wire" | "mark" | "sheet";

export interface Command {
  /** As `keyOf` writes them: "Ctrl+Z", "F2", "ArrowLeft". */
  keys: readonly string[];
  what: string;
  run: (key: string) => unknown;
  /** What it is about: the menu of commands has it there. */
  on?: readonly Subject[];
  /** Whether it does anything now; else the key does what it does elsewhere. */
  when?: () => boolean;
}

const groups = new Map<string, readonly Command[]>();

/** Give the commands of parts of the page, by what they are listed under, for as long as these are
 * shown. parts must stay the same object. */
export function useCommands(parts: readonly [string, readonly Command[]][]): void {
  useEffect(() => {
    for (const [group, commands] of parts) groups.set(group, commands);
    return () => parts.forEach(([group]) => groups.delete(group));
  }, [parts]);
}

export function allCommands(): [string, readonly Command[]][] {
  return [...groups];
}

/** What a key event is called; Ctrl stands for the command key too. */
export function keyOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">): string {
  const { key } = event;
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase() && key !== " ";
  const parts = [
    (event.ctrlKey || event.metaKey) && "Ctrl",
    event.altKey && "Alt",
    event.shiftKey && !isSign && "Shift",
    key === " " ? "Space" : key.length === 1 ? key.toUpperCase() : key,
  ];
  return parts.filter(Boolean).join("+");
}

/** Whether a key belongs to the control that has the focus, and not to the page. */
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target as Element;
  const { body } = target.ownerDocument;
  if (event.defaultPrevented || body.querySelector("dialog[open]")) return true;
  if ((event.altKey && /^(\d|Enter)$/.test(event.key)) || event.key === "F6") return false; // to panels
  const control = event.ctrlKey || event.metaKey;
  if (control && ["Enter", ".", "k", "f", "j", "s"].includes(event.key)) return false; // run, stop, add a block, search, panels, saved
  if (control && /^[zy]$/i.test(event.key) && target.matches(".field [name]:not([data-draft])")) return false;
  if (control && isUntouchedName(target) && !/^[acvx]$/i.test(event.key)) return false; // undo the adding
  if (target.closest("input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]")) return true;
  if (control || /^([?,.p]|F\d+)$/i.test(event.key)) return false;
  const button = target.closest("button, summary, a");
  if (button) return OF_BUTTONS.test(event.key) || (!button.closest(".sheet") && REMOVING.test(event.key));
  return target !== body && !target.closest(".sheet");
}

/** What a button does itself, and what moves the focus; the other keys are those of the sheet. */
const OF_BUTTONS = /^(Enter| |Tab|Arrow.+|Home|End|Page.+)$/;
/** Keys that must not remove a block while the focus is in a panel. */
const REMOVING = /^(Delete|Backspace)$/;

/** Whether this is the name of a block in place, as it was when it was opened. */
function isUntouchedName(target: Element): boolean {
  return target instanceof HTMLInputElement && target.matches(".block-name") && target.value === target.defaultValue;
}

/** Do what keys say. */
export function useKeys(): void {
  useEffect(() => hearKeys(window), []);
}

/** Do what keys say in a window; returns what ends it. of: the names of the commands that it has. */
export function hearKeys(target: Window, of?: readonly string[]): () => void {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isTaken(event)) return;
    const key = keyOf(event);
    if (key === "Ctrl+C" && getSelection()?.isCollapsed === false) return; // text is copied
    const known = [...groups].flatMap(([name, commands]) => (of?.includes(name) ?? true) ? commands : []);
    const command = known.find(({ keys, when }) => keys.includes(key) && (when?.() ?? true));
    if (!command) return;
    event.preventDefault();
    command.run(key);
  };
  target.addEventListener("keydown", onKeyDown);
  return () => target.removeEventListener("keydown", onKeyDown);
}

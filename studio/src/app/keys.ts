// Keys and what they do. Parts of the page give their commands; the window of keys lists them all.

import { useEffect } from "react";

export interface Command {
  /** As `keyOf` writes them: "Ctrl+Z", "F2", "ArrowLeft". */
  keys: readonly string[];
  what: string;
  run: () => unknown;
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
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return true;
  if (event.ctrlKey && (event.key === "Enter" || event.key === ".")) return false; // run, stop
  if (target.closest("input, textarea, select, [contenteditable]")) return true;
  if (event.ctrlKey || event.metaKey || /^(\?|F\d+)$/.test(event.key)) return false;
  if (target === document.body) return false;
  return !target.closest(".sheet") || target.closest("button, summary, a") !== null;
}

/** Do what keys say. */
export function useKeys(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (isTaken(event)) return;
      const key = keyOf(event);
      if (key === "Ctrl+C" && getSelection()?.isCollapsed === false) return; // text is copied
      const command = [...groups.values()].flat().find(({ keys }) => keys.includes(key));
      if (!command) return;
      event.preventDefault();
      command.run();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

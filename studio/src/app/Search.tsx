// Finding a block anywhere in the file, and going there.

import { useEffect, useState } from "react";

import { reveal } from "../actions";
import type { Sheet } from "../protocol";
import { connection, now, patch, pathOf, useStudio } from "../store";
import { Chooser, type Choice } from "./Chooser";
import { Dialog } from "./Dialog";

interface Found {
  at: string;
  name: string;
  type: string;
}

const MOST_SHEETS = 400;

export function Search() {
  const path = useStudio((state) => state.opened?.path);
  const [found, setFound] = useState<Found[]>([]);
  useEffect(() => {
    let wanted = true;
    if (path) void walk(path, (more) => wanted && setFound((before) => [...before, ...more]), () => wanted);
    return () => void (wanted = false);
  }, [path]);
  const choices = found.map((one): Choice<Found> => {
    const { at, name, type } = one;
    return { key: pathOf(at, name), thing: one, name: pathOf(at, name), note: type, words: [name, type] };
  });
  const choose = ({ at, name }: Found): void => {
    patch({ dialog: null });
    void reveal(at, name);
  };
  return (
    <Dialog name="Search" onClose={() => patch({ dialog: null })}>
      <Chooser label="Search blocks and subsystems" choices={choices} onChoose={choose} empty="No block has this in its name or type." />
    </Dialog>
  );
}

/** The blocks of all sheets, the whole first, then subsystem by subsystem. */
async function walk(path: string, tell: (found: Found[]) => void, wanted: () => boolean): Promise<void> {
  const waiting = [""];
  for (let k = 0; k < waiting.length && k < MOST_SHEETS && wanted(); k++) {
    const at = waiting[k]!;
    const known = now().sheet;
    const sheet = known?.at === at ? known : await connection.ask<Sheet>("sheet", { path, at }).catch(() => null);
    if (!sheet) continue;
    tell(sheet.blocks.map(({ name, type }) => ({ at, name, type })));
    waiting.push(...sheet.blocks.flatMap(({ opens }) => (opens === null ? [] : [opens])));
  }
}

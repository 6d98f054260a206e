// Wires that are being drawn: where they fit, and why not elsewhere.

import { attempt, edit, notify } from "../actions";
import type { Fits } from "../protocol";
import { connection, now, patch, type Drawing } from "../store";
import { freeName } from "./names";

/** Begin a wire at a port; the ports at which it cannot end are told from then on. */
export async function beginWire(block: string, port: string, output: boolean): Promise<Drawing> {
  const drawing: Drawing = { block, port, output, fits: null };
  patch({ drawing });
  const fits = await fitsOf(drawing);
  const known = { ...drawing, fits };
  const { drawing: present } = now();
  if (present === drawing) patch({ drawing: known });
  return known;
}

async function fitsOf({ block, port, output }: Drawing): Promise<Fits | null> {
  const { opened, sheet } = now();
  if (!opened || !sheet) return null;
  const about = { path: opened.path, at: sheet.at, from: { block, port }, output };
  return attempt(() => connection.ask("fits", about));
}

export function endWire(): void {
  patch({ drawing: null });
}

/** Why a wire cannot end at a port: undefined where it can, as far as is known. */
export function reasonAgainst(drawing: Drawing | null, block: string, port: string): string | undefined {
  if (!drawing?.fits) return undefined;
  const key = `${block}.${port}`;
  return key in drawing.fits ? (drawing.fits[key] ?? undefined) : "a wire from here cannot end there";
}

/** A port in the notation of wires: without its name where the block has no other on that side and
 * only numbers it. */
export function endOf(block: string, port: string, output: boolean): string {
  if (port === WHOLE) return block;
  const found = now().sheet?.blocks.find(({ name }) => name === block);
  const ports = output ? found?.outputs : found?.inputs;
  return ports?.length === 1 && /^\d+$/.test(port) ? block : `${block}.${port}`;
}

/** The port that stands for all signals of a block; at a BUS_CREATOR it takes new ones. */
export const WHOLE = "*";

interface End {
  block: string;
  port: string;
}

interface Ends {
  source: string;
  target: string;
}

/** The texts of a wire between two ports. */
export function endsOf(from: End, to: End): Ends {
  const taker = now().sheet?.blocks.find(({ name }) => name === to.block);
  if (taker?.type === "BUS_CREATOR" && to.port === WHOLE) return intoBus(from, to.block, taker.inputs.map(({ name }) => name));
  return { source: endOf(from.block, from.port, true), target: endOf(to.block, to.port, false) };
}

/** The texts of a wire to a BUS_CREATOR that adds a signal named after its source, or all those of a block
 * under their own names. */
export function intoBus({ block, port }: End, creator: string, taken: readonly string[]): Ends {
  const giver = now().sheet?.blocks.find(({ name }) => name === block);
  if (port === WHOLE && !giver?.type.startsWith("BUS_")) return { source: `${block}.*`, target: creator };
  const signal = /^\d*$/.test(port) || port === WHOLE ? block : port.replace(/.*\./, "");
  return { source: endOf(block, port, true), target: `${creator}.${freeName(signal, taken)}` };
}

/** Wire an output to an input. */
export async function wire(source: string, target: string): Promise<void> {
  const { sheet } = now();
  if (!sheet) return;
  if (sheet.within === null) return notify("This sheet is of another file: open that file to edit it", "fault");
  if (await edit({ op: "wire", source, target, within: sheet.within })) patch({ said: `${source} wired to ${target}` });
}

// What differs between two pictures of a sheet: where it has to be painted anew.

import type { SheetBlock } from "../protocol";
import type { Box } from "./geometry";
import type { Shifted } from "./paint";
import { boxAround, type Scene, type WireShape, wiresOf } from "./scene";

/** What a picture shows. */
export interface Drawn {
  scene: Scene;
  what: Shifted;
}

/** The most blocks and wires that are painted anew one by one. */
const MOST = 150;

/** The boxes in which two pictures differ; null where that is too much to tell. */
export function changedBoxes(before: Drawn, after: Drawn, zoom: number): Box[] | null {
  const names = changedNames(before, after);
  const ids = names && changedWires(before, after, names);
  if (!names || !ids) return null;
  const scenes = before.scene === after.scene ? [after.scene] : [before.scene, after.scene];
  const rim = Math.max(8, 3 / zoom);
  return scenes.flatMap((scene) => [
    ...[...names].flatMap((name) => boxOf(scene.blocks[scene.at.get(name) ?? -1], rim)),
    ...[...ids].flatMap((id) => boxesOf(scene.wires[scene.wireAt.get(id) ?? -1], rim)),
  ]);
}

/** The names of blocks that differ. */
function changedNames(before: Drawn, after: Drawn): Set<string> | null {
  const found = new Set<string>();
  if (!differing(before.what.selected, after.what.selected, found)) return null;
  if (!differing(before.what.absent.blocks, after.what.absent.blocks, found)) return null;
  if (!differing(before.what.moved, after.what.moved, found)) return null;
  return listed(before.scene.blocks, after.scene.blocks, before.scene.at, after.scene.at, ({ name }) => name, (a, b) => a === b, found);
}

/** The ids of wires that differ; those of blocks that are moved are painted elsewhere. */
function changedWires(before: Drawn, after: Drawn, names: ReadonlySet<string>): Set<string> | null {
  const found = new Set<string>();
  if (!differing(before.what.chosen, after.what.chosen, found)) return null;
  if (!differing(before.what.absent.wires, after.what.absent.wires, found)) return null;
  const moved = [...names].filter((name) => before.what.moved.has(name) !== after.what.moved.has(name));
  for (const { scene } of [before, after]) for (const { id } of wiresOf(scene, moved)) found.add(id);
  if (found.size > MOST) return null;
  return listed(before.scene.wires, after.scene.wires, before.scene.wireAt, after.scene.wireAt, ({ id }) => id, isSame, found);
}

function isSame(a: WireShape, b: WireShape): boolean {
  return a === b || (a.wire === b.wire && a.dots.join() === b.dots.join());
}

interface Names extends Iterable<unknown> {
  readonly size: number;
  has(name: string): boolean;
  keys(): Iterable<string>;
}

/** Put what is in one of two sets alone into a third; answers false where it is too much. */
function differing(before: Names, after: Names, found: Set<string>): boolean {
  if (before === after) return true;
  for (const [some, others] of [[before, after], [after, before]] as const) {
    for (const name of some.keys()) {
      if (!others.has(name) && found.add(name).size > MOST) return false;
    }
  }
  return true;
}

/** Put the names of what differs in two lists into a set; null where it is too much. */
function listed<T>(
  before: readonly T[], after: readonly T[], old: ReadonlyMap<string, number>, at: ReadonlyMap<string, number>,
  key: (one: T) => string, isSame: (a: T, b: T) => boolean, found: Set<string>,
): Set<string> | null {
  if (before === after) return found;
  const inOrder = before.length === after.length;
  for (let k = 0; k < after.length; k++) {
    const one = after[k]!;
    const known = inOrder && before[k] === one ? one : before[old.get(key(one)) ?? -1];
    if (!(known && isSame(known, one)) && found.add(key(one)).size > MOST) return null;
  }
  for (const one of before) if (!at.has(key(one)) && found.add(key(one)).size > MOST) return null;
  return found;
}

function boxOf(block: SheetBlock | undefined, rim: number): Box[] {
  return block ? [{ x: block.x - rim, y: block.y - rim, width: block.width + 2 * rim, height: block.height + 2 * rim }] : [];
}

/** The boxes around the runs of a wire. */
function boxesOf(shape: WireShape | undefined, rim: number): Box[] {
  const points = shape?.wire.points ?? [];
  return points.slice(1).map((point, k) => {
    const { x, y, width, height } = boxAround(points[k]!, point);
    return { x: x - rim, y: y - rim, width: width + 2 * rim, height: height + 2 * rim };
  });
}

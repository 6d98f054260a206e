// The recording as Python writes it (JSON), and as the viewer uses it (arrays of numbers).

type Numbers = "f32" | "f64" | "i32" | "i16" | "u32" | "u16" | "u8";
export type Vector = [number, number, number];
export type Quaternion = [number, number, number, number];
/** x, y, z [m] and a quaternion, scalar last. */
export type Pose = [number, number, number, number, number, number, number];

/**
 * Little-endian numbers by rows: offset + scale * (their sums over rows, or themselves). Planes:
 * column by column, first the low bytes of all numbers, then the next ones, which compress better.
 */
export interface Packed {
  type: Numbers;
  shape: number[];
  data: string;
  scale?: number;
  offset?: number | number[];
  delta?: boolean;
  planes?: boolean;
}

export interface Table {
  rows: number;
  columns: number;
  values: Float64Array;
}

type Solid =
  | { kind: "box"; size: Vector }
  | { kind: "cylinder"; radius: number; length: number }
  | { kind: "sphere"; radius: number }
  | { kind: "mesh"; mesh: number; scale?: Vector };
export type Shape = Solid & {
  pose: Pose;
  colour: [number, number, number, number];
  stands_for?: "inertia";
};

export interface Frame {
  name: string;
  pose: Pose;
}

interface PackedTrack {
  t: Packed;
  p: Packed;
  q: Packed;
}

/** The format of the page's data, version 1. */
export interface Recording {
  format: number;
  name: string;
  start: number;
  end: number;
  reach: number;
  up?: "x" | "y" | "z";
  bodies: {
    name: string;
    robot?: string;
    parent?: number;
    shapes?: Shape[];
    track: PackedTrack;
    com?: Vector;
    frames?: Frame[];
  }[];
  meshes?: { positions: Packed; indices: Packed }[];
  arrows?: {
    name: string;
    kind: "force" | "torque";
    body: number;
    unit?: string;
    track: { t: Packed; v: Packed };
  }[];
  signals?: {
    name: string;
    unit?: string;
    labels?: string[];
    t: Packed;
    v: Packed;
    scope?: number | null;
  }[];
  /** Headings of the plots, by their numbers. */
  scopes?: string[];
  diagram?: string;
}

/** Rows of values at ascending times; two rows of one time are a jump. */
export interface Series {
  t: Float64Array;
  columns: number;
  values: Float64Array;
}

/** Poses at ascending times. */
export interface Track {
  t: Float64Array;
  p: Float64Array;
  q: Float64Array;
}

export interface Body {
  /** Unique: the body's name, after its robot's where two bodies have one name. */
  name: string;
  parent: number;
  shapes: Shape[];
  track: Track;
  com: Vector;
  frames: Frame[];
}

export interface Surface {
  positions: Float32Array;
  indices: Uint32Array;
}

export interface Arrow {
  name: string;
  kind: "force" | "torque";
  body: number;
  unit: string;
  series: Series;
}

export interface Signal {
  name: string;
  unit: string;
  labels: string[];
  /** The number of its plot; null where it is not drawn. */
  scope: number | null;
  series: Series;
}

export interface Motion {
  name: string;
  start: number;
  end: number;
  reach: number;
  up: "x" | "y" | "z";
  bodies: Body[];
  meshes: Surface[];
  arrows: Arrow[];
  signals: Signal[];
  /** Headings of the plots, by their numbers. */
  scopes: string[];
  diagram: string;
}

const READERS: Record<Numbers, [bytes: number, read: (view: DataView, at: number) => number]> = {
  f32: [4, (view, at) => view.getFloat32(at, true)],
  f64: [8, (view, at) => view.getFloat64(at, true)],
  i32: [4, (view, at) => view.getInt32(at, true)],
  i16: [2, (view, at) => view.getInt16(at, true)],
  u32: [4, (view, at) => view.getUint32(at, true)],
  u16: [2, (view, at) => view.getUint16(at, true)],
  u8: [1, (view, at) => view.getUint8(at)],
};

/** The numbers of a packed table. Throws where its data does not fill its shape. */
export function unpack(packed: Packed): Table {
  const text = atob(packed.data);
  const stored = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const [rows = 1, columns = 1] = packed.shape;
  const [size, read] = READERS[packed.type];
  const bytes = packed.planes ? woven(stored, rows, columns) : stored;
  const view = new DataView(bytes.buffer);
  if (bytes.length !== rows * columns * size) {
    throw new Error(`a table of ${rows} x ${columns} has ${bytes.length} bytes`);
  }
  const values = new Float64Array(rows * columns);
  const { scale = 1, offset = 0, delta = false } = packed;
  const sums = new Float64Array(columns);
  for (let at = 0; at < values.length; at++) {
    const column = at % columns;
    const number = read(view, at * size);
    sums[column] = delta ? sums[column]! + number : number;
    const from = typeof offset === "number" ? offset : (offset[column] ?? 0);
    values[at] = from + scale * sums[column]!;
  }
  return { rows, columns, values };
}

/** The bytes by rows of a table whose bytes are stored in planes. */
function woven(planes: Uint8Array, rows: number, columns: number): Uint8Array {
  const count = rows * columns;
  const size = count ? planes.length / count : 0;
  const bytes = new Uint8Array(planes.length);
  for (let at = 0; at < planes.length; at++) {
    const [plane, place] = [Math.floor(at / count), at % count];
    const [column, row] = [Math.floor(place / rows), place % rows];
    bytes[(row * columns + column) * size + plane] = planes[at]!;
  }
  return bytes;
}

/** A recording with its tables unpacked and its omissions filled in. */
export function readMotion(recording: Recording): Motion {
  if (recording.format !== 1) {
    throw new Error(`this page shows recordings of format 1, not ${recording.format}`);
  }
  const names = uniqueNames(recording.bodies);
  return {
    name: recording.name,
    start: recording.start,
    end: Math.max(recording.end, recording.start),
    reach: recording.reach > 0 ? recording.reach : 1,
    up: recording.up ?? "z",
    bodies: recording.bodies.map((body, index) => ({
      name: names[index]!,
      parent: body.parent ?? -1,
      shapes: body.shapes ?? [],
      track: readTrack(body.track),
      com: body.com ?? [0, 0, 0],
      frames: body.frames ?? [],
    })),
    meshes: (recording.meshes ?? []).map((mesh) => ({
      positions: Float32Array.from(unpack(mesh.positions).values),
      indices: Uint32Array.from(unpack(mesh.indices).values),
    })),
    arrows: (recording.arrows ?? []).map(({ name, kind, body, unit = "", track }) => ({
      name,
      kind,
      body,
      unit,
      series: readSeries(track.t, track.v),
    })),
    signals: (recording.signals ?? []).map(({ name, unit = "", labels = [], scope, t, v }) => ({
      name,
      unit,
      labels,
      scope: scope ?? null,
      series: readSeries(t, v),
    })),
    scopes: recording.scopes ?? [],
    diagram: recording.diagram ?? "",
  };
}

function readTrack({ t, p, q }: PackedTrack): Track {
  const track = { t: unpack(t).values, p: unpack(p).values, q: unpack(q).values };
  for (let row = 0; row < track.t.length; row++) {
    normalise(track.q, 4 * row); // quantised quaternions are not quite of length 1
  }
  return track;
}

function normalise(q: Float64Array, at: number): void {
  const length = Math.hypot(q[at]!, q[at + 1]!, q[at + 2]!, q[at + 3]!);
  for (let k = at; k < at + 4; k++) {
    q[k] = length > 0 ? q[k]! / length : k === at + 3 ? 1 : 0;
  }
}

function readSeries(t: Packed, v: Packed): Series {
  const table = unpack(v);
  return { t: unpack(t).values, columns: table.columns, values: table.values };
}

function uniqueNames(bodies: Recording["bodies"]): string[] {
  const count = new Map<string, number>();
  for (const { name } of bodies) {
    count.set(name, (count.get(name) ?? 0) + 1);
  }
  return bodies.map(({ name, robot }) =>
    robot !== undefined && count.get(name)! > 1 ? `${robot}.${name}` : name,
  );
}

// The widgets of a dashboard: what they are, and changes of them.

export const SINKS = ["display", "table", "gauge", "lamp", "xy", "spectrum"] as const;
export const SOURCES = ["slider", "knob", "switch", "button"] as const;
export type Kind = (typeof SINKS)[number] | (typeof SOURCES)[number];

export interface Widget {
  id: number;
  kind: Kind;
  /** Empty: what it is bound to. */
  title: string;
  /** Signals or their numbers, "plant.qm[1]"; of an XY plot x and y. Of sources one parameter. */
  of: readonly string[];
  /** Cells of the grid. */
  wide: number;
  high: number;
  /** Ends of a scale; without, from what it shows. */
  least?: number;
  most?: number;
  /** From where on a lamp is lit. */
  level?: number;
  /** Seconds before the time that is shown; without, from the start. */
  seconds?: number;
  decibels?: boolean;
  /** What a switch or a button sets, as YAML. */
  off?: string;
  on?: string;
}

export interface About {
  name: string;
  size: readonly [wide: number, high: number];
  /** The most that it can be bound to. */
  most: number;
  options: readonly ("least" | "most" | "level" | "seconds" | "decibels" | "off" | "on")[];
}

const SCALE = ["least", "most"] as const;

export const KINDS: Record<Kind, About> = {
  display: { name: "Display", size: [2, 2], most: 1, options: [] },
  table: { name: "Table of values", size: [3, 4], most: 20, options: [] },
  gauge: { name: "Gauge", size: [2, 3], most: 1, options: SCALE },
  lamp: { name: "Lamp", size: [2, 2], most: 1, options: ["level"] },
  xy: { name: "XY plot", size: [4, 6], most: 2, options: [] },
  spectrum: { name: "Spectrum", size: [4, 6], most: 4, options: ["seconds", "decibels"] },
  slider: { name: "Slider", size: [3, 2], most: 1, options: SCALE },
  knob: { name: "Knob", size: [2, 3], most: 1, options: SCALE },
  switch: { name: "Switch", size: [2, 2], most: 1, options: ["off", "on"] },
  button: { name: "Button, as long as it is held", size: [2, 2], most: 1, options: ["off", "on"] },
};

const [MOST_WIDE, MOST_HIGH, MOST_WIDGETS] = [12, 16, 200];

export function isSource(kind: Kind): boolean {
  return (SOURCES as readonly string[]).includes(kind);
}

/** The widgets as they were kept; what is none is left out. */
export function readWidgets(found: unknown): Widget[] {
  if (!Array.isArray(found)) return [];
  const ids = new Set<number>();
  return found.slice(0, MOST_WIDGETS).flatMap((one: Partial<Widget> | null) => {
    if (!one || !Number.isInteger(one.id) || ids.has(one.id!) || !Object.hasOwn(KINDS, String(one.kind))) return [];
    if (!Array.isArray(one.of) || one.of.some((name) => typeof name !== "string")) return [];
    ids.add(one.id!);
    const [wide, high] = KINDS[one.kind!].size;
    const widget = { ...one, title: String(one.title ?? "") } as Widget;
    return [sized(widget, Number(one.wide) || wide, Number(one.high) || high)];
  });
}

export function newWidget(kind: Kind): Widget {
  const [wide, high] = KINDS[kind].size;
  return { id: 0, kind, title: "", of: [], wide, high };
}

/** The same of another kind, with what that has too. */
export function asKind(widget: Widget, kind: Kind): Widget {
  const of = isSource(kind) === isSource(widget.kind) ? widget.of.slice(0, KINDS[kind].most) : [];
  return { ...newWidget(kind), id: widget.id, title: widget.title, of };
}

/** Bind to a name, or no longer; of those that are too many the last is replaced. */
export function withName(widget: Widget, name: string): Widget {
  if (widget.of.includes(name)) return { ...widget, of: widget.of.filter((one) => one !== name) };
  return { ...widget, of: [...widget.of.slice(0, KINDS[widget.kind].most - 1), name] };
}

/** Add a widget, or put it in place of the one with its number. */
export function withWidget(all: readonly Widget[], widget: Widget): Widget[] {
  if (all.some(({ id }) => id === widget.id)) return all.map((one) => (one.id === widget.id ? widget : one));
  return [...all, { ...widget, id: 1 + Math.max(0, ...all.map(({ id }) => id)) }];
}

export function without(all: readonly Widget[], id: number): Widget[] {
  return all.filter((one) => one.id !== id);
}

/** Earlier or later by a number of places. */
export function moved(all: readonly Widget[], id: number, by: number): Widget[] {
  const at = all.findIndex((one) => one.id === id);
  if (at < 0) return [...all];
  const left = without(all, id);
  left.splice(Math.min(Math.max(at + by, 0), left.length), 0, all[at]!);
  return left;
}

/** Before another one, or after it. */
export function movedTo(all: readonly Widget[], id: number, other: number, after: boolean): Widget[] {
  const widget = all.find((one) => one.id === id);
  if (!widget || id === other) return [...all];
  const left = without(all, id);
  left.splice(left.findIndex((one) => one.id === other) + (after ? 1 : 0), 0, widget);
  return left;
}

export function sized(widget: Widget, wide: number, high: number): Widget {
  const within = (size: number, most: number): number => Math.min(Math.max(Math.round(size), 1), most);
  return { ...widget, wide: within(wide, MOST_WIDE), high: within(high, MOST_HIGH) };
}

export function titleOf({ title, kind, of }: Widget): string {
  if (title) return title;
  return kind === "xy" && of.length === 2 ? `${of[1]} over ${of[0]}` : of.join(", ") || KINDS[kind].name;
}

/** A name without the number of its element, and that number. known: names that have none. */
export function elementOf(name: string, known: (name: string) => boolean): [name: string, component: number | null] {
  const found = known(name) ? null : /^(.*)\[(\d+)\]$/.exec(name);
  return found ? [found[1]!, Number(found[2])] : [name, null];
}

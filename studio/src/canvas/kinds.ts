// Kinds of subsystems, under the names that Simulink gives them.

import type { BlockType, Operation } from "../protocol";

export type ConditionKind = "enabled" | "triggered" | "reset";

export interface Kind {
  name: string;
  summary: string;
  /** The conditions on which it runs, with the name of the input of each; "" for the usual one. */
  conditions: Partial<Record<ConditionKind, string>>;
  /** Whether it has a copy for each entry of its inputs. */
  each?: true;
}

const ALL: readonly Kind[] = [
  { name: "Subsystem", summary: "A part of the diagram as one block.", conditions: {} },
  { name: "Enabled Subsystem", summary: "It runs while its input enable is above zero.", conditions: { enabled: "" } },
  { name: "Triggered Subsystem", summary: "It runs once at each edge of its input trigger.", conditions: { triggered: "" } },
  {
    name: "Enabled and Triggered Subsystem", summary: "It runs once at each edge of trigger while enable is above zero.",
    conditions: { enabled: "", triggered: "" },
  },
  { name: "Resettable Subsystem", summary: "Edges of its input reset return its states to their start.", conditions: { reset: "" } },
  { name: "For Each Subsystem", summary: "A copy for each entry of its inputs; outputs are stacked.", conditions: {}, each: true },
  { name: "If Action Subsystem", summary: "It runs while the output of an IF that leads to action is 1.", conditions: { enabled: "action" } },
  {
    name: "Switch Case Action Subsystem", summary: "It runs while the output of a CASE that leads to action is 1.",
    conditions: { enabled: "action" },
  },
];

const USUAL: Record<ConditionKind, string> = { enabled: "enable", triggered: "trigger", reset: "reset" };

/** The kinds as types of blocks that can be added. */
export const KINDS: readonly BlockType[] = ALL.map(({ name, summary, conditions }) => ({
  name, subject: "Subsystems", summary, elsewhere: ["subsystem"], look: "subsystem",
  inputs: ["u", ...inputsOf(conditions)], outputs: ["y"],
}));

/** The kinds that a group can be made as. */
export const GROUPS = ALL.slice(0, 6);

export function kindOf({ name, subject }: BlockType): Kind | undefined {
  return subject === "Subsystems" ? ALL.find((kind) => kind.name === name) : undefined;
}

function inputsOf(conditions: Kind["conditions"]): string[] {
  return Object.entries(conditions).map(([kind, by]) => by || USUAL[kind as ConditionKind]);
}

/** What makes a block, and the subsystem of its name, one of a kind. */
export function asKind({ conditions, each }: Kind, name: string, within: string): Operation[] {
  const made = Object.entries(conditions).map(([kind, by]): Operation => ({ op: "condition", kind, within: name, by }));
  return each ? [...made, { op: "for-each", name, within }] : made;
}

const DECIDES = /^(IF|CASE|COMPARE|LOGIC|EDGE|HIT_CROSSING|PULSE)$/;

/** The input at which a wire from a block ends: the condition, if that is what such blocks give. */
export function inputFor({ conditions }: Kind, source: string): string {
  return (DECIDES.test(source) && inputsOf(conditions)[0]) || "u";
}

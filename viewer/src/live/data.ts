// What Python writes of a diagram that a page can run. All numbers are in SI units.

import type { Packed, Recording } from "../recording";
import type { Step } from "./exact";

export interface Parameter {
  name: string;
  /** The entries of p with its value, row by row; several where blocks share it. */
  places: number[][];
  shape: number[];
  unit: string;
  doc: string;
  min: number | null;
  max: number | null;
  /** Whether it is an initial state. */
  start: boolean;
  /** Names of its entries, where it has any. */
  labels: string[];
}

export interface ShownSignal {
  name: string;
  unit: string;
  labels: string[];
  /** Its first entry in a row of what is shown, and how many it has. */
  at: number;
  count: number;
  scopes: number[];
  /** Whether a run keeps it, and so fails where it is no number. */
  kept: boolean;
}

export interface Claim {
  name: string;
  signal: string;
  judged: "extremes" | "last" | "extent" | "back" | "rise_time" | "settling_time" | "overshoot";
  /** Of `back`: whether the signal falls. */
  falls: boolean;
  /** Where the readings of each element begin; none if the step to be answered fits no element. */
  at: number[];
  low: number[];
  high: number[];
}

export interface Model {
  format: number;
  name: string;
  /** Of several variants of a diagram: what this one is called. */
  variant: string;
  start: number;
  /** End, rtol, atol, longest step, fixed step, longest panel of meters [s]. */
  numbers: number[];
  heeds_stiffness: boolean;
  p: number[];
  /** For each state the entry of p that it begins with; -1 for zero. */
  x0: number[];
  xd0: number[];
  ticks: { t: Packed; due: Packed };
  /** For each block that switches at known times its first and its period, as a function of p. */
  edges: { count: number; steps: Step[] };
  samples: Packed;
  meters: number;
  events: number;
  parameters: Parameter[];
  signals: ShownSignal[];
  scopes: { title: string }[];
  bodies: Omit<Recording["bodies"][number], "track">[];
  meshes: NonNullable<Recording["meshes"]>;
  reach: number;
  diagram: string;
  claims: Claim[];
}

export const FORMAT = 1;

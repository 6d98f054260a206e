// Runs in a thread of their own, so that the page answers meanwhile.

import type { Model } from "./data";
import { type Code, Program, type Run } from "./program";

export interface Load {
  model: Model;
  code: Code;
}

/** Runs with these parameters: all rows of the first, or the meters of several. */
export interface Ask {
  id: number;
  p: Float64Array[];
  show: boolean;
}

export interface Answer {
  id: number;
  runs: Run[];
  error: string;
}

let program: Program | null = null;

self.onmessage = ({ data }: MessageEvent<Load | Ask>): void => {
  if ("model" in data) {
    program = new Program(data.model, data.code);
    return;
  }
  let answer: Answer;
  try {
    answer = { id: data.id, runs: data.p.map((p) => program!.run(p, data.show)), error: "" };
  } catch (error) {
    answer = { id: data.id, runs: [], error: String(error) };
  }
  const arrays = answer.runs.flatMap(({ rows, shown }) => [rows.buffer, shown.buffer]);
  (self as unknown as Worker).postMessage(answer, arrays as Transferable[]);
};

import type { Field } from "../protocol";

/** Beside a field of a form that can be changed while a run goes on. */
export function FieldTuner(_: { field: Field }) {
  return null;
}

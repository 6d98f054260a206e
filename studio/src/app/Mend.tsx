import { edit } from "../actions";
import type { Problem } from "../protocol";

/** A button that corrects a mistake, where an edit does: it writes the wrapper of a choice whose ports
 * are other ones than the slot has. */
export function Mend({ problem }: { problem: Problem }) {
  const operation = problem.edit;
  if (!operation) return null;
  const title = `Put ${operation.choice} into a subsystem that has the ports of ${operation.slot}`;
  return <button type="button" className="mend" title={title} onClick={() => void edit(operation)}>Write the wrapper</button>;
}

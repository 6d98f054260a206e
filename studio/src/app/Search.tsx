// Finding a block, a port, a state or a parameter anywhere in the file, and going there.

import { useEffect, useMemo, useState } from "react";

import { attempt, reveal, revealProblem } from "../actions";
import type { Content } from "../protocol";
import { connection, patch, pathOf, useStudio } from "../store";
import { Chooser } from "./Chooser";
import { Dialog } from "./Dialog";
import { finds, type Place } from "./finding";

export function Search() {
  const path = useStudio((state) => state.opened?.path);
  const params = useStudio((state) => state.opened?.params);
  const [contents, setContents] = useState<readonly Content[] | null>(null);
  useEffect(() => {
    void attempt(() => connection.ask("contents", { path })).then((found) => found && setContents(found));
  }, [path]);
  // All at once: Enter would go to a parameter while the block of its name is not there yet.
  const choices = useMemo(() => (contents ? finds(contents, params ?? []) : []), [contents, params]);
  const close = (): void => patch({ dialog: null });
  return (
    <Dialog name="Search" onClose={close}>
      <Chooser label="Search blocks, ports, states, parameters, values" choices={choices} onChoose={(place) => { close(); queueMicrotask(() => void goTo(place)); }}
        empty={contents ? "No block, type, port, state, parameter or value has this." : "Looking through the file…"} />
    </Dialog>
  );
}

/** Go to a place. The keys are those of the sheet then, also where the search was opened from a field,
 * which has the focus again. */
async function goTo({ at, block, field, state }: Place): Promise<void> {
  (document.activeElement as HTMLElement | null)?.blur();
  if (block !== undefined && state !== undefined) await revealProblem(pathOf(at, block), state);
  else if (block !== undefined) await reveal(at, block);
  else patch({ selection: [], wires: [] });
  if (field !== undefined) patch({ filling: field });
}

// Forms as the server makes them.

import { useEffect, useState } from "react";

import type { Form } from "../protocol";
import { connection, useStudio } from "../store";

/** The form of a block of the sheet, or of the file itself for the name ""; asked again when the file
 * has changed. */
export function useForm(name: string): Form | null {
  const path = useStudio((state) => state.opened?.path);
  const revision = useStudio((state) => state.opened?.revision);
  const at = useStudio((state) => state.sheet?.at);
  const [form, setForm] = useState<Form | null>(null);
  useEffect(() => {
    if (path === undefined) return;
    let wanted = true;
    void connection.ask<Form>("form", { path, at, block: name }).then((found) => wanted && setForm(found), () => undefined);
    return () => void (wanted = false);
  }, [path, revision, at, name]);
  return form;
}

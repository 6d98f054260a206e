// Forms as the server makes them.

import { useEffect, useState } from "react";

import type { Form } from "../protocol";
import { connection, patch, useStudio } from "../store";

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
    void connection.ask("form", { path, at, block: name }).then((found) => wanted && setForm(found), () => undefined);
    return () => void (wanted = false);
  }, [path, revision, at, name]);
  useFilling(form !== null);
  return form;
}

/** Put the focus into the field that is asked for, once the form is there. */
export function useFilling(isThere: boolean): void {
  const wanted = useStudio((state) => state.filling);
  useEffect(() => {
    if (wanted === null || !isThere) return;
    const fields = [...document.querySelectorAll<HTMLInputElement>(".form-panel .field [name]")];
    const needed = fields.filter((field) => field.ariaRequired === "true");
    const found = wanted ? fields.find(({ name }) => name === wanted) : (needed.find(({ value }) => !value) ?? needed[0] ?? fields[0]);
    found?.focus();
    patch({ filling: null });
  }, [wanted, isThere]);
}

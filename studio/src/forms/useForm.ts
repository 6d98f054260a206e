// Forms as the server makes them.

import { useEffect, useState } from "react";

import type { Bus, Form, Kinds } from "../protocol";
import { connection, patch, useStudio } from "../store";

interface AboutBlocks {
  form: Form;
  bus: Bus;
  kinds: Kinds;
}

/** What the server answers about a block of the sheet, asked again when the file has changed. refused: what a
 * refusal leaves, null or, for undefined, the answer before. */
export function useAboutBlock<K extends keyof AboutBlocks>(what: K, block: string, refused: null | undefined = null): AboutBlocks[K] | null {
  const path = useStudio((state) => state.opened?.path);
  const revision = useStudio((state) => state.opened?.revision);
  const at = useStudio((state) => state.sheet?.at);
  const [answer, setAnswer] = useState<AboutBlocks[K] | null>(null);
  useEffect(() => {
    if (path === undefined) return;
    let wanted = true;
    const take = (found: AboutBlocks[K] | null) => wanted && setAnswer(found);
    void connection.ask<keyof AboutBlocks>(what, { path, at, block }).then((found) => take(found as AboutBlocks[K]), () => refused === null && take(null));
    return () => void (wanted = false);
  }, [path, revision, at, what, block, refused]);
  return answer;
}

/** The form of a block of the sheet, or of the file itself for the name "". */
export function useForm(name: string): Form | null {
  const form = useAboutBlock("form", name, undefined);
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

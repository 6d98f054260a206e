// A name or text that is written when it is finished: by Enter, or when the field is left.

import { type InputHTMLAttributes, useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";

import type { Problem } from "../protocol";

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, "value"> {
  value: string;
  /** Called with a text other than the value, without blanks around it. */
  commit: (text: string) => unknown;
  /** Why a text is refused: it stays in the field then, with the reason below it. */
  check?: (text: string) => Promise<Problem | undefined>;
}

/** Escape gives the value back, and so does leaving it with no text or one that is not allowed. */
export function CommittedInput({ value, commit, check, ...others }: Props) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const [wrong, setWrong] = useState<Problem>();
  const show = (text: string): void => {
    setTyped(text);
    setWrong(undefined);
  };
  const input = useRef<HTMLInputElement>(null);
  const before = useRef(value);
  useEffect(() => { // what is being typed stays
    const isTyping = document.activeElement === input.current && typed !== before.current && typed.trim() !== value;
    before.current = value;
    if (!isTyping) show(value);
  }, [value]);
  const finish = async ({ validity }: HTMLInputElement): Promise<void> => {
    const text = typed.trim();
    if (!text || text === value || !validity.valid) return show(value);
    const refused = await check?.(text);
    setWrong(refused);
    if (!refused) commit(text);
  };
  const about = wrong && { "aria-invalid": true, "aria-describedby": id };
  return (
    <>
      <input {...others} {...about} ref={input} value={typed} spellCheck={false} autoComplete="off" onChange={(event) => show(event.target.value)}
        onBlur={(event) => void finish(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && check) void finish(event.currentTarget);
          else if (event.key === "Enter") event.currentTarget.blur();
          if (event.key === "Escape") flushSync(() => show(value)); // what leaves it then writes nothing
        }} />
      {wrong && <span className="wrong-text" id={id} role="alert">{wrong.message} {wrong.hint && <span className="hint">{wrong.hint}</span>}</span>}
    </>
  );
}

/** The field for the new name of something, in its place until it is finished; Escape leaves the old one. */
export function NewName({ name, onDone }: { name: string; onDone: (typed: string | null) => unknown }) {
  return (
    <input aria-label={`New name of ${name}`} defaultValue={name} autoFocus spellCheck={false} onFocus={(event) => event.target.select()}
      onBlur={(event) => onDone(event.target.value.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") onDone(null);
      }} />
  );
}

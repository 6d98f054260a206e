// A name or text that is written when it is finished: by Enter, or when the field is left.

import { type InputHTMLAttributes, useEffect, useState } from "react";

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, "value"> {
  value: string;
  /** Called with a text other than the value, without blanks around it. */
  commit: (text: string) => unknown;
}

/** Escape gives the value back, and so does leaving it with no text or one that is not allowed. */
export function CommittedInput({ value, commit, ...others }: Props) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const finish = ({ validity }: HTMLInputElement): void => {
    const text = typed.trim();
    if (text && text !== value && validity.valid) commit(text);
    else setTyped(value);
  };
  return (
    <input {...others} value={typed} spellCheck={false} autoComplete="off" onChange={(event) => setTyped(event.target.value)}
      onBlur={(event) => finish(event.currentTarget)}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") setTyped(value);
      }} />
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

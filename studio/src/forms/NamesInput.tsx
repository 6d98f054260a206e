// A list of names that are chosen from others, in an order.

import { edit } from "../actions";

export interface Choice {
  name: string;
  /** What stands behind it, such as its shape. */
  note?: string;
}

interface Props {
  label: string;
  /** What "set" names. */
  path: string;
  chosen: readonly string[];
  among: readonly Choice[];
  readOnly?: boolean;
}

/** The chosen names first, in their order, then the others. */
export function NamesInput({ label, path, chosen, among, readOnly }: Props) {
  const notes = new Map(among.map(({ name, note }) => [name, note]));
  const others = among.filter(({ name }) => !chosen.includes(name)).map(({ name }) => name);
  const write = (names: readonly string[]): void => {
    if (names.length) void edit({ op: "set", path, text: `[${names.join(", ")}]` });
  };
  const move = (k: number): void => {
    const moved = [...chosen];
    moved.splice(k - 1, 2, chosen[k]!, chosen[k - 1]!);
    write(moved);
  };
  return (
    <div className="field" role="group" aria-label={label}>
      <span>{label}</span>
      <ul className="names">
        {[...chosen, ...others].map((name, k) => {
          const isChosen = k < chosen.length;
          return (
            <li key={name}>
              <label>
                <input type="checkbox" checked={isChosen} disabled={readOnly || (isChosen && chosen.length === 1)}
                  onChange={() => write(isChosen ? chosen.filter((one) => one !== name) : [...chosen, name])} />
                {name} <span className="unit">{notes.get(name)}</span>
              </label>
              {isChosen && !readOnly && chosen.length > 1 && (
                <>
                  <button type="button" disabled={k === 0} aria-label={`Move ${name} up`} title="Up" onClick={() => move(k)}>↑</button>
                  <button type="button" disabled={k + 1 === chosen.length} aria-label={`Move ${name} down`} title="Down" onClick={() => move(k + 1)}>↓</button>
                </>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

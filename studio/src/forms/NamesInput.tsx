// A list of names that are chosen from others, in an order.

export interface Choice {
  name: string;
  /** What stands behind it, such as its shape. */
  note?: string;
  /** Of a bus within a bus. */
  depth?: number;
}

interface Props {
  label: string;
  chosen: readonly string[];
  among: readonly Choice[];
  readOnly?: boolean;
  write: (names: readonly string[]) => void;
}

/** The chosen names first, in their order, then the others. */
export function NamesInput({ label, chosen, among, readOnly, write }: Props) {
  const known = new Map(among.map((choice) => [choice.name, choice]));
  const others = among.filter(({ name }) => !chosen.includes(name)).map(({ name }) => name);
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
            <li key={name} className={isChosen ? undefined : `tree-${Math.min(known.get(name)?.depth ?? 0, 3)}`}>
              <label>
                <input type="checkbox" name={label} checked={isChosen} disabled={readOnly || (isChosen && chosen.length === 1)}
                  onChange={() => write(isChosen ? chosen.filter((one) => one !== name) : [...chosen, name])} />
                {name} <span className="unit">{known.get(name)?.note}</span>
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

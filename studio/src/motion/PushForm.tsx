// Pushing by keyboard: a body, a force, until it is let go.

import { useState } from "react";

import type { Force } from "./push";

const AXES = ["x", "y", "z"] as const;

interface Props {
  bodies: readonly string[];
  going: boolean;
  onPush: (force: Force) => void;
}

export function PushForm({ bodies, going, onPush }: Props) {
  const [body, setBody] = useState(bodies.length - 1);
  const [force, setForce] = useState<[number, number, number]>([0, 0, 0]);
  const [held, setHeld] = useState<number | null>(null);
  const toggle = (): void => {
    onPush(held === null ? { body, force } : { body: held, force: [0, 0, 0] });
    setHeld(held === null ? body : null);
  };
  return (
    <details className="push-form">
      <summary>By numbers</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          toggle();
        }}>
        <label>
          Body{" "}
          <select value={body} onChange={({ target }) => setBody(Number(target.value))}>
            {bodies.map((name, index) => <option key={name} value={index}>{name}</option>)}
          </select>
        </label>
        {AXES.map((axis, index) => (
          <label key={axis}>
            F{axis}{" "}
            <input type="number" step="any" aria-label={`Force along ${axis} in newtons`} value={Number.isNaN(force[index]!) ? "" : force[index]}
              onChange={({ target }) => setForce(force.map((one, at) => (at === index ? target.valueAsNumber : one)) as typeof force)} />
          </label>
        ))}
        <span>N, at the centre of mass</span>
        <button type="submit" disabled={!going || force.some(Number.isNaN)}>{held === null || !going ? "Push" : "Let go"}</button>
      </form>
    </details>
  );
}

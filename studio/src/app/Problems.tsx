import { reveal } from "../actions";
import type { Problem } from "../protocol";
import { patch, useStudio } from "../store";
import { Icon } from "./Icon";

/** The mistakes of the diagram, each with a way to its block. */
export function Problems() {
  const problems = useStudio((state) => state.opened?.problems);
  const open = useStudio((state) => state.listing);
  if (!problems?.length) return null;
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return (
    <section className="problems" aria-label="Problems">
      <button type="button" className="problems-head" aria-expanded={open} onClick={() => patch({ listing: !open })}>
        <Icon name="fault" /> {count}
        {!open && <span className="first">{problems[0]?.message}</span>}
      </button>
      {open && <ul>{problems.map((problem, k) => <li key={k}><Row problem={problem} /></li>)}</ul>}
    </section>
  );
}

function Row({ problem: { message, hint, block, argument, place } }: { problem: Problem }) {
  const text = <>{message} {hint && <span className="hint">{hint}</span>}</>;
  if (!block) return <div className="problem"><p>{text}</p><code>{place}</code></div>;
  const cut = block.lastIndexOf("/");
  return (
    <button type="button" className="problem" onClick={() => void reveal(block.slice(0, Math.max(cut, 0)), block.slice(cut + 1))}>
      <strong>{argument ? `${block}: ${argument}` : block}</strong> <span>{text}</span>
    </button>
  );
}

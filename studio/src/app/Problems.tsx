import { revealProblem } from "../actions";
import type { Problem } from "../protocol";
import { patch, useStudio } from "../store";
import { Icon } from "./Icon";
import { Mend } from "./Mend";

/** The line under the sheet: how many mistakes there are, and what was done last; and the mistakes, each
 * with a way to its block. It is always there, so that the sheet does not move when one is mended. */
export function Problems() {
  const problems = useStudio((state) => state.opened?.problems) ?? [];
  const open = useStudio((state) => state.listing);
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return (
    <section className="problems" aria-label="State of the diagram">
      <div className="state-line">
        {problems.length > 0 && (
          <button type="button" className="problems-head" aria-expanded={open} onClick={() => patch({ listing: !open })}>
            <Icon name="fault" /> {count}
            {!open && <span className="first">{problems[0]?.message}</span>}
          </button>
        )}
        <Status />
      </div>
      {open && problems.length > 0 && <ul>{problems.map((problem, k) => <li key={k}><Row problem={problem} /><Mend problem={problem} /></li>)}</ul>}
    </section>
  );
}

/** What was done last, unless a notice says so; screen readers are told elsewhere. */
function Status() {
  const said = useStudio(({ said, notices }) => (notices.some(({ text }) => text === said) ? "" : said));
  return <span className="said" aria-hidden="true">{said}</span>;
}

function Row({ problem: { message, hint, block, argument, place, path } }: { problem: Problem }) {
  const text = <>{message} {hint && <span className="hint">{hint}</span>}</>;
  if (!block) return <div className="problem"><p>{text}</p><code>{place}</code></div>;
  return (
    <button type="button" className="problem" onClick={() => void revealProblem(block, path)}>
      <strong>{argument ? `${block}: ${argument}` : block}</strong> <span>{text}</span>
    </button>
  );
}

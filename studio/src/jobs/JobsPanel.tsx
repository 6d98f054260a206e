// The jobs of the file: sweeps, comparisons and exports, how far they are and what they have made.

import { patch } from "../store";
import type { Job } from "../protocol";
import { seconds } from "../run/RunBar";
import type { Runs } from "../run/runs";
import { addressOf, forget, reasonOf, resume, stop, useJobs, wordOf } from "./jobs";
import "./jobs.css";
import { SweepTable } from "./SweepTable";

export function JobsPanel({ runs }: { runs: Runs }) {
  if (runs.path.startsWith("loop:")) return <p className="panel-empty">A loop has no jobs: they are of diagrams.</p>;
  return <OfFile runs={runs} />;
}

function OfFile({ runs }: { runs: Runs }) {
  const jobs = useJobs(runs.path);
  return (
    <div className="panel-page jobs">
      <div className="panel-tools">
        <button type="button" title="Shift+S" onClick={() => patch({ dialog: "sweep" })}>Sweep…</button>
        <button type="button" title="Shift+M" onClick={() => patch({ dialog: "fit" })}>Fit…</button>
        <button type="button" title="Shift+T" onClick={() => patch({ dialog: "tune" })}>Tune…</button>
        <button type="button" title="Shift+O" onClick={() => patch({ dialog: "optimize" })}>Optimize…</button>
        <button type="button" title="Shift+C" onClick={() => patch({ dialog: "compare" })}>Compare…</button>
        <button type="button" title="Shift+E" onClick={() => patch({ dialog: "export" })}>Export…</button>
        {jobs.length === 0 && <span className="note">Each has a process of its own, which goes on when this page is closed.</span>}
      </div>
      {jobs.map((job, k) => <Shown key={job.job} runs={runs} job={job} isLast={k === 0} />)}
    </div>
  );
}

const MARKS: Record<Job["state"], string> = { running: "", ended: "✓", stopped: "–", failed: "✗" };

function Shown({ runs, job, isLast }: { runs: Runs; job: Job; isLast: boolean }) {
  const { title, state, files } = job;
  const over = state !== "running";
  const table = job.kind === "sweep" && files.some(({ name }) => name === "sweep/sweep.json");
  return (
    <section className={`job ${state}`} aria-label={title}>
      <div className="job-head">
        <h2><span className="job-mark" aria-hidden="true">{MARKS[state]}</span> {title} <span className="job-state">{wordOf(job)}</span></h2>
        {!over && <Progress job={job} />}
        {!over && <button type="button" aria-label={`Stop ${title}`} onClick={() => stop(job)}>Stop</button>}
        {state === "stopped" && table && <button type="button" aria-label={`Go on with ${title}`} onClick={() => resume(job)}>Go on</button>}
        <Files job={job} />
        {over && <button type="button" aria-label={`Remove ${title}`} onClick={() => forget(job)}>Remove</button>}
      </div>
      {state === "failed" && <p className="wrong-text">{reasonOf(job)} <span className="hint">{job.problem?.hint}</span></p>}
      <Pictures job={job} open={isLast} />
      {over && table && <SweepTable runs={runs} job={job} />}
      {job.lines.length > 0 && (
        <details open={isLast && !table}>
          <summary>Output</summary>
          <pre tabIndex={0} aria-label={`Output of ${title}`}>{job.lines.map((line) => line.replace(/^! /, "")).join("\n")}</pre>
        </details>
      )}
    </section>
  );
}

function Progress({ job: { title, done, all, unit } }: { job: Job }) {
  const told = all > 0 ? `${unit === "s" ? seconds(done) : done} of ${unit === "s" ? seconds(all) : all} ${unit}` : "starting";
  return (
    <span className="test-progress">
      <progress aria-label={`Progress of ${title}`} max={all || 1} value={all > 0 ? done : undefined} /> {told}
    </span>
  );
}

const MOST_LISTED = 6;
const PICTURES = /\.(png|svg)$/;

/** What can be opened, and what can be saved. */
function Files({ job: { job, title, files } }: { job: Job }) {
  if (files.length === 0) return null;
  const pages = files.filter(({ name }) => name.endsWith(".html"));
  const few = files.length <= MOST_LISTED ? files : [];
  return (
    <span className="job-files">
      {pages.map(({ name }) => (
        <a key={name} className="download" href={addressOf(job, name, true)} target="_blank" rel="noreferrer" aria-label={`${title}: open ${name} in a window`}>
          {name === "report.html" ? "Open the report" : `Open ${name}`}
        </a>
      ))}
      {few.map(({ name, size }) => (
        <a key={name} className="download" href={addressOf(job, name)} download aria-label={`${title}: save ${name}`} title={`${size.toLocaleString("en")} bytes`}>{name}</a>
      ))}
      {files.length > 1 && <a className="download" href={addressOf(job)} download aria-label={`${title}: save all files`}>{`all ${files.length} files`}</a>}
    </span>
  );
}

function Pictures({ job: { job, files }, open }: { job: Job; open: boolean }) {
  const pictures = files.filter(({ name }) => PICTURES.test(name));
  if (pictures.length === 0) return null;
  return (
    <details open={open}>
      <summary>{pictures.length === 1 ? "Picture" : `${pictures.length} pictures`}</summary>
      <div className="job-pictures">
        {pictures.map(({ name }) => (
          <a key={name} href={addressOf(job, name, true)} target="_blank" rel="noreferrer" title={name}><img src={addressOf(job, name, true)} alt={name} loading="lazy" /></a>
        ))}
      </div>
    </details>
  );
}

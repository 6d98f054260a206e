// Who runs the program: a thread, of which only the latest wish counts.

import type { Model } from "./data";
import { type Code, Program, type Run } from "./program";
import type { Answer, Ask } from "./worker";
import RunWorker from "./worker?worker&inline";

/** A run that takes longer than this [ms] is given up for a newer one. */
const PATIENCE = 400;

export class Runner {
  private worker: Worker | null = null;
  private own: Program | null = null;
  private id = 0;
  private busySince = 0;
  private busy = false;
  private next: Float64Array | null = null;

  constructor(
    private readonly model: Model,
    private readonly code: Code,
    private readonly done: (run: Run) => void,
    private readonly failed: (text: string) => void,
  ) {
    this.start();
  }

  /** Run with these parameters, soon; earlier wishes that have not begun are dropped. */
  ask(p: Float64Array): void {
    if (this.own) {
      const { own } = this;
      this.trying(() => this.done(own.run(p)));
      return;
    }
    if (this.busy) {
      this.next = p;
      if (performance.now() - this.busySince < PATIENCE) {
        return;
      }
      this.stop();
      this.start();
    }
    this.send(p);
  }

  stop(): void {
    this.worker?.terminate();
    this.worker = null;
    this.busy = false;
  }

  private start(): void {
    try {
      this.worker = newWorker(this.model, this.code);
      this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.answered(data);
      this.worker.onerror = () => this.runHere();
    } catch {
      this.runHere();
    }
  }

  /** Where threads are not allowed. */
  private runHere(): void {
    const waiting = this.next;
    this.stop();
    this.trying(() => {
      this.own = new Program(this.model, this.code);
    });
    if (waiting && this.own) {
      this.ask(waiting);
    }
  }

  private trying(what: () => void): void {
    try {
      what();
    } catch (error) {
      this.failed(String(error));
    }
  }

  private send(p: Float64Array): void {
    this.busy = true;
    this.busySince = performance.now();
    this.next = p;
    this.worker?.postMessage({ id: ++this.id, p: [p], show: true } satisfies Ask);
  }

  private answered({ id, runs, error }: Answer): void {
    if (id !== this.id) {
      return;
    }
    this.busy = false;
    const [run] = runs;
    const waiting = this.next;
    this.next = null;
    if (run) {
      this.done(run);
    } else {
      this.failed(error);
    }
    if (waiting && run && waiting !== run.p && waiting.some((value, k) => !Object.is(value, run.p[k]))) {
      this.send(waiting);
    }
  }
}

/** A thread that has the program. */
export function newWorker(model: Model, code: Code): Worker {
  const worker = new RunWorker();
  worker.postMessage({ model, code });
  return worker;
}

// The one connection to the server: requests with answers, and what is told in between.

import type { Answer, Answers, Poses, Problem, Rows, Told } from "./protocol";

export type Block = { header: Rows | Poses; numbers: Float64Array };
/** The answer of a request; rows come with their numbers. */
export type Result<K extends keyof Answers> = K extends "signals" ? { header: Rows; numbers: Float64Array } : Answers[K];
type Listener = (told: Told) => void;
type BlockListener = (block: Block) => void;

/** A request that the server refuses. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

/** locked: the server does not know this browser, since it was started anew. */
export type LinkState = "open" | "lost" | "locked";

const [SOON, LATE] = [500, 10_000]; // ms

interface Waiting {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

export class Connection {
  private socket: WebSocket | null = null;
  private number = 0;
  private waiting = new Map<number, Waiting>();
  private listeners = new Set<Listener>();
  private blockListeners = new Set<BlockListener>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pause = SOON;
  private state: LinkState = "open";
  /** Called when the connection is there, or is not any more. */
  onState: (state: LinkState) => void = () => undefined;

  /** isLocked: whether the server refuses this browser. */
  constructor(private readonly url: string, private readonly isLocked: () => Promise<boolean> = async () => false) {}

  /** Connect, and again whenever the connection ends: the browser ends that of a tab that sleeps. */
  open(): void {
    clearTimeout(this.timer);
    const socket = new WebSocket(this.url);
    let wasOpen = false;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      wasOpen = true;
      this.pause = SOON;
      this.tell("open");
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = () => void this.lost(wasOpen);
    this.socket = socket;
  }

  /** Connect at once where the connection is lost, as the page is looked at again. */
  wake(): void {
    if (this.socket?.readyState !== WebSocket.CLOSED) return;
    this.pause = SOON;
    this.open();
  }

  private async lost(wasOpen: boolean): Promise<void> {
    for (const one of this.waiting.values()) one.reject(new Refused({ message: "the server is gone" }));
    this.waiting.clear();
    if (this.state !== "locked") this.tell("lost");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(2 * this.pause, LATE);
    // The server prints a new link where it is asked, so that it is asked once.
    if (!wasOpen && this.state === "lost" && (await this.isLocked()) && this.state === "lost") this.tell("locked");
  }

  private tell(state: LinkState): void {
    this.state = state;
    this.onState(state);
  }

  ask<K extends keyof Answers>(what: K, given: object = {}): Promise<Result<K>> {
    const n = ++this.number;
    return new Promise<Result<K>>((resolve, reject) => {
      if (this.socket?.readyState !== WebSocket.OPEN) {
        reject(new Refused({ message: "the server is gone" }));
        return;
      }
      this.waiting.set(n, { resolve: resolve as (value: never) => void, reject });
      this.socket.send(JSON.stringify({ n, do: what, ...given }));
    });
  }

  /** Hear what is told; returns what ends it. */
  hear(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Hear rows and poses of runs. */
  hearBlocks(listener: BlockListener): () => void {
    this.blockListeners.add(listener);
    return () => this.blockListeners.delete(listener);
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const block = parted(data);
      const n = "n" in block.header ? block.header.n : undefined;
      if (n !== undefined) this.settle(n, (one) => one.resolve(block as never));
      else for (const listener of this.blockListeners) listener(block);
      return;
    }
    const message = JSON.parse(data) as Answer | Told;
    if ("tell" in message) {
      for (const listener of this.listeners) listener(message);
      return;
    }
    const { problem } = message;
    this.settle(message.n, (one) => {
      if (problem) one.reject(new Refused(problem));
      else one.resolve(message.ok as never);
    });
  }

  private settle(n: number, how: (one: Waiting) => void): void {
    const one = this.waiting.get(n);
    this.waiting.delete(n);
    if (one) how(one);
  }
}

/** A binary message: the length of its header, the header, padding, numbers. */
export function parted(data: ArrayBuffer): Block {
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as Rows | Poses;
  const start = Math.ceil((4 + length) / 8) * 8;
  return { header, numbers: new Float64Array(data, start) };
}

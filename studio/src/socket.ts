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
  /** Called with whether the server is there. */
  onState: (open: boolean) => void = () => undefined;

  constructor(private readonly url: string) {}

  open(): void {
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.onState(true);
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = () => {
      this.onState(false);
      for (const one of this.waiting.values()) one.reject(new Refused({ message: "the server is gone" }));
      this.waiting.clear();
    };
    this.socket = socket;
  }

  ask<K extends keyof Answers>(what: K, given: object = {}): Promise<Result<K>> {
    const n = ++this.number;
    return new Promise<Result<K>>((resolve, reject) => {
      if (this.socket?.readyState !== WebSocket.OPEN) {
        reject(new Refused({ message: "the server is gone", hint: "start spart studio again" }));
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

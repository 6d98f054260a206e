// Sending what changes fast: the newest value, not more often than a period, one at a time.

export class Newest<T> {
  private waiting: { value: T } | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private sending = false;

  /** period: between two sendings [ms]. */
  constructor(
    private readonly send: (value: T) => Promise<unknown>,
    private readonly period: number,
  ) {}

  /** Send a value now or when its turn comes; one that waits is left out. */
  give(value: T): void {
    this.waiting = { value };
    this.next();
  }

  /** Nothing more is sent. */
  stop(): void {
    this.waiting = null;
  }

  private next(): void {
    const { waiting } = this;
    if (!waiting || this.timer !== null || this.sending) return;
    this.waiting = null;
    this.sending = true;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.next();
    }, this.period);
    const done = (): void => {
      this.sending = false;
      this.next();
    };
    this.send(waiting.value).then(done, done);
  }
}

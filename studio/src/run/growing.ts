// Numbers that grow at the end: a run's times and values while it goes on.

const FIRST = 1024;

export class Growing {
  private store = new Float64Array(FIRST);
  length = 0;

  push(value: number): void {
    if (this.length === this.store.length) this.grow(this.length + 1);
    this.store[this.length++] = value;
  }

  /** Append a value a number of times. */
  fill(value: number, count: number): void {
    this.grow(this.length + count);
    this.store.fill(value, this.length, this.length + count);
    this.length += count;
  }

  at(index: number): number {
    return index >= 0 && index < this.length ? this.store[index]! : NaN;
  }

  last(): number {
    return this.at(this.length - 1);
  }

  set(index: number, value: number): void {
    this.store[index] = value;
  }

  /** The numbers so far, without a copy; later ones are not in it. */
  view(): Float64Array {
    return this.store.subarray(0, this.length);
  }

  private grow(least: number): void {
    if (least <= this.store.length) return;
    const wider = new Float64Array(Math.max(least, 2 * this.store.length));
    wider.set(this.view());
    this.store = wider;
  }
}

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Connection, type LinkState, parted } from "../src/socket";

/** A binary message as spart_blocks/studio/client.py makes it. */
function message(header: object, numbers: number[]): ArrayBuffer {
  const head = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + head.length) / 8) * 8;
  const data = new ArrayBuffer(start + 8 * numbers.length);
  new DataView(data).setUint32(0, head.length, true);
  new Uint8Array(data, 4).set(head);
  new Float64Array(data, start).set(numbers);
  return data;
}

test.each(["", "a", "ab", "abcdefg", "héllo"])("a binary message is parted at any length of its header (%s)", (path) => {
  const block = parted(message({ tell: "rows", path, rows: 1 }, [0.5, -1, Infinity]));
  expect(block.header).toEqual({ tell: "rows", path, rows: 1 });
  expect([...block.numbers]).toEqual([0.5, -1, Infinity]);
});

class FakeSocket {
  static readonly CLOSED = 3;
  static readonly OPEN = 1;
  static made: FakeSocket[] = [];
  readyState = 0;
  onopen = (): void => undefined;
  onclose = (): void => undefined;

  constructor() {
    FakeSocket.made.push(this);
  }

  send(): void {}

  begin(): void {
    this.readyState = FakeSocket.OPEN;
    this.onopen();
  }

  end(): void {
    this.readyState = FakeSocket.CLOSED;
    this.onclose();
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
  FakeSocket.made = [];
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function opened(isLocked: () => Promise<boolean>): { connection: Connection; states: LinkState[] } {
  const states: LinkState[] = [];
  const connection = new Connection("ws://here/socket", isLocked);
  connection.onState = (state) => states.push(state);
  connection.open();
  return { connection, states };
}

const last = (): FakeSocket => FakeSocket.made.at(-1)!;

test("a connection that ends is made again by itself, after pauses that grow to ten seconds", async () => {
  const { states } = opened(async () => false);
  last().begin();
  last().end();
  expect(states).toEqual(["open", "lost"]);
  for (const pause of [500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
    const { length } = FakeSocket.made;
    await vi.advanceTimersByTimeAsync(pause - 1);
    expect(FakeSocket.made).toHaveLength(length);
    await vi.advanceTimersByTimeAsync(1);
    expect(FakeSocket.made).toHaveLength(length + 1);
    last().end();
  }
  await vi.advanceTimersByTimeAsync(10_000);
  last().begin();
  expect(states.at(-1)).toBe("open");
});

test("a page that is looked at again connects at once, unless it is connected", () => {
  const { connection } = opened(async () => false);
  last().begin();
  connection.wake();
  expect(FakeSocket.made).toHaveLength(1);
  last().end();
  connection.wake();
  connection.wake(); // it is being made
  expect(FakeSocket.made).toHaveLength(2);
});

test("a server that was started again is asked once, and told of until it knows the browser", async () => {
  const isLocked = vi.fn(async () => true);
  const { states } = opened(isLocked);
  last().begin();
  last().end();
  for (let k = 0; k < 3; k++) {
    await vi.advanceTimersByTimeAsync(10_000);
    last().end();
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(states.filter((state) => state === "locked")).toHaveLength(1);
  expect(states.at(-1)).toBe("locked");
  expect(isLocked).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(10_000);
  last().begin();
  expect(states.at(-1)).toBe("open");
});

test("requests that wait are refused when the connection ends", async () => {
  const { connection } = opened(async () => false);
  last().begin();
  const asked = connection.ask("project");
  last().end();
  await expect(asked).rejects.toThrow("the server is gone");
  await expect(connection.ask("project")).rejects.toThrow("the server is gone");
});

import { expect, test } from "vitest";
import { parted } from "../src/socket";

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

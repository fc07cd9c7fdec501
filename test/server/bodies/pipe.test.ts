import { expect, test } from "vitest";
import { makePipe } from "../../../server/bodies/pipe.ts";

test("a pipe tells its writer at once that its reader has gone, but not that it has read everything", async () => {
  const gone: string[] = [];
  const [left, read] = ["left", "read"].map((name) => {
    const { readable, writable } = makePipe(null);
    writable.whenGone(() => gone.push(name));
    return { readable, writable };
  });
  for (const { writable } of [left!, read!]) await writable.write(Uint8Array.of(1));
  await left!.readable.cancel();
  expect(gone).toEqual(["left"]);
  await read!.writable.close();
  const reader = read!.readable.read();
  expect([await reader.next(), await reader.next()]).toEqual([Uint8Array.of(1), null]);
  await reader.cancel();
  expect(gone).toEqual(["left"]);
});

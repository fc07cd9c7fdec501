import { expect, test } from "vitest";
import { readFound } from "../../worker/flow/reading-bodies.ts";
import { cancelBody } from "../../worker/ports/cancel-body.ts";
import type { Ports } from "../../worker/ports/ports.ts";
import type { StoredHead } from "../../worker/rules/storing/stored-response.ts";
import { memoryBodies } from "../engine/memory/memory-bodies.ts";

test("a body that nobody reads is cancelled", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    cancel: () => {
      isCancelled = true;
    },
  });
  await cancelBody(body);
  expect(isCancelled).toBe(true);
});

test("a stored body that is longer than its head says is cancelled", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(2)),
    cancel: () => {
      isCancelled = true;
    },
  });
  const background = { run: () => undefined };
  const ports = { bodies: memoryBodies, reporter: { report: () => undefined } } as unknown as Ports;
  const head = { bodyBytes: 3 } as StoredHead;
  expect(await readFound({ ports, background }, { head, body })).toBeUndefined();
  expect(isCancelled).toBe(true);
});

test.each([
  ["no body", null],
  ["a body that was cut off", new ReadableStream({ start: (controller) => controller.error(new Error("cut off")) })],
])("%s is cancelled without a failure", async (_, body) => {
  expect(await cancelBody(body)).toBeUndefined();
});

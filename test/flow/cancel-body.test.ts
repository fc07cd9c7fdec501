import { expect, test } from "vitest";
import { cancelBody } from "../../worker/ports/cancel-body.ts";

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

test.each([
  ["no body", null],
  ["a body that was cut off", new ReadableStream({ start: (controller) => controller.error(new Error("cut off")) })],
])("%s is cancelled without a failure", async (_, body) => {
  expect(await cancelBody(body)).toBeUndefined();
});

import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";

/** Rejects, in words, if `setImmediate` is faked: the runtime waits for it when it stops. */
export async function checkTimers(call: string): Promise<void> {
  let hasRun = false;
  const immediate = setImmediate(() => {
    hasRun = true;
  });
  // Each call takes a turn of the event loop at least, and the second begins after the first.
  await stat(tmpdir());
  await stat(tmpdir());
  clearImmediate(immediate);
  if (!hasRun) throw new Error(`${call}: ${IS_FAKED}`);
}

const IS_FAKED =
  "setImmediate is faked, and the CDN's runtime hangs without it. Leave it as it is, for instance by " +
  'vi.useFakeTimers({ toFake: ["Date"] }) or jest.useFakeTimers({ doNotFake: ["setImmediate"] }).';

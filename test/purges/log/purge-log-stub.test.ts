import { expect, test, vi } from "vitest";
import type { PurgeLogClient } from "../../../worker/purges/log/log-contract.ts";
import { deltaOf } from "../view/delta.ts";

vi.mock("cloudflare:workers", () => ({ DurableObject: class {}, RpcTarget: class {} }));

// Without its types, which need those of Workers.
const { PurgeLogStub } = await vi.importActual<{ PurgeLogStub: new (namespace: object) => PurgeLogClient }>(
  "../../../worker/purges/log/purge-log-stub.ts",
);

/** A namespace whose object fails in turn in these ways, and then answers. */
function startLog(...failures: object[]) {
  const log = { reads: 0, stubs: 0 };
  const read = async () => {
    const failure = failures[log.reads++];
    if (failure) throw Object.assign(new Error("the object was reset"), failure);
    return deltaOf(0, 1);
  };
  const get = () => {
    log.stubs++;
    return { read };
  };
  const namespace = { get, idFromName: (name: string) => name };
  return { log, read: () => new PurgeLogStub(namespace).read(null, 1000) };
}

test("a read of the log that a restart of its object has ended is sent once more, by a new stub", async () => {
  const { log, read } = startLog({ retryable: true });
  expect(await read()).toMatchObject({ to: 1 });
  expect(log).toEqual({ reads: 2, stubs: 2 });
});

test.each([
  ["that is overloaded", { retryable: true, overloaded: true }, 1],
  ["that fails for good", {}, 1],
  ["that is reset again", { retryable: true }, 2],
])("a read of a log %s fails", async (_, failure, reads) => {
  const { log, read } = startLog(failure, failure);
  await expect(read()).rejects.toThrow("reset");
  expect(log.reads).toBe(reads);
});

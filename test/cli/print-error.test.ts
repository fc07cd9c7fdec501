import { expect, test, vi } from "vitest";
import { EXIT } from "../../cli/exit-code.ts";
import { followPurges } from "../../cli/follow-purges.ts";
import { printPurgeError } from "../../cli/text/print-error.ts";
import type { PurgeError, Purger } from "../../sdk/index.ts";
import { startFakeEdge } from "../sdk/fake-edge.ts";
import { purgerUnderTest } from "../sdk/purger-under-test.ts";
import { createVirtualClock } from "../sdk/virtual-clock.ts";
import { tidemark } from "./run-command.ts";

test.each<[string, (cdn: Purger) => Promise<unknown>, RegExp]>([
  ["purge", (cdn) => cdn.purge({ tags: ["a"] }), /The purge may have happened; purge again to be sure\.$/m],
  [
    "purge that became several",
    (cdn) =>
      cdn
        .batch()
        .tags(Array.from({ length: 10_001 }, (_, each) => `${each}`))
        .commit(),
    /^.* 2 of 2 purges failed.* The first failure: .*purge again to be sure\.$/m,
  ],
  ["read", (cdn) => cdn.purges(), /Try again later\.$/m],
])("of a %s that times out, a command advises no option of the SDK", async (_, call, advice) => {
  const clock = createVirtualClock({ skipsUpToMs: 9_999 });
  await using edge = await startFakeEdge({ stallsAfterBytes: 0, afterwards: () => clock.advance(10_000) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });
  const failure = await call(cdn).then(
    () => expect.fail("it did not time out"),
    (error: PurgeError) => error,
  );
  expect(failure.message).toMatch(/, or set a longer deadlineMs\.$/);
  const print = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const exit = printPurgeError(failure);
  const [[printed]] = print.mock.calls as [[string]];
  print.mockRestore();
  expect(exit).toBe(EXIT.unreachable);
  expect(printed).toMatch(advice);
});

test("a command that keeps trying after a timeout advises none, either", async () => {
  const clock = createVirtualClock({ skipsUpToMs: 9_999 });
  const stall = { stallsAfterBytes: 0, afterwards: () => clock.advance(10_000) };
  await using edge = await startFakeEdge({ json: { purges: [], next: null } }, stall);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });
  const end = new AbortController();
  const notes: string[] = [];
  const onNote = (note: string) => {
    notes.push(note);
    end.abort();
  };
  await followPurges(cdn, { latest: 1, everyMs: 1, signal: end.signal, onPurges: () => undefined, onNote });
  expect(notes).toEqual([expect.stringMatching(/Try again later\. The command keeps trying\.$/)]);
});

const WITH_PASSWORD = "https://user:s3cret@origin.example.com";

test.each([
  ["dev", "--origin", WITH_PASSWORD],
  ["crawl", "--edge", WITH_PASSWORD],
  ["serve", "--acme-directory", WITH_PASSWORD.replace("https", "http")],
  ["init", "--origin", WITH_PASSWORD, "--host", "www.example.com"],
  ["init", "--origin", "https://origin.example.com", "--host", WITH_PASSWORD],
])("tidemark %s %s names an address without its password", async (...args) => {
  const { exit, stderr } = await tidemark({ args });
  expect(exit).toBe(EXIT.usage);
  expect(stderr).toContain("//…@origin.example.com");
  expect(stderr).not.toContain("s3cret");
});

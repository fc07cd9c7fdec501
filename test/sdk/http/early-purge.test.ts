import { once } from "node:events";
import { expect, test } from "vitest";
import { platform } from "../../../sdk/http/http-purger.ts";
import { type Act, accepts, receiptBody, startFakeEdge } from "../fake-edge.ts";
import { purgerUnderTest } from "../purger-under-test.ts";

const watched: Act = { ...accepts, headers: { "tidemark-early-purges": "/_tidemark/dev/early-purges?purge=7" } };

/** A platform whose later work and warnings the test has in hand. */
function developer() {
  const later: { ms: number; work: () => void }[] = [];
  const { promise: warned, resolve } = Promise.withResolvers<string>();
  const warnings: string[] = [];
  return {
    later,
    warned,
    warnings,
    platform: {
      later: (ms: number, work: () => void) => {
        later.push({ ms, work });
      },
      warn: (message: string) => {
        warnings.push(message);
        resolve(message);
      },
    },
  };
}

test("After a purge whose pages came back unchanged, the developer is warned, with the way out", async () => {
  const pages = ["/songs/42", "/songs", "/a", "/b"].map((path) => ({ path, seq: 7, afterMs: 120 }));
  await using edge = await startFakeEdge(watched, { json: pages });
  const { later, warned, platform } = developer();
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, platform);

  await cdn.purgeTags("song:42");
  expect(later.map(({ ms }) => ms)).toEqual([2_500]);
  expect(edge.requests).toHaveLength(1);
  later[0]!.work();

  expect(await warned).toMatch(
    /^Purge 7 may have come before the commit: \/songs\/42 \(120 ms later\), .* and 1 more were fetched again .* batch\(\)/,
  );
  expect(await warned).toMatch(/replicas that lag, give the purge repeatAfterMs/);
  expect(edge.requests[1]).toMatchObject({ method: "GET", path: "/_tidemark/dev/early-purges?purge=7" });
  expect(edge.requests[1]?.headers).not.toHaveProperty("authorization");
});

test("The warning leaves open whether the page should have changed", async () => {
  await using edge = await startFakeEdge(watched, { json: [{ path: "/a", afterMs: 120 }] });
  const { later, warned, platform } = developer();
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, platform);
  await cdn.purgeTags("a");
  later[0]!.work();
  expect(await warned).toContain(
    "/a (120 ms later) was fetched again after it, unchanged. If it should have changed, the old page is stored again: purge after",
  );
});

test("A page that an earlier purge of the same change has brought already is not named", async () => {
  const pages = [
    { path: "/a", afterMs: 120, changedFor: 6 },
    { path: "/b", afterMs: 120 },
  ];
  await using edge = await startFakeEdge(watched, { json: pages });
  const { later, warned, platform } = developer();
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, platform);
  await cdn.purgeTags("a");
  later[0]!.work();
  expect(await warned).toMatch(/commit: \/b \(120 ms later\) was fetched/);
});

const silent: { name: string; act: Act; answer?: Act; options?: object }[] = [
  { name: "an edge that does not offer it, like every deployed edge", act: accepts },
  { name: "a purge that is repeated, whose replicas may lag", act: watched, options: { repeatAfterMs: 5 } },
  {
    name: "an address elsewhere",
    act: { ...accepts, headers: { "tidemark-early-purges": "https://elsewhere.test/" } },
  },
];

test.for(silent)("Nothing is asked of $name", async ({ act, options }) => {
  await using edge = await startFakeEdge(act);
  const { later, platform } = developer();
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, platform);

  await cdn.purgeTags("a", options ?? {});

  expect(later).toEqual([]);
});

const quiet: { name: string; answer: Act }[] = [
  { name: "nothing came back unchanged", answer: { json: [] } },
  {
    name: "a purge shortly before brought the change",
    answer: { json: [{ path: "/a", afterMs: 120, changedFor: 6 }] },
  },
  { name: "the edge is gone", answer: { hangsUpAfterBytes: 0 } },
  { name: "something else answers", answer: { text: "<p>hello" } },
  { name: "its answer has another form", answer: { json: { ...receiptBody } } },
];

test.for(quiet)("Nobody is warned, and nothing fails, if $name", async ({ answer }) => {
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  await using edge = await startFakeEdge(watched, { ...answer, afterwards: resolve });
  const { later, warnings, platform } = developer();
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, platform);

  await cdn.purgeTags("a");
  later[0]!.work();
  await answered;
  await new Promise(setImmediate);
  await cdn.close();

  expect(warnings).toEqual([]);
});

test("On Node the warning is one of the process, with a code", async () => {
  const warned = once(process, "warning");

  platform.later(1, () => platform.warn("Purge 7 may have come before the commit"));

  const [warning] = (await warned) as [Error & { code: string }];
  expect(warning).toMatchObject({
    name: "TidemarkWarning",
    code: "TIDEMARK_EARLY_PURGE",
    message: expect.stringMatching(/^Purge 7/),
  });
});

import { describe, expect, test } from "vitest";
import type { PurgeRecord } from "../../sdk/index.ts";
import { Dev } from "../local/dev/dev-process.ts";
import { type Act, refuses, startFakeEdge } from "../sdk/fake-edge.ts";

function record(seq: number, reason = `purge ${seq}`): PurgeRecord {
  const accepted = { urls: 1, tags: 0, prefixes: 0, hosts: 0, everything: false };
  const items = { accepted, items: ["/a"], itemCount: 1, id: null, repeatOf: null };
  return { seq, at: "2026-01-02T03:04:05.678Z", by: "shop", reason, mode: "hard", ...items, settled: true };
}

/** The answer of an edge with these purges, the newest first. */
const page = (...seqs: number[]): Act => ({ json: { purges: seqs.map((seq) => record(seq)), next: null } });

/** The command against an edge. It runs until it is interrupted. */
function follow(endpoint: string, ...args: string[]): Dev {
  const environment = { TIDEMARK_ENDPOINT: endpoint, TIDEMARK_TOKEN: "a-token", NO_COLOR: "1" };
  return new Dev(["--follow", "--every", "0.01", ...args], environment, ["cli/main.ts", "purges"]);
}

const numbersOf = (lines: string) => [...lines.matchAll(/^(\d+) /gm)].map(([, seq]) => Number(seq));

describe.concurrent("tidemark purges --follow", () => {
  test("prints the latest purges, then each new one once, and ends at Ctrl-C", async ({ expect }) => {
    const after = [page(9), page(11), page(12, 11, 10, 9, 8), page(12)];
    await using edge = await startFakeEdge(page(9, 8), ...after, page(13), page(13, 12, 11), page(13));
    const running = follow(edge.endpoint, "--limit", "2");

    await running.says(/^13 /m);
    running.interrupt();

    expect(await running.exited).toBe(0);
    expect(numbersOf(running.stdout)).toEqual([8, 9, 10, 11, 12, 13]);
    expect(running.stdout.match(/^SEQ/gm)).toHaveLength(1);
    expect(edge.requests.slice(0, 4).map(({ path }) => path)).toEqual([
      "/_tidemark/purges?limit=2",
      "/_tidemark/purges?limit=1",
      "/_tidemark/purges?limit=1",
      "/_tidemark/purges?limit=500",
    ]);
  });

  test("reads as many pages as there are new purges, and with --json prints a line for each", {
    tags: ["deep"],
  }, async ({ expect }) => {
    const first: Act = { json: { purges: [record(9), record(8)], next: 8 } };
    const second: Act = { json: { purges: [record(7), record(6)], next: 6 } };
    await using edge = await startFakeEdge(page(5), page(9), first, second, page(5, 4), page(9));
    const running = follow(edge.endpoint, "--json");

    await running.says(/"seq":9/);
    running.interrupt();

    expect(await running.exited).toBe(0);
    const lines = running.stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([5, 6, 7, 8, 9].map((seq) => record(seq)));
    expect(edge.requests[3]?.path).toBe("/_tidemark/purges?before=8&limit=500");
  });

  test("continues after the edge was away, and says so once each time", { tags: ["deep"] }, async ({ expect }) => {
    const away: Act = { hangsUpAfterBytes: 0 };
    await using edge = await startFakeEdge(page(5), away, refuses("unavailable"), away, page(6), page(6, 5), page(6));
    const running = follow(edge.endpoint);

    await running.says(/^6 /m);
    running.interrupt();

    expect(await running.exited).toBe(0);
    expect(numbersOf(running.stdout)).toEqual([5, 6]);
    expect(running.output.match(/The command keeps trying/g)).toHaveLength(1);
    expect(running.output.match(/The edge answers again/g)).toHaveLength(1);
  });

  test("starts again with a new log", { tags: ["deep"] }, async ({ expect }) => {
    await using edge = await startFakeEdge(page(90), page(1), page(1), page(1));
    const running = follow(edge.endpoint);

    await running.says(/^1 /m);
    running.interrupt();

    expect(await running.exited).toBe(0);
    expect(numbersOf(running.stdout)).toEqual([90, 1]);
    expect(running.output).toContain("The edge has a new purge log");
  });

  test("prints no purge again after the log was put back to an older copy", { tags: ["deep"] }, async ({ expect }) => {
    const at = (hour: number, ...seqs: number[]): Act => ({
      json: { purges: seqs.map((seq) => ({ ...record(seq), at: `2026-01-02T0${hour}:00:00.000Z` })), next: null },
    });
    await using edge = await startFakeEdge(at(5, 90), at(4, 88), at(4, 88, 87), at(6, 89), at(6, 89), at(6, 89));
    const running = follow(edge.endpoint);

    await running.says(/^89 /m);
    running.interrupt();

    expect(await running.exited).toBe(0);
    expect(numbersOf(running.stdout)).toEqual([90, 89]);
    expect(running.output).toContain("or an older copy of the same");
  });

  test.for([
    { name: "passed the old number", newest: 4 },
    { name: "come to the old number", newest: 3 },
  ])(
    "prints every purge of a new log that has $name by the next look",
    { tags: ["deep"] },
    async ({ newest }, { expect }) => {
      const purges = [4, 3, 2, 1].slice(4 - newest).map((seq) => ({ ...record(seq), at: "2026-01-02T05:00:00.000Z" }));
      const latest = (limit: number): Act => ({ json: { purges: purges.slice(0, limit), next: null } });
      await using edge = await startFakeEdge(page(3), latest(1), latest(500), latest(500), latest(1));
      const running = follow(edge.endpoint);

      await running.says(new RegExp(`^${newest} .*05:00:00`, "m"));
      running.interrupt();

      expect(await running.exited).toBe(0);
      expect(numbersOf(running.stdout)).toEqual([3, ...[1, 2, 3, 4].slice(0, newest)]);
      expect(running.output.match(/The edge has a new purge log/g)).toHaveLength(1);
    },
  );

  test.for([
    { name: "an edge that is away at the start", act: { hangsUpAfterBytes: 0 }, exit: 3 },
    { name: "a token that may not read", act: refuses("forbidden"), exit: 1 },
  ])("ends with an exit code for $name", { tags: ["deep"] }, async ({ act, exit }, { expect }) => {
    await using edge = await startFakeEdge(act);

    expect(await follow(edge.endpoint).exited).toBe(exit);
  });

  test.for([["7"], ["--before", "7"], ["--every", "0"]])(
    "is refused with %s",
    { tags: ["deep"] },
    async (args, { expect }) => {
      expect(await follow("http://a.test", ...args).exited).toBe(2);
    },
  );
});

test("--every without --follow is refused", { tags: ["deep"] }, async () => {
  const running = new Dev(["--every", "5"], {}, ["cli/main.ts", "purges"]);

  expect(await running.exited).toBe(2);
});

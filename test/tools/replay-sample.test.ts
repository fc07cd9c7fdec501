import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oneInFor, PageSample } from "../../tools/replay/page-sample.ts";
import { type ReplayReport, replayLogs } from "../../tools/replay/replay-logs.ts";
import { replayText } from "../../tools/replay/replay-text.ts";
import { combinedLine, generatedLog, generatedRequests } from "./generated-log.ts";

const MIB = 1024 ** 2;

test.each([
  [0, 1],
  [200 * MIB, 1],
  [200 * MIB + 1, 2],
  [400 * MIB, 2],
  [3_000 * MIB, 15],
])("of a log of %d bytes, one path in %d is replayed", (bytes, oneIn) => {
  expect(oneInFor(bytes)).toBe(oneIn);
});

describe("a sample of paths", () => {
  const hostOf = (index: number) => ({ host: `h${index}`, target: "/a?page=1" });

  test("has all requests of a path, whatever the query, or none", () => {
    const sample = new PageSample(4);
    for (let index = 0; index < 100; index++) {
      const { host } = hostOf(index);
      const isTaken = sample.takes({ host, target: "/a" });
      expect(sample.takes({ host, target: "/a?b=1" })).toBe(isTaken);
    }
    expect(sample.left).toBeGreaterThan(100);
    expect(sample.left).toBeLessThan(200);
  });

  test("of every path leaves nothing out and estimates nothing", () => {
    const all = new PageSample(1);
    expect([all.takes(hostOf(1)), all.left, all.counted().estimate]).toEqual([true, 0, null]);
  });

  test("includes a popular path from then on", () => {
    const sample = new PageSample(1_000_000, 10);
    const taken = Array.from({ length: 15 }, () => sample.takes(hostOf(1)));
    expect(taken.filter(Boolean)).toHaveLength(5);
    const misses = sample.counted();
    for (let index = 0; index < 5; index++) misses.count(hostOf(1), index > 0);
    // 1 of 5 were misses, and so of the 10 before.
    expect(misses.estimate).toEqual({ hitRatio: 0.8, margin: 0 });
  });

  test("counts each other path for those that were not taken", () => {
    const sample = new PageSample(3);
    const misses = sample.counted();
    const hosts = Array.from({ length: 3_000 }, (_, index) => hostOf(index));
    for (const page of hosts) if (sample.takes(page)) misses.count(page, false);
    for (const page of hosts) if (sample.takes(page)) misses.count(page, true);
    const { hitRatio, margin } = misses.estimate!;
    expect(Math.abs(hitRatio - 0.5)).toBeLessThan(margin);
    expect(margin).toBeLessThan(0.05);
  });

  test("estimates the hit ratio of all pages within its margin", { tags: ["gate"] }, () => {
    let inside = 0;
    // One site's traffic, on forty hosts: each of them has other paths in its sample.
    const targets = Array.from(generatedRequests({ seed: 1, requests: 8_000, days: 1 }), ({ target }) => target);
    for (let host = 1; host <= 40; host++) {
      const all = { requests: 0, hits: 0 };
      const sample = new PageSample(4, 10);
      const misses = sample.counted();
      const seen = new Set<string>();
      for (const target of targets) {
        const page = { host: String(host), target };
        const isHit = seen.has(target);
        seen.add(target);
        all.requests++;
        all.hits += Number(isHit);
        if (sample.takes(page)) misses.count(page, isHit);
      }
      const { hitRatio, margin } = misses.estimate!;
      inside += Number(Math.abs(all.hits / all.requests - hitRatio) <= margin);
    }
    expect(inside).toBeGreaterThanOrEqual(37);
  });
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-replay-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("a part that was logged leads to the whole page where the edge asks for that", async () => {
  const [log, config] = [join(folder, "parts.log"), join(folder, "parts.config.ts")];
  const lines = [
    { second: 0, target: "/a.mp4", status: 200, bytes: 1_000 },
    { second: 20, target: "/a.mp4", status: 206, bytes: 100 },
    { second: 30, target: "/a.mp4", status: 206, bytes: 200 },
    { second: 40, target: "/b.mp4", status: 206, bytes: 100 },
    { second: 50, target: "/b.mp4", status: 206, bytes: 100 },
  ].map(({ second, ...line }) =>
    combinedLine({ ...line, at: Date.UTC(2026, 9, 5, 0, 0, second), method: "GET", agent: "-" }),
  );
  writeFileSync(log, `${lines.join("\n")}\n`);
  writeFileSync(
    config,
    `import { defineSite } from "tidemark/worker";
    export default defineSite({ origin: "http://origin.example.com", limits: { fetchWholeBytes: "1KiB" } });`,
  );
  const replay = async (...configs: string[]) => {
    const options = { files: [log], configs, cacheControl: "max-age=15", memoryBytes: null, oneIn: null };
    return (await replayLogs(options)).edges;
  };
  // The second answer is as large as the page was before.
  const whole = { originRequests: 3, originBytes: 2_100, answers: { HIT: 2 } };
  expect(await replay(config)).toMatchObject([{ ...whole, bytes: 1_500 }]);
  // Without that limit, the edge asks for the parts alone, and stores none.
  const parts = { originRequests: 5, originBytes: 1_500, hits: 0 };
  expect(await replay()).toMatchObject([{ ...parts, bytes: 1_500 }]);
});

describe("a replay of a sample", () => {
  let whole: ReplayReport;
  let sampled: ReplayReport;
  beforeAll(async () => {
    const log = join(folder, "access.log");
    writeFileSync(log, generatedLog({ seed: 3, requests: 3_000, days: 1 }));
    const options = { files: [log], configs: [], cacheControl: "max-age=3600", memoryBytes: null };
    whole = await replayLogs({ ...options, oneIn: null });
    sampled = await replayLogs({ ...options, oneIn: 3 });
  });

  test("plays all requests of its paths, and says how many it left", () => {
    const [[all], [some]] = [whole.edges, sampled.edges];
    expect([whole.oneIn, whole.left, all!.margin, all!.hitRatio]).toEqual([1, 0, 0, all!.hits / all!.requests]);
    expect(sampled.oneIn).toBe(3);
    expect(some!.requests + sampled.left).toBe(all!.requests);
    expect(some!.requests).toBeLessThan(all!.requests * 0.75);
    expect(some!.margin).toBeGreaterThan(0);
  });

  test("says so, with the margin", () => {
    const text = replayText(sampled);
    expect(text).toMatch(/^The replay covers one path in 3 and all popular paths; it left out [\d,]+ requests\./);
    expect(text).toMatch(
      /± \d+\.\d points in 95 of 100 samples; .*\n--sample 1 replays all lines, 15,000 to 20,000 a second\./,
    );
    expect(replayText(whole)).not.toContain("One path in");
  });

  test("for a memory that holds all pages leaves out popular ones, too, so that its share holds the rest", async () => {
    const log = join(folder, "popular.log");
    const lines = Array.from({ length: 1_050 }, (_, round) =>
      Array.from({ length: 16 }, (_page, page) => {
        const at = Date.UTC(2026, 9, 5) + 1_000 * (16 * round + page);
        return combinedLine({ at, method: "GET", target: `/${page}`, status: 200, bytes: 10_000, agent: "-" });
      }),
    );
    writeFileSync(log, `${lines.flat().join("\n")}\n`);
    const options = { files: [log], configs: [], cacheControl: "max-age=86400", oneIn: 2, memoryBytes: 220_000 };
    const { edges, left, ...rest } = await replayLogs(options);
    const pages = 16 - left / 1_050;
    expect(edges).toMatchObject([{ requests: pages * 1_050, hits: pages * 1_049, margin: expect.closeTo(0.001, 3) }]);
    expect(replayText({ edges, left, ...rest })).toMatch(
      /^The replay covers one path in 2, with its share of the memory;/,
    );
  });
});

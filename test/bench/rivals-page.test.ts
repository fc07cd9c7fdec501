import { describe, expect, test } from "vitest";
import { laneOf, summarize, type Turn, type TurnsResult } from "../../bench/frame/turns.ts";
import { type FormResult, figuresOf, type Measured, REFERENCES, TIDEMARK } from "../../bench/rivals/measured.ts";
import { tidemarksShare, withRivals } from "../../bench/rivals/page.ts";

function turn(requestsPerSecond: number): Turn {
  const load = { requests: 3 * requestsPerSecond, requestsPerSecond, p50Ms: 0.5, p99Ms: 1.234, failures: 0 };
  return { ...load, clientCpu: 0.5, cpuMicros: 12.34, serverCpu: 1, originRequests: 0 };
}

/** The results of servers that had these requests per second, round by round; a text says why one was left out. */
function resultsOf(servers: Readonly<Record<string, readonly number[] | string>>): readonly TurnsResult[] {
  const lanes = Object.entries(servers).map(([name, rates]) => ({
    ...laneOf({ name, pid: () => 0, load: async () => turn(0), originRequests: async () => 0, missShare: 0 }),
    turns: typeof rates === "string" ? [] : rates.map(turn),
    failure: typeof rates === "string" ? rates : null,
  }));
  return summarize(lanes, REFERENCES);
}

function formOf(form: string, servers: Parameters<typeof resultsOf>[0]): FormResult {
  return { form, leftOut: null, servers: resultsOf(servers).map(figuresOf) };
}

function measuredOf(forms: readonly FormResult[]): Measured {
  return {
    at: "2026-11-25T09:40:00.000Z",
    machine: { cpu: "A CPU", cores: 2, system: "Linux 6", node: "24.1.0", workerd: "1", loadBefore: 3.5 },
    versions: { nginx: "", wrk: "4.1.0-3" }, // that of nginx was not known
    settings: { rounds: 3, seconds: 2, workers: 2 },
    entrants: [
      { name: "nginx", version: "1.30.6", leftOut: null },
      { name: "Squid", version: null, leftOut: "no network" },
    ],
    forms,
  };
}

describe("the figures of a server", () => {
  test("are medians, the least and the most, and medians of the rounds' ratios", () => {
    const [figures] = resultsOf({ Tidemark: [100, 300, 90], "nginx, best": [200, 200, 100] }).map(figuresOf);
    expect(figures).toEqual({
      ...{ name: TIDEMARK, failure: null, requestsPerSecond: 100, least: 90, most: 300 },
      ...{ p50Ms: 0.5, p99Ms: 1.23, cpuMicros: 12.3, clientCpu: 0.5, share: { "nginx, best": 0.9 } },
    });
  });

  test("are missing for a server that failed, which keeps the reason", () => {
    const [figures] = resultsOf({ Squid: "3 requests reached the origin under load, not 0." }).map(figuresOf);
    expect(figures).toMatchObject({ requestsPerSecond: null, p99Ms: null, cpuMicros: null, share: {} });
    expect(figures!.failure).toContain("reached the origin");
  });
});

test("Tidemark is compared with nginx at its best, and with HAProxy's best where nginx has no figures", () => {
  const servers = { Tidemark: [50], "nginx, best": [100], "HAProxy, best": [200] };
  expect(tidemarksShare(formOf("", servers).servers)).toEqual({ reference: "nginx, best", value: 0.5 });
  const without = { ...servers, "nginx, best": "It ended." };
  expect(tidemarksShare(formOf("", without).servers)).toEqual({ reference: "HAProxy, best", value: 0.25 });
  expect(tidemarksShare(formOf("", { "nginx, best": [100] }).servers)).toBeNull();
});

describe("the page", () => {
  const page = withRivals(
    "By hand.\n<!-- generated: rivals -->\nold\n<!-- end -->\nBy hand.\n<!-- generated: forms -->\n<!-- end -->\n",
    measuredOf([
      formOf("wrk -c50, 1 KB", { Tidemark: [950], "nginx, best": [1000] }),
      formOf("wrk -c50, 1 KB, TLS 1.3", { Tidemark: [94], "nginx, best": [100], Squid: "It speaks no TLS." }),
      formOf("ab -k -c 500", { Tidemark: [60], "nginx, best": [100], "bare Node, best": [70] }),
      { form: "hey -n 10000 -c 10, 1 KB", leftOut: "go was not found", servers: [] },
    ]),
  );

  test("says how and where it was measured, and under which other load", () => {
    expect(page).toContain("`npm run bench -- rivals --rounds 3 --seconds 2 --workers 2`, on 2026-11-25");
    expect(page).toContain("load average 3.5 before the run, by other work that went on meanwhile");
    expect(page).toContain("nginx 1.30.6; wrk 4.1.0-3; the installed nginx is the origin.");
  });

  test("names a rival, a form and a server that are left out, with the reason", () => {
    expect(page).toContain("- Squid is left out. Not installed: no network.");
    expect(page).toContain("### hey -n 10000 -c 10, 1 KB\n\nLeft out. Its client is not installed: go was not found.");
    expect(page).toContain("- Squid is left out: It speaks no TLS.");
  });

  test("keeps hand-written text, and replaces the text of earlier runs", () => {
    expect(page.match(/^By hand\.$/gm)).toHaveLength(2);
    expect(page).not.toContain("old\n");
    expect(page.indexOf("### wrk -c50, 1 KB\n")).toBeGreaterThan(page.lastIndexOf("By hand."));
  });

  test("has a row for each form that was measured, and figures for each server", () => {
    expect(page).toContain("| wrk -c50, 1 KB | 950 | 1,000 | | | **0.95** of nginx, best |");
    expect(page).toContain("| **Tidemark** | 94 | 94 to 94 | 0.5 | 1.23 | 12.3 | 0.5 |");
  });

  test("names the forms in which Tidemark has less than 0.95 of nginx's best, with the CPU time of both, and what bare Node has", () => {
    const [, behind] = /### Where Tidemark is behind\n\n((?:- .*\n)+)/.exec(page)!;
    expect(behind!.trim().split("\n")).toEqual([
      "- wrk -c50, 1 KB, TLS 1.3: 0.94 of nginx, best, at 12.3 µs of CPU for a request against 12.3. Each request passes through Node's parser and its streams.",
      "- ab -k -c 500: 0.60 of nginx, best, at 12.3 µs of CPU for a request against 12.3. Bare Node has 0.70, at 12.3 µs. Each run opens its 500 connections anew.",
    ]);
  });
});

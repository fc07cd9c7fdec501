import { describe, expect, test } from "vitest";
import { Counters } from "../../worker/metrics/counters.ts";
import { type Report, Reports } from "../../worker/metrics/reports.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { MemoryOrigin } from "../engine/memory/memory-origin.ts";
import { PopUnderTest } from "../flow/pop-under-test.ts";

/** A ledger that confirms each report when the test says so. */
function ledgerUnderTest() {
  const sent: { report: Report; confirm: () => void }[] = [];
  const client = {
    report: (text: string) =>
      new Promise<void>((resolve) => sent.push({ report: JSON.parse(text) as Report, confirm: resolve })),
    readLedger: async () => "",
    findUnseen: async () => [],
  };
  const counters = new Counters("http://origin.test", () => undefined);
  let now = 0;
  const clock = { now: () => now, wait: () => ({ over: new Promise<void>(() => undefined), cancel: () => undefined }) };
  const memory = () => ({ entries: 0, bytes: 0, maxBytes: 0 });
  const wait = (ms: number) => {
    now += ms;
  };
  return { sent, wait, reports: new Reports({ client, isolate: "a" }, counters, clock, memory) };
}

test("the last report is sent although others are made meanwhile, for somebody who asks", async () => {
  const { sent, reports } = ledgerUnderTest();
  const confirm = async (index: number) => {
    sent[index]!.confirm();
    for (let turn = 0; turn < 8; turn++) await Promise.resolve();
  };
  void reports.send("now");
  const ended = reports.sendAll("last"); // sends the first one again
  await confirm(0);
  void reports.send("now");
  await confirm(1);
  for (let index = 2; index < sent.length; index++) await confirm(index);
  await ended;
  expect(sent.map(({ report }) => report.number)).toEqual([1, 1, 2, 2, 3]);
  expect(sent.map(({ report }) => report.isLast)).toEqual([false, false, false, false, true]);
});

test("a report that somebody asks for after the last one is a last one, too", async () => {
  const { sent, reports } = ledgerUnderTest();
  void reports.sendAll("last");
  sent[0]!.confirm();
  for (let turn = 0; turn < 8; turn++) await Promise.resolve();
  void reports.sendAll("now");
  expect(sent.map(({ report }) => [report.number, report.isLast])).toEqual([
    [1, true],
    [2, true],
  ]);
});

test("a report that the log did not take is sent again under its number, a minute later, with what it said", async () => {
  const { reports, wait } = ledgerUnderTest();
  const sent: Report[] = [];
  const read = (reportFailed?: true) =>
    reports.sendBy(async (report) => {
      if (report !== undefined) sent.push(JSON.parse(report) as Report);
      return { ...(reportFailed && { reportFailed }) };
    });
  await read(true);
  await read();
  expect(sent).toHaveLength(1);
  wait(60_000);
  await read();
  await read();
  expect(sent.map(({ number, agoMs }) => [number, agoMs])).toEqual([
    [1, 0],
    [1, 60_000],
    [2, 0],
  ]);
});

describe("an isolate that answers each request itself, and so never reads the log", () => {
  const CASES: readonly [detail: string, site: Partial<SiteInput>][] = [
    ["host-unknown", { hosts: ["another.test"] }],
    ["url-too-long", { limits: { urlBytes: 1024 } }],
  ];

  test.each(CASES)("reports its answers (%s) once a minute", async (detail, site) => {
    const pop = new PopUnderTest();
    const counted: unknown[] = [];
    const client = {
      report: async (text: string) => void counted.push((JSON.parse(text) as Report).counts.answeredByEdge),
      readLedger: async () => "",
      findUnseen: async () => [],
    };
    const origin = new MemoryOrigin(pop.scheduler);
    const ask = pop.start(origin, { site, ledger: { client, isolate: "a" } });
    for (let second = 0; second <= 60; second += 20) {
      const answer = await pop.head(ask(`/${"a".repeat(1024)}`));
      expect(answer.headers.get("cache-status")).toContain(`detail=${detail}`);
      await pop.finish();
      await pop.scheduler.advance(20_000);
    }
    expect(counted).toEqual([{ [detail]: 1 }, { [detail]: 3 }]);
    expect(origin.seen).toEqual([]);
  });
});

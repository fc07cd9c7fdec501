import { expect, test } from "vitest";
import { Counters } from "../../worker/metrics/counters.ts";
import { type Report, Reports } from "../../worker/metrics/reports.ts";

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
  const clock = { now: () => 0, wait: () => ({ over: new Promise<void>(() => undefined), cancel: () => undefined }) };
  const memory = () => ({ entries: 0, bytes: 0, maxBytes: 0 });
  return { sent, reports: new Reports({ client, isolate: "a" }, counters, clock, memory) };
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

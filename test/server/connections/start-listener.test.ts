import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { inGate } from "../../suite/depth.ts";
import type { ListenerReport, ListenerStart } from "../http1/listener-thread.ts";
import { type OtherNode, otherNodes } from "../http1/other-nodes.ts";

/** In a thread, which has a Node of its own to change. Rejects if an error ends it. */
async function startIn(start: ListenerStart): Promise<ListenerReport> {
  const thread = new Worker(new URL("../http1/listener-thread.ts", import.meta.url), { workerData: start });
  const [[report]] = await Promise.all([once(thread, "message"), once(thread, "exit")]);
  return report as ListenerReport;
}

const PAGE = expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n(.+\r\n)+\r\npage$/);
const PAGES = [PAGE, PAGE];

test("a listener answers plain requests without Node's objects if that works", async () => {
  const report = await startIn({ node: null, usesFastAnswers: true });
  expect(report).toEqual({ warnings: [], received: PAGES, ofNode: 0, fastHits: 1, lateAnswers: 1 });
});

test.each(inGate(1, Object.entries<OtherNode>(otherNodes)))(
  "a Node that %s answers all requests through its own server",
  async (name, other) => {
    const report = await startIn({ node: name as keyof typeof otherNodes, usesFastAnswers: true });
    const line = `Node's own server answers all requests, because the trial of the faster way failed: ${other.because}.`;
    expect(report).toEqual({ warnings: [line], received: PAGES, ofNode: 2, fastHits: 0, lateAnswers: 0 });
  },
);

test("nothing is tried if the fast way is turned off", async () => {
  const report = await startIn({ node: "has another name for its callback", usesFastAnswers: false });
  expect(report).toEqual({ warnings: [], received: PAGES, ofNode: 2, fastHits: 0, lateAnswers: 0 });
});

test("the fast way is not used if it is turned off, even if it works", async () => {
  const report = await startIn({ node: null, usesFastAnswers: false });
  expect(report).toEqual({ warnings: [], received: PAGES, ofNode: 2, fastHits: 0, lateAnswers: 0 });
});

import { expect, onTestFinished, test, vi } from "vitest";
import { MACHINE } from "../../../server/machine/machine-survey.ts";
import { startWorker } from "../../../server/program/edge-program.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { ReportIntake } from "../../../worker/purges/log/report-intake.ts";
import { until } from "../../suite/until.ts";
import { exchange } from "../raw-client.ts";
import { startSites } from "../sites/worker-under-test.ts";

const SITE = { origin: "http://127.0.0.1:9", hosts: ["a.test"] };
const TOKEN = "the-token-0123456789-abcdefghijk";

test("a worker that nobody visits reports within a quarter more than a minute after the report before", async () => {
  const reports = vi.spyOn(ReportIntake.prototype, "take");
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  onTestFinished(() => {
    vi.useRealTimers();
    reports.mockRestore();
  });
  const { worker, stop } = await startSites({ startWorker }, [{ name: ONLY_SITE, token: TOKEN, site: SITE }]);
  vi.advanceTimersByTime(5_000);
  await worker.survey!([MACHINE]);
  reports.mockClear();
  vi.advanceTimersByTime(75_000);
  await until(() => reports.mock.calls.length === 1);
  await stop();
});

test.each([
  [false, []],
  [
    true,
    ["worker-1: site a: the counts may lack 3 requests, because the purge log did not take this worker's last report"],
  ],
])("a worker whose last report is not taken (%s) says how many requests it held", async (isFull, lines) => {
  const reports = vi.spyOn(ReportIntake.prototype, "take");
  const said = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => {
    reports.mockRestore();
    said.mockRestore();
  });
  const { port, worker, stop } = await startSites({ startWorker }, [{ name: "a", token: TOKEN, site: SITE }]);
  const ask = () => exchange({ port }, "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
  await ask();
  await worker.survey!([MACHINE]);
  if (isFull) {
    reports.mockImplementation(() => {
      throw new Error("database or disk is full");
    });
  }
  for (let request = 0; request < 2; request++) await ask();
  await worker.survey!([MACHINE]); // reports them, and the report stays unconfirmed
  await ask();
  said.mockClear();
  await stop();
  expect(said.mock.calls.map(([line]) => String(line).replace(/^\S+Z /, ""))).toEqual(lines);
});

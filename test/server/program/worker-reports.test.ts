import { onTestFinished, test, vi } from "vitest";
import { startWorker } from "../../../server/program/edge-program.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { ReportIntake } from "../../../worker/purges/log/report-intake.ts";
import { until } from "../../suite/until.ts";
import { startSites } from "../sites/worker-under-test.ts";

test("a worker that nobody visits reports within a quarter more than a minute after the report before", async () => {
  const reports = vi.spyOn(ReportIntake.prototype, "take");
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  onTestFinished(() => {
    vi.useRealTimers();
    reports.mockRestore();
  });
  const site = { origin: "http://127.0.0.1:9", hosts: ["a.test"] };
  const token = "the-token-0123456789-abcdefghijk";
  const { worker, stop } = await startSites({ startWorker }, [{ name: ONLY_SITE, token, site }]);
  vi.advanceTimersByTime(5_000);
  await worker.survey!();
  reports.mockClear();
  vi.advanceTimersByTime(75_000);
  await until(() => reports.mock.calls.length === 1);
  await stop();
});

import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { MACHINE } from "../../../server/machine/machine-survey.ts";
import type { ProcessFigures } from "../../../server/machine/process-figures.ts";
import { ASKS_FOR_PERMITS, isPermitMessage } from "../../../server/permits/permit-messages.ts";
import { PermitOffice } from "../../../server/permits/permit-office.ts";
import { collectGarbage } from "../../../server/program/collect-garbage.ts";
import { startWorker } from "../../../server/program/edge-program.ts";
import type { RunningWorker, WorkerProgram, WorkerStart } from "../../../server/program/worker-program.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { until } from "../../suite/until.ts";
import { RawClient } from "../raw-client.ts";
import { startSites, type WorkerUnderTest } from "../sites/worker-under-test.ts";

test("what nobody holds any more is given back at once", async () => {
  const held = new WeakRef(new Uint8Array(8));
  await new Promise(setImmediate); // until then a new WeakRef holds what it refers to
  collectGarbage();
  expect(held.deref()).toBeUndefined();
});

/** A worker with enough time for its answers. */
const patient: WorkerProgram = {
  startWorker: async (start) => {
    const worker = await startWorker(start);
    const drain = worker.drain.bind(worker);
    worker.drain = () => drain(60_000);
    return worker;
  },
};

/** The same, with permits of this office. */
const sharingPermits = (office: PermitOffice): WorkerProgram => ({
  startWorker: (start) => {
    const { ask, tell, close } = office.connect();
    onTestFinished(close);
    const line: WorkerStart["line"] = {
      ask: (question) => (question === ASKS_FOR_PERMITS ? ask(question) : start.line.ask(question)),
      tell: (message) => (isPermitMessage(message) ? tell(message) : start.line.tell(message)),
    };
    return patient.startWorker({ ...start, line });
  },
});

async function startOrigin(): Promise<ScriptedOrigin> {
  const origin = new ScriptedOrigin(() => Date.now());
  await origin.comeUp();
  onTestFinished(() => origin.goDown());
  return origin;
}

const surveyOf = async ({ worker }: WorkerUnderTest) => ((await worker.survey!([MACHINE])) as ProcessFigures).worker!;

async function ask(path: string, port: number, host = "a.test"): Promise<RawClient> {
  const client = new RawClient({ host: "127.0.0.1", port });
  await client.send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return client;
}

test("what waits for the origin at a worker that ends goes before what comes to the next one", async () => {
  const origin = await startOrigin();
  origin.reply("/first", { hold: "first" });
  const site = { origin: { url: origin.url, concurrency: 1, queue: { maxMs: 60_000 } }, hosts: ["a.test"] };
  const given = [{ name: ONLY_SITE, token: "the-token-0123456789-abcdefghijk", site }];
  const program = sharingPermits(new PermitOffice());
  const [old, next] = [await startSites(program, given), await startSites(program, given)];
  const waits = async (worker: WorkerUnderTest) => (await surveyOf(worker)).origins?.[ONLY_SITE]?.waiting === 1;
  await ask("/first", old.port);
  await until(() => origin.seen.length === 1);
  const second = await ask("/second", old.port);
  await until(() => waits(old));
  const stopped = old.stop();
  const third = await ask("/third", next.port);
  await until(() => waits(next));
  origin.release("first");
  await Promise.all([second, third].map((client) => client.until((received) => received.includes("HTTP/1.1"))));
  expect(origin.seen.map(({ target }) => target)).toEqual(["/first", "/second", "/third"]);
  await Promise.all([stopped, next.stop()]);
});

test.each([
  { whose: "one site", names: [ONLY_SITE] },
  { whose: "several sites", names: ["shop", "blog"] },
])("a worker with $whose that ends gives its memory back, and finishes its answers", async ({ names }) => {
  const origin = await startOrigin();
  origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: "the page" });
  const rest = { hold: "rest", bytesBeforeHold: 4, framing: "chunked" as const };
  origin.reply("/long", { fields: { "cache-control": "no-store" }, body: "one two", ...rest });
  const siteOf = (name: string) => ({
    name,
    token: `the-token-of-the-${name}-0123456789-abcdef`,
    site: { origin: origin.url, hosts: [`${name}a.test`] },
  });
  const said = vi.spyOn(console, "error");
  onTestFinished(() => said.mockRestore());
  const sites = await startSites(patient, names.map(siteOf));
  const memory = async () => (await surveyOf(sites)).memory;

  await Promise.all(names.map((name) => ask("/page", sites.port, `${name}a.test`)));
  await until(async () => (await memory()).entries === names.length);
  const reader = await ask("/long", sites.port, `${names[0]}a.test`);
  await reader.until((received) => received.includes("one "));
  const stopped = sites.stop();
  expect(await memory()).toMatchObject({ entries: 0, bytes: 0, evictions: 0 });
  origin.release("rest");
  expect(await reader.until((received) => received.endsWith("0\r\n\r\n"))).toContain("two");
  await stopped;
  expect(said).not.toHaveBeenCalled();
});

test.each([
  { whose: "time for answers is over", program: { startWorker }, hurry: () => undefined },
  { whose: "time was cut short", program: patient, hurry: (worker: RunningWorker) => worker.hurry!(1_500) },
])("a worker whose $whose tells what it has cut off, and what its access log lacks", async ({ program, hurry }) => {
  const said = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => said.mockRestore());
  const origin = await startOrigin();
  for (const path of ["/first", "/second"]) origin.reply(path, { hold: "answers" });
  const site = { origin: origin.url, hosts: ["a.test"] };
  const given = [{ name: ONLY_SITE, token: "the-token-0123456789-abcdefghijk", site }];
  const accessLog = { path: join(TEMPORARY_ROOT, "nowhere", "access.log"), format: "combined" } as const;
  const sites = await startSites(program, given, { accessLog });
  for (const path of ["/first", "/second"]) await ask(path, sites.port);
  await until(() => origin.seen.length === 2);
  const stopped = sites.stop();
  hurry(sites.worker);
  const told = (words: RegExp): string[] => said.mock.calls.flat().filter((line) => words.test(line));
  await until(() => told(/cut off/).length > 0); // without a worker's process, the origin's answers would go on
  origin.release("answers");
  await stopped;
  expect(told(/cut off|lost/)).toEqual([
    expect.stringContaining("worker-1: 2 connections were cut off, because answers had not ended within 0.5 s."),
    expect.stringContaining("lost 2 lines, because the server stopped before they could be written."),
  ]);
});

import { afterEach, expect, test, vi } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { type MachineSurvey, surveyMachine, type WorkerReply } from "../../../server/machine/machine-survey.ts";
import { startWorker } from "../../../server/program/edge-program.ts";
import type { WorkerProgram } from "../../../server/program/worker-program.ts";
import type { Explanation } from "../../../wire/explanation.ts";
import { ReportIntake } from "../../../worker/purges/log/report-intake.ts";
import { exchange } from "../raw-client.ts";
import { startSites, type WorkerUnderTest } from "../sites/worker-under-test.ts";

const TOKEN = "the-token-0123456789-abcdefghijk";
const PARTS = { memoryBytes: 0, certificates: [], disk: null, folder: "." };

const started: WorkerUnderTest[] = [];
const origin = new ScriptedOrigin(() => Date.now());
afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of started.splice(0)) await each.stop();
  await origin.goDown();
});

/** As the supervisor makes one, of workers in this process. */
async function survey(lookedFor: unknown): Promise<MachineSurvey> {
  const said = await Promise.all(started.map(({ worker }) => worker.survey!([lookedFor])));
  const workers = said.map((each) => ({ name: "worker", isDraining: false, said: each }));
  return surveyMachine({ workers, areAll: true, deaths: 0 }, PARTS);
}

/** Several workers of a server with two sites, of the same origin. */
async function startWorkers(count: number, surveyed: (lookedFor: unknown) => Promise<unknown>) {
  await origin.comeUp();
  const program: WorkerProgram = { startWorker: (start) => startWorker({ ...start, survey: surveyed }) };
  const sites = ["a", "b"].map((name) => ({
    name,
    token: TOKEN,
    site: { origin: origin.url, hosts: [`${name}.test`] },
  }));
  for (let index = 0; index < count; index++) started.push(await startSites(program, sites));
  return started;
}

async function ask({ port }: WorkerUnderTest, path: string, host = "a.test"): Promise<string> {
  const token = path === "/page" ? "" : `Authorization: Bearer ${TOKEN}\r\n`;
  const fields = `Host: ${host}\r\n${token}Connection: close`;
  return (await exchange({ port }, `GET ${path} HTTP/1.1\r\n${fields}\r\n\r\n`)).received;
}

async function refusal(worker: WorkerUnderTest, host?: string): Promise<string | undefined> {
  const answer = await ask(worker, "/_tidemark/explain?url=/page", host);
  const { lastRefusal } = JSON.parse(/\{.*\}/s.exec(answer)![0]) as Partial<Explanation>;
  return lastRefusal?.because;
}

const REFUSED = { fields: { "cache-control": "max-age=60", "set-cookie": "a=1" } };
const FORBIDDEN = { fields: { "cache-control": "no-store" } };

test("each worker tells the newest refusal that any has seen, of its own site", async () => {
  const [first, second] = await startWorkers(2, survey);
  origin.reply("/page", REFUSED, FORBIDDEN, REFUSED);
  const told: (string | undefined)[][] = [];
  for (const asked of [first!, second!, first!]) {
    await ask(asked, "/page");
    told.push([await refusal(first!), await refusal(second!), await refusal(second!, "b.test")]);
    await vi.waitUntil(
      (
        (at) => () =>
          Date.now() > at
      )(Date.now()),
    ); // two refusals never have one time
  }
  const both = (because: string) => [because, because, undefined];
  expect(told).toEqual([both("set-cookie"), both("no-store"), both("set-cookie")]);
});

test("a worker that gets no survey, because its supervisor has died, tells what it knows itself", async () => {
  const [only] = await startWorkers(1, () => Promise.reject(new Error("the supervisor has died")));
  origin.reply("/page", REFUSED);
  await ask(only!, "/page");
  expect(await refusal(only!)).toBe("set-cookie");
});

test("a worker that is left out of a survey, because it hangs, is told of by no other, which goes on", async () => {
  let hangs = true;
  const [first, second] = await startWorkers(2, async (lookedFor) => {
    const { refusals, ...rest } = await survey(lookedFor);
    return { ...rest, refusals: hangs ? [] : refusals };
  });
  origin.reply("/page", REFUSED);
  await ask(first!, "/page");
  expect([await refusal(first!), await refusal(second!)]).toEqual(["set-cookie", undefined]);
  hangs = false;
  expect(await refusal(second!)).toBe("set-cookie");
});

test("an explanation of a page makes no worker report, and no refusal is in the figures of a machine", async () => {
  const reports = vi.spyOn(ReportIntake.prototype, "take");
  const [first] = await startWorkers(1, survey);
  origin.reply("/page", REFUSED);
  await ask(first!, "/page");
  expect(await refusal(first!)).toBe("set-cookie");
  reports.mockClear(); // each site has reported once
  await refusal(first!);
  expect(reports).not.toHaveBeenCalled();
  const key = "http://a.test/page";
  const said = (await first!.worker.survey!([{ site: "a", url: key }])) as WorkerReply;
  expect(said.refusals).toEqual([{ site: "a", url: key, because: "set-cookie", at: expect.any(Number) }]);
  expect(JSON.stringify((await survey({ site: "a", url: key })).machine)).not.toContain(key);
});

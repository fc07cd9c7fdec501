import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { createPurger, type Purger } from "../../sdk/index.ts";
import { BEGINNING, TOKEN } from "../engine/scenario.ts";
import { freePort } from "../suite/free-ports.ts";
import { logIn } from "./editor.ts";
import type { DemoMessage, DemoSettings, Moment } from "./killed-demo.ts";

const VIRTUAL_TIME_WORKER = fileURLToPath(new URL("../../local/runtime/virtual-time.worker.ts", import.meta.url));
const DEMO = fileURLToPath(new URL("./killed-demo.ts", import.meta.url));

/** Longer than a lease of the outbox, and than a purge takes to settle. */
const A_MINUTE_MS = 60_000;

let folder: string;
let edge: EdgeRuntime;
let purger: Purger;
let settings: DemoSettings;
let demo: ChildProcess | undefined;
let now = BEGINNING;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "demo-"));
  const port = await freePort();
  const variables = { SITE: { origin: `http://127.0.0.1:${port}` }, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
  edge = await startEdgeRuntime({ script: await bundleWorker(VIRTUAL_TIME_WORKER), variables }, { port: 0 });
  await passTime();
  const endpoint = edge.url.origin;
  purger = createPurger({ endpoint, token: TOKEN });
  settings = { database: join(folder, "demo.sqlite"), port, endpoint, token: TOKEN, aheadMs: 0 };
}, 60_000);

afterEach(async () => {
  if (demo?.exitCode !== null || demo.signalCode !== null) return;
  const exited = once(demo, "exit");
  demo.kill("SIGKILL");
  await exited;
});

afterAll(async () => {
  await purger?.close();
  await edge?.stop();
  await rm(folder, { recursive: true });
});

async function passTime(): Promise<void> {
  now += A_MINUTE_MS;
  await (await fetch(new URL(`/_virtual-time?now=${now}`, edge.url))).text();
}

async function start(aheadMs: number): Promise<Extract<DemoMessage, { kind: "ready" }>> {
  demo = fork(DEMO, [JSON.stringify({ ...settings, aheadMs })]);
  const [message] = await Promise.race([
    once(demo, "message"),
    once(demo, "exit").then(([code]) => {
      throw new Error(`the demo ended with the code ${code} before it was ready`);
    }),
  ]);
  return message;
}

/** A page as a visitor gets it from the edge. */
async function seen(path: string): Promise<{ xCache: string | null; title: string | undefined }> {
  const answer = await fetch(new URL(path, edge.url));
  return { xCache: answer.headers.get("x-cache"), title: /<h1>([^<]+)<\/h1>/.exec(await answer.text())?.[1] };
}

const MOMENTS: { moment: Moment; index: number; isSaved: boolean; tags: string[] }[] = [
  { moment: "before the commit", index: 10, isSaved: false, tags: ["deep"] },
  { moment: "after the commit", index: 20, isSaved: true, tags: ["deep"] },
  { moment: "after the send", index: 30, isSaved: true, tags: [] },
  { moment: "before the row is deleted", index: 40, isSaved: true, tags: ["deep"] },
];

describe.each(MOMENTS)("The demo is killed $moment", ({ moment, index, isSaved, tags }) =>
  test("after its next start the page is right", { tags }, async () => {
    const { url, slugs } = await start(0);
    const slug = slugs[index]!;
    const path = `/plog/${slug}`;
    const { title: oldTitle } = await seen(path);
    expect(await seen(path)).toEqual({ xCache: "HIT", title: oldTitle });

    const editor = await logIn({ url });
    const armed = once(demo!, "message");
    demo!.send(moment);
    await armed;
    const exited = once(demo!, "exit");
    const saved = editor.send(`/admin/posts/${slug}`, { title: `Killed ${moment}`, summary: "S", body: "B" });
    await expect(saved).rejects.toThrow("fetch failed");
    expect(await exited).toEqual([null, "SIGKILL"]);

    const { waiting } = await start(A_MINUTE_MS);
    await passTime();
    expect(waiting).toBe(0);
    expect(await seen(path)).toEqual(
      isSaved ? { xCache: "MISS", title: `Killed ${moment}` } : { xCache: "HIT", title: oldTitle },
    );
    const { purges } = await purger.purges();
    const ofThisPost = purges.filter(({ items }) => items.some((item) => item.includes(slug)));
    expect(ofThisPost).toHaveLength(isSaved ? 1 : 0);
  }),
);

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../engine.ts";
import { TOKEN } from "../scenario.ts";
import { type Leftover, ScenarioRuntime } from "./runtime-engine.ts";

let runtime: ScenarioRuntime;
beforeAll(async () => {
  runtime = await ScenarioRuntime.start();
});
afterAll(() => runtime.stop());

const page = { fields: { "cache-control": "max-age=600" }, body: "v1" };

/** Leaves behind state of every kind. */
async function playOut(engine: Engine): Promise<void> {
  engine.reply("/a", [page]);
  await engine.send({ path: "/a" });
  const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const body = JSON.stringify({ tags: ["other"] });
  expect((await engine.send({ method: "POST", path: "/_tidemark/purge", fields, body })).status).toBe(200);
  await engine.advance(1000);
  await engine.finishWork();
  expect((await engine.send({ path: "/a" })).fields["x-cache"]).toBe("HIT");
  await engine.stop();
}

test("a scenario finds nothing of an earlier one in a shared runtime", async () => {
  await playOut(await runtime.begin({}));
  const engine = await runtime.begin({});
  engine.reply("/a", [page]);
  expect((await engine.send({ path: "/a" })).fields["x-cache"]).toBe("MISS");
  expect(engine.seen.length).toBe(1);
  await engine.stop();
});

test("a scenario that ends while the origin holds an answer does not delay the next one", async () => {
  const engine = await runtime.begin({});
  engine.reply("/a", [{ ...page, hold: "for ever" }]);
  const cutOff = expect(engine.send({ path: "/a" })).rejects.toThrow();
  await engine.originSees("/a", 1);
  await engine.stop();
  await cutOff;
  await (await runtime.begin({})).stop();
});

test("a runtime that no longer answers fails its scenario and the next beginning, and no more", {
  tags: ["deep"],
}, async () => {
  const timeout = 3000;
  const hanging = await ScenarioRuntime.start(timeout);
  try {
    const engine = await hanging.begin({});
    engine.reply("/a", [{ ...page, hold: "for ever" }]);
    await expect(engine.send({ path: "/a" })).rejects.toThrow("GET /a of www.example.test got no answer in time");
    await expect(hanging.begin({})).rejects.toThrow("the work of the scenario before did not end");
    await engine.stop();
    await playOut(await hanging.begin({}));
  } finally {
    await hanging.stop();
  }
});

describe("control: anything that a scenario leaves behind is found before the next one begins", () => {
  test.each<{ kept: Leftover; seen: RegExp }>([
    { kept: "cache", seen: /"entries":[1-9]/ },
    { kept: "memory", seen: /\["memory.entries",1\]/ },
    { kept: "memory", seen: /\["answers.HIT",1\]/ },
    { kept: "purge log", seen: /"purges":\[\{"seq":1,/ },
    { kept: "clock", seen: /"startedAt":"2026-01-01T12:00:01.000Z"/ },
  ])("$kept: $seen", async ({ kept, seen }) => {
    await playOut(await runtime.begin({}));
    await expect(runtime.begin({}, kept)).rejects.toThrow(seen);
  });
});

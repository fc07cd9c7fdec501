import { expect } from "vitest";
import type { ClientAnswer, Engine } from "./engine.ts";
import { readMultipart } from "./multipart.ts";
import { type ClientRequest, type Expected, type Scenario, type Step, TOKEN } from "./scenario.ts";

/** Plays a scenario on an engine. Throws at the first step that does not hold, and names it. */
export async function play(scenario: Scenario, engine: Engine): Promise<void> {
  for (const [target, replies] of Object.entries(scenario.origin ?? {})) engine.reply(target, replies);
  const player = new Player(engine);
  for (const [index, step] of scenario.steps.entries()) {
    await player.play(step, `step ${index + 1} of ${scenario.steps.length}: ${JSON.stringify(step)}`);
  }
}

/** How often the player looks for something that is about to happen. */
const MAX_LOOKS = 500;

type LogStep = Extract<Step, { log: unknown }>["log"];

class Player {
  readonly #engine: Engine;
  readonly #begun = new Map<string, Promise<ClientAnswer>>();
  #token = "";

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async play(step: Step, where: string): Promise<void> {
    const engine = this.#engine;
    if ("get" in step) return this.#sendAndExpect({ path: step.get, fields: step.fields ?? {} }, step.expect, where);
    if ("begin" in step) {
      this.#begun.set(step.begin, engine.send(this.#filledIn(step.send)));
      return engine.arrival?.();
    }
    if ("send" in step) return this.#sendAndExpect(step.send, step.expect, where);
    if ("finish" in step) return compare(await engine.settle(this.#begun.get(step.finish)!), step.expect, where);
    if ("sendMany" in step) {
      const answers = Array.from({ length: step.sendMany }, () => engine.send(this.#filledIn(step.request)));
      for (const answer of await engine.settle(Promise.all(answers))) compare(answer, step.expectEach, where);
      return;
    }
    if ("purge" in step) return this.#purge(step.purge, step.isolate, step.expect ?? { status: 200 }, where);
    if ("advanceMs" in step) return engine.advance(step.advanceMs);
    if ("origin" in step) return step.origin === "down" ? engine.originDown() : engine.originUp();
    if ("reply" in step) {
      for (const [target, replies] of Object.entries(step.reply)) engine.reply(target, replies);
      return;
    }
    if ("release" in step) return engine.release(step.release);
    if ("originSees" in step) return engine.settle(engine.originSees(step.originSees, step.count));
    if ("inLine" in step) return this.#waitFor("atOrigin.waiting", step.inLine, where);
    if ("originSaw" in step) {
      const counts = Object.keys(step.originSaw).map((target) => [target, countOf(engine, target)]);
      return expect(Object.fromEntries(counts), where).toEqual(step.originSaw);
    }
    if ("originLastSaw" in step) {
      const last = engine.seen.findLast((request) => request.target === step.originLastSaw);
      const { method = last?.method, fields = {} } = step;
      const seen = Object.keys(fields).map((name) => [name, last?.fields[name] ?? null]);
      return expect({ method: last?.method, fields: Object.fromEntries(seen) }, where).toEqual({ method, fields });
    }
    if ("restart" in step) return engine.restartIsolate();
    if ("work" in step) return engine.finishWork();
    if ("sharedTier" in step) return engine.emptySharedTier();
    if ("bodyBytesRead" in step) return expect(engine.bodyBytesRead, where).toBe(step.bodyBytesRead);
    if ("log" in step) return this.#changeLog(step.log);
    if ("logTakesMs" in step) return engine.beneath!.setLogDelay(step.logTakesMs);
    if ("holdNext" in step) return engine.beneath!.holdNext(step.holdNext, step.until);
    if ("holdAll" in step) return engine.beneath!.holdAll(step.holdAll, step.until);
    if ("logPushed" in step) return expect(engine.beneath!.pushes, where).toBe(step.logPushed);
    if ("clockOf" in step) return engine.beneath!.setClock(step.clockOf, step.aheadMs);
    if ("deploy" in step) return engine.beneath!.deploy(step.deploy);
    if ("cancel" in step) return engine.beneath!.cancel(this.#begun.get(step.cancel)!);
    const stats = await this.#stats();
    if ("logReadsAtMost" in step) return expect(at(stats, "log.reads"), where).toBeLessThanOrEqual(step.logReadsAtMost);
    const seen = Object.keys(step.stats).map((path) => [path, at(stats, path)]);
    expect(Object.fromEntries(seen), where).toEqual(step.stats);
  }

  async #changeLog(to: LogStep): Promise<void> {
    const engine = this.#engine;
    if (to === "down" || to === "up") return engine.setLogReachable!(to === "up");
    if (to === "made anew") return engine.makeLogAnew!();
    engine.beneath!.changeLog(to);
  }

  async #waitFor(path: string, count: number, where: string): Promise<void> {
    for (let looks = 1; at(await this.#stats(), path) !== count; looks++) {
      expect(looks, where).toBeLessThan(MAX_LOOKS);
      await this.#engine.advance(0); // what is about to happen now
    }
  }

  async #stats(): Promise<object> {
    const fields = { authorization: `Bearer ${TOKEN}` };
    const answer = await this.#engine.settle(this.#engine.send({ path: "/_tidemark/stats?scope=isolate", fields }));
    return JSON.parse(answer.body) as object;
  }

  async #sendAndExpect(request: ClientRequest, expected: Expected, where: string): Promise<void> {
    compare(await this.#engine.settle(this.#engine.send(this.#filledIn(request))), expected, where);
  }

  async #purge(body: object, isolate: string | undefined, expected: Expected, where: string): Promise<void> {
    const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const text = JSON.stringify(body);
    const request = { method: "POST", path: "/_tidemark/purge", fields, body: text, ...(isolate && { isolate }) };
    const answer = await this.#engine.settle(this.#engine.send(request));
    compare(answer, expected, where);
    if (answer.status === 200) this.#token = (JSON.parse(answer.body) as { token: string }).token;
  }

  #filledIn(request: ClientRequest): ClientRequest {
    const fields = Object.entries(request.fields ?? {}).map(([name, value]) => [
      name,
      value.replace("$token", this.#token),
    ]);
    return { ...request, fields: Object.fromEntries(fields) };
  }
}

/** The value at a path like `store.stored`; 0 for a counter that has never counted. */
function at(stats: object, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown>)[name] ?? 0, stats);
}

function countOf(engine: Engine, target: string): number {
  return engine.seen.filter((request) => request.target === target).length;
}

function compare(answer: ClientAnswer, expected: Expected, where: string): void {
  const seen: Record<string, unknown> = {};
  const wanted: Record<string, unknown> = {};
  const look = (name: string, value: unknown, want: unknown) => {
    if (want === undefined) return;
    seen[name] = value;
    wanted[name] = want instanceof RegExp ? expect.stringMatching(want) : want;
  };
  look("status", answer.status, expected.status);
  look("xCache", answer.fields["x-cache"] ?? null, expected.xCache);
  look("body", answer.body, expected.body);
  look("age", answer.fields.age ?? null, expected.ageSeconds === undefined ? undefined : String(expected.ageSeconds));
  look("cacheStatus", answer.fields["cache-status"] ?? null, expected.cacheStatus);
  look("parts", expected.parts && readMultipart(answer.fields["content-type"], answer.body), expected.parts);
  look("interims", answer.interims, expected.interims);
  look("cutOff", answer.cutOff, expected.cutOff);
  for (const [name, want] of Object.entries(expected.fields ?? {})) look(name, answer.fields[name] ?? null, want);
  const told = `${where}\nanswer: ${answer.status} ${JSON.stringify(answer.fields)} ${JSON.stringify(answer.body.slice(0, 200))}`;
  expect(seen, told).toEqual(wanted);
}

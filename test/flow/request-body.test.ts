import { describe, expect, test } from "vitest";
import { requestBody } from "../../worker/flow/origin/request-body.ts";
import type { OriginAnswer, OriginRequest } from "../../worker/ports/origin.ts";
import { streamOf } from "../../worker/runtime/web-bodies.ts";
import { memoryBodies } from "../engine/memory/memory-bodies.ts";
import { MemoryOrigin } from "../engine/memory/memory-origin.ts";
import { PopUnderTest } from "./pop-under-test.ts";

const background = { run: () => undefined };

function post(text: string, announced: string | null): Request {
  const headers: Record<string, string> = announced === null ? {} : { "content-length": announced };
  return new Request("http://www.example.test/", { method: "POST", body: text, headers });
}

describe("the body of a request", () => {
  test.each([
    ["9", false],
    ["10", false],
    ["11", true],
    ["99999999999999999999", true],
  ])("of an announced length of %s is over ten bytes: %j", (announced, isTooLarge) => {
    expect(requestBody(post("x", announced), 10, memoryBodies, background).isTooLarge()).toBe(isTooLarge);
  });

  test.each([
    ["11", true],
    ["1e9", false],
    ["0xff", false],
    [" 11 ", false],
    ["Infinity", false],
    [null, false],
  ])("that is none, with an announced length of %j, is over ten bytes: %j", (announced, isTooLarge) => {
    const request = { ...post("x", null), body: null, headers: { get: () => announced } } as never;
    expect(requestBody(request, 10, memoryBodies, background).isTooLarge()).toBe(isTooLarge);
  });

  test.each([
    ["x".repeat(9), false],
    ["x".repeat(10), false],
    ["x".repeat(11), true],
  ])("in chunks, %s, exceeds ten bytes when they have arrived: %j", async (text, isTooLarge) => {
    const body = requestBody(post(text, null), 10, memoryBodies, background);
    expect(body.isTooLarge()).toBe(false);
    const read = await new Response(streamOf(body.stream!)).text().catch(() => "cut off");
    expect({ read, isTooLarge: body.isTooLarge() }).toEqual({ read: isTooLarge ? "cut off" : text, isTooLarge });
  });

  test("in chunks counts as cut off if its source failed, and not if the origin stops reading", async () => {
    const broken = new ReadableStream({ pull: (body) => body.error(new Error("the client has left")) });
    const request = new Request("http://www.example.test/", { method: "POST", body: broken, duplex: "half" } as never);
    const cut = requestBody(request, 10, memoryBodies, background);
    await expect(new Response(streamOf(cut.stream!)).text()).rejects.toThrow();
    expect(cut.brokeOff()).toBe(true);
    const refused = requestBody(post("x", null), 10, memoryBodies, background);
    await refused.stream!.cancel();
    expect(refused.brokeOff()).toBe(false);
  });

  test("that was held in part gives its room back if it turns out to be too large, and is not sent", async () => {
    const pop = new PopUnderTest();
    let isGivenBack = false;
    const cancel = async () => {
      isGivenBack = true;
    };
    const hold = async () => {
      await pop.scheduler.wait(1).over; // meanwhile the rest arrives
      return { cancel };
    };
    const fetch = () => Promise.reject(new Error("the origin is asked"));
    const site = { limits: { requestBodyBytes: 10 } };
    const ask = pop.start({ url: "http://origin.test", fetch }, { bodies: { ...memoryBodies, hold }, site });
    const asked = ask("/a", {}, { text: "more than ten bytes" });
    await pop.scheduler.advance(1);
    const { status } = await pop.head(asked);
    await pop.finish();
    expect({ status, isGivenBack }).toEqual({ status: 413, isGivenBack: true });
  });

  test("may be absent", () => {
    const body = requestBody(
      new Request("http://www.example.test/", { method: "DELETE" }),
      10,
      memoryBodies,
      background,
    );
    expect({ stream: body.stream, isTooLarge: body.isTooLarge() }).toEqual({ stream: null, isTooLarge: false });
  });

  test("that turns out to be too large does not count against the origin, which is asked for the next page", async () => {
    const pop = new PopUnderTest();
    const pages = new MemoryOrigin(pop.scheduler);
    pages.reply("/a", [{ body: "a page" }]);
    /** As the Workers runtime, it does not tell why a request failed whose body broke off. */
    const fetch = async (request: OriginRequest): Promise<OriginAnswer> => {
      try {
        if (request.body) await new Response(streamOf(request.body)).text();
      } catch (cause) {
        return { kind: "failed", because: "unreachable", cause };
      }
      return pages.fetch(request);
    };
    const limits = { requestBodyBytes: 10, originDownAfter: 1 };
    const ask = pop.start({ url: pages.url, fetch }, { site: { limits, routes: [{ match: "/*", body: "stream" }] } });
    expect((await pop.head(ask("/upload", {}, { text: "eleven bytes" }))).status).toBe(413);
    const answer = await pop.head(ask());
    expect([answer.status, await pop.text(answer)]).toEqual([200, "a page"]);
  });
});

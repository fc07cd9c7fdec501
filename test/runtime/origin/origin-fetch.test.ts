import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Origin, OriginRequest } from "../../../worker/ports/origin.ts";
import { streamOf } from "../../../worker/runtime/web-bodies.ts";

// By its address, because its types are those of the Workers runtime.
const { OriginFetch } = (await import(new URL("../../../worker/runtime/origin-fetch.ts", import.meta.url).href)) as {
  readonly OriginFetch: new (
    url: string,
    timeoutMs: number,
    service: object | null,
    wholeBytes: number,
    tellsEnd: boolean,
  ) => Origin;
};

const TIMEOUT_MS = 1000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Asks an origin that sends its head after so long, and its body after so long again. */
function ask(headAfterMs: number, bodyAfterMs: number) {
  const after = (ms: number, signal: AbortSignal, work: () => void) =>
    new Promise<void>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      setTimeout(resolve, ms);
    }).then(work);
  const service = {
    async fetch(_: string, { signal }: { readonly signal: AbortSignal }) {
      await after(headAfterMs, signal, () => undefined);
      const start = (body: ReadableStreamDefaultController) => {
        const sent = after(bodyAfterMs, signal, () => {
          body.enqueue(new TextEncoder().encode("page"));
          body.close();
        });
        sent.catch((cause: unknown) => body.error(cause));
      };
      return new Response(new ReadableStream({ start }));
    },
  };
  return getFrom(service);
}

function getFrom(service: object | null) {
  const origin = new OriginFetch("http://origin.test", TIMEOUT_MS, service, 0, false);
  return origin.fetch({ method: "GET", pathAndQuery: "/a", fields: [], body: null } as unknown as OriginRequest);
}

test("the origin has its time for the head alone: a body may take any length of time", async () => {
  const asked = ask(TIMEOUT_MS - 1, 60 * TIMEOUT_MS);
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 1);
  const answer = await asked;
  if (answer.kind !== "answered") throw new Error(answer.kind);
  const read = new Response(streamOf(answer.response.body!)).text();
  await vi.advanceTimersByTimeAsync(60 * TIMEOUT_MS);
  expect(await read).toBe("page");
});

test("an origin that sends no head in its time has timed out", async () => {
  const asked = ask(TIMEOUT_MS + 1, 0);
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
  expect(await asked).toMatchObject({ kind: "failed", because: "timed-out" });
});

test("the length of a worker's page is passed on only if the page is too large to have been changed on its way", async () => {
  const told = async (bytes: number) => {
    const headers = { "content-length": String(bytes) };
    const service = { fetch: async () => new Response("page", { headers }) };
    const answer = await getFrom(service);
    return answer.kind === "answered" && answer.response.fields.get("content-length");
  };
  expect([await told(5), await told(9 * 1024 ** 2)]).toEqual([null, String(9 * 1024 ** 2)]);
});

describe("an answer of", () => {
  const answering = async (status: number) => new Response("error code", { status });

  test.each([
    [[520, 521, 522, 523, 525, 526, 527, 530], { kind: "failed", because: "unreachable" }],
    [[524], { kind: "failed", because: "timed-out" }],
    [[500, 502, 503, 504, 519, 528, 529, 531, 599], { kind: "answered" }],
  ])("%j in the place of an origin with an address counts as %o", async (statuses, outcome) => {
    for (const status of statuses) {
      vi.stubGlobal("fetch", () => answering(status));
      expect([status, await getFrom(null)]).toMatchObject([status, outcome]);
    }
  });

  test("a worker in the origin's place is its own, whatever its status", async () => {
    expect(await getFrom({ fetch: () => answering(522) })).toMatchObject({ kind: "answered" });
  });
});

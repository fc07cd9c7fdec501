import type { Reply, SeenRequest } from "../../../local/cdn/scripted-origin.ts";
import type { Origin, OriginAnswer, OriginRequest } from "../../../worker/ports/origin.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { fromWebResponse } from "../../../worker/runtime/web-answer.ts";
import { streamOf } from "../../../worker/runtime/web-bodies.ts";
import type { Scheduler } from "../scheduler.ts";

/** The scripted origin in memory, on the scheduler's time, with the same replies, holds, cuts and record. */
export class MemoryOrigin implements Origin {
  readonly url = "http://origin.internal:8080";
  readonly seen: SeenRequest[] = [];
  /** The longest wait for the head of an answer, as set by the site. */
  timeoutMs = Number.POSITIVE_INFINITY;
  readonly #scheduler: Scheduler;
  #answering: ((request: SeenRequest) => Reply) | undefined;
  readonly #replies = new Map<string, Reply[]>();
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();
  #outage = Promise.withResolvers<never>();
  #isUp = true;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.#outage.promise.catch(() => undefined); // Ignored, because nobody may be connected when the origin goes down.
  }

  reply(target: string, replies: readonly Reply[]): void {
    this.#replies.set(target, [...replies]);
  }

  /** From now on, this function answers every request. */
  answerBy(answering: (request: SeenRequest) => Reply): void {
    this.#answering = answering;
  }

  release(hold: string): void {
    this.#gate(hold).resolve();
    this.#gates.delete(hold);
  }

  goDown(): void {
    this.#isUp = false;
    this.#outage.reject(new Error("connection reset"));
  }

  comeUp(): void {
    this.#isUp = true;
    this.#outage = Promise.withResolvers<never>();
    this.#outage.promise.catch(() => undefined); // Ignored for the same reason.
  }

  /** Resolves once a target has been requested this many times. */
  async hasSeen(target: string, count: number): Promise<void> {
    while (this.seen.filter((request) => request.target === target).length < count) await this.#scheduler.turn();
  }

  async fetch(request: OriginRequest): Promise<OriginAnswer> {
    await this.#scheduler.turn();
    if (!this.#isUp) return { kind: "failed", because: "unreachable", cause: new Error("connection refused") };
    const wait = this.#scheduler.wait(this.timeoutMs);
    const timedOut = wait.over.then((): OriginAnswer => ({ kind: "failed", because: "timed-out", cause: "too late" }));
    try {
      return await Promise.race([this.#answer(request), timedOut]);
    } catch (cause) {
      return { kind: "failed", because: "unreachable", cause, saysNothing: true };
    } finally {
      wait.cancel();
    }
  }

  async #answer({ method, pathAndQuery, fields, body, inform }: OriginRequest): Promise<OriginAnswer> {
    const text = body ? await new Response(streamOf(body)).text() : "";
    const seen = {
      method,
      target: pathAndQuery,
      fields: { ...joined(fields), host: "origin.internal:8080" },
      body: text,
    };
    this.seen.push(seen);
    const replies = this.#replies.get(pathAndQuery);
    const reply =
      this.#answering?.(seen) ??
      (replies && replies.length > 1 ? replies.shift() : replies?.[0]) ??
      missing(pathAndQuery);
    for (const { status, fields = {} } of reply.interims ?? []) {
      inform?.({ status, fields: new Fields(Object.entries(fields)) });
    }
    const held = reply.hold === undefined ? undefined : this.#gate(reply.hold).promise;
    if (held && reply.bytesBeforeHold === undefined) await Promise.race([held, this.#outage.promise]);
    await this.#scheduler.turn();
    if (reply.failure) throw new Error("connection reset");
    const { status = 200 } = reply;
    const hasBody = status !== 204 && status !== 304;
    const answerFields = this.#fieldsOf(reply, hasBody);
    const end = Promise.withResolvers<void>();
    const stream = hasBody && method !== "HEAD" ? this.#bodyOf(reply, held, end.resolve) : null;
    const response = fromWebResponse(new Response(stream, { status, headers: answerFields }));
    return { kind: "answered", response: stream ? { ...response, ended: () => end.promise } : response };
  }

  #fieldsOf({ fields = {}, body = "", framing = "length" }: Reply, hasBody: boolean): Headers {
    const headers = new Headers({ date: new Date(this.#scheduler.now()).toUTCString() });
    for (const [name, value] of Object.entries(fields)) {
      headers.delete(name); // an empty list is a field that is not sent, such as `Date`
      for (const line of typeof value === "string" ? [value] : value) headers.append(name, line);
    }
    if (framing === "length" && hasBody) headers.set("content-length", String(Buffer.byteLength(body)));
    if (framing === "chunked") headers.set("transfer-encoding", "chunked");
    return headers;
  }

  /** The body in two chunks, with the reply's hold or cut between them. */
  #bodyOf(
    { body = "", cutAfterBytes, bytesBeforeHold }: Reply,
    held: Promise<void> | undefined,
    onEnd: () => void,
  ): ReadableStream {
    const bytes = new TextEncoder().encode(body);
    const first = bytesBeforeHold ?? Math.floor(bytes.length / 2);
    const end = cutAfterBytes ?? bytes.length;
    let sent = 0;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await this.#scheduler.turn();
        if (sent >= first && bytesBeforeHold !== undefined) await Promise.race([held, this.#outage.promise]);
        const chunk = bytes.slice(sent, Math.min(sent < first ? first : bytes.length, end));
        sent += chunk.length;
        if (chunk.length > 0) controller.enqueue(chunk);
        if (sent < end) return;
        onEnd();
        if (cutAfterBytes === undefined) controller.close();
        else controller.error(new Error("connection lost"));
      },
      cancel: onEnd,
    });
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }
}

/** Joins several lines of a field, as they arrive over the wire. */
function joined(fields: OriginRequest["fields"]): Record<string, string> {
  return Object.fromEntries(new Headers(fields.map(([name, value]) => [name, value] as [string, string])));
}

function missing(target: string): Reply {
  return { status: 404, body: `the script has nothing for ${target}` };
}

/** Middleware for Express, and for other frameworks with Node's `ServerResponse` and a `next`. */

import { TAG_FIELD } from "../../wire/fields.ts";
import { checkRequestOptions, inScope, outcomeOf, type RequestOptions, RequestScope } from "./request-scope.ts";

/** The parts of Node's `ServerResponse` that are used. */
export interface NodeResponse {
  statusCode: number;
  statusMessage: string;
  readonly headersSent: boolean;
  getHeader(name: string): number | string | string[] | undefined;
  getHeaderNames(): string[];
  setHeader(name: string, value: number | string | readonly string[]): unknown;
  appendHeader(name: string, value: string | readonly string[]): unknown;
  removeHeader(name: string): void;
  // biome-ignore lint/suspicious/noExplicitAny: Node declares several forms, and the arguments are passed on as they are.
  writeHead(...args: any[]): any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  write(...args: any[]): any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  end(...args: any[]): any;
  flushHeaders(): void;
  destroy(): unknown;
  once(event: "close" | "pipe", listener: () => void): unknown;
}

/** The part of Node's `IncomingMessage` that is used. */
interface NodeRequest {
  emit(...args: unknown[]): boolean;
}

/**
 * `app.use(tidemark({ purger }))`, before the routes: in handlers and the code that they call, `tag` adds tags to the
 * response, and `purgeLater` collects changes, which one purge sends when the handler has answered.
 */
export function tidemark(
  options: RequestOptions = {},
): (request: unknown, response: NodeResponse, next: () => void) => void {
  checkRequestOptions("tidemark", options);
  return (request, response, next) => {
    const scope = new RequestScope(options);
    emitInScope(request as Partial<NodeRequest>, scope);
    writeFieldsWithHead(response, scope);
    purgeBeforeEnd(response, scope);
    inScope(scope, next);
  };
}

/** Node emits a request's events, such as the end of its body, in the context of the connection. */
function emitInScope(request: Partial<NodeRequest>, scope: RequestScope): void {
  const { emit } = request;
  if (emit) request.emit = (...args) => inScope(scope, () => emit.apply(request, args));
}

/** Node writes every head with `writeHead`, even if the app does not call it. */
function writeFieldsWithHead(response: NodeResponse, scope: RequestScope): void {
  const { writeHead } = response;
  response.writeHead = (status: number, ...rest: unknown[]) => {
    const [first, second] = rest;
    const message = typeof first === "string" ? [first] : [];
    // Fields given here would replace those that were set before, including the tags. Node finds them in the same way.
    setFields(response, typeof first === "string" ? second : (second ?? first));
    const held = response.getHeader(TAG_FIELD);
    const { cacheTag, setCookie } = scope.takeFields(held === undefined ? null : [held].flat().join(","));
    if (cacheTag !== null) response.setHeader(TAG_FIELD, cacheTag);
    if (setCookie !== null) response.appendHeader("Set-Cookie", setCookie);
    return writeHead.call(response, status, ...message);
  };
}

/** Sets the fields of a `writeHead`, which are an object, a list of pairs, or names and values in turn. */
function setFields(response: NodeResponse, fields: unknown): void {
  if (typeof fields !== "object" || fields === null) return;
  const pairs = (Array.isArray(fields) ? pairsOf(fields) : Object.entries(fields)) as [string, string | string[]][];
  for (const name of new Set(pairs.map(([name]) => name.toLowerCase()))) response.removeHeader(name);
  for (const [name, value] of pairs)
    if (value !== undefined) response.appendHeader(name, Array.isArray(value) ? value : String(value));
}

function pairsOf(list: readonly unknown[]): unknown[] {
  if (Array.isArray(list[0])) return [...list];
  return list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1]]] : []));
}

/**
 * When the handler ends the response, sends the purge first and then the response. Meanwhile nothing may change an
 * answer whose head is still held back: its status and fields are saved and restored, and what others write is left out.
 * After the head, what is written is the handler's own, which later middleware passes on. Such middleware also puts an
 * `end` of its own before this one, and may write the head or the body there, so the purge has to come before all of them.
 */
function purgeBeforeEnd(response: NodeResponse, scope: RequestScope): void {
  let end = response.end;
  let state: "open" | "purging" | "purged" = "open";
  let isHeadHeld = false;
  const purgeBefore =
    (next: NodeResponse["end"]) =>
    (...args: unknown[]): unknown => {
      const pass = () => {
        state = "purged";
        return next.apply(response, args);
      };
      if (state === "purged") return pass();
      if (state === "purging") return response;
      const outcome = outcomeOf(response.statusCode);
      const hadPurge = scope.hasPurge;
      const finished = scope.finish(outcome);
      if (outcome === "failed" || !hadPurge) return pass();
      state = "purging";
      isHeadHeld = !response.headersSent;
      const restoreHead = isHeadHeld ? keepHead(response) : () => {};
      void finished.finally(() => {
        isHeadHeld = false;
        try {
          restoreHead();
          pass();
        } catch (cause) {
          // The handler has returned, so no error handler hears of what it gave to `end`.
          process.emitWarning(cause as Error);
          response.destroy();
        }
      });
      return response;
    };
  const { write, writeHead, flushHeaders } = response;
  const unlessHeld =
    <Arguments extends unknown[]>(method: (...args: Arguments) => unknown, instead: unknown) =>
    (...args: Arguments): unknown =>
      isHeadHeld ? instead : method.apply(response, args);
  response.write = unlessHeld(write, true);
  response.writeHead = unlessHeld(writeHead, response);
  response.flushHeaders = unlessHeld(flushHeaders, undefined) as () => void;
  Object.defineProperty(response, "end", {
    configurable: true,
    enumerable: true,
    get: () => purgeBefore(end),
    set: (next: NodeResponse["end"]) => {
      end = next;
    },
  });
  // A stream that is piped into the response does not end it if the client has gone, before the first byte or after it.
  let isPiped = false;
  let isClosed = false;
  const purgeIfNobodyEnds = () => {
    const isAnswered = isPiped || response.headersSent;
    if (isClosed && isAnswered && state === "open" && outcomeOf(response.statusCode) === "succeeded")
      scope.sendAfterPause();
  };
  response.once("pipe", () => {
    isPiped = true;
    purgeIfNobodyEnds();
  });
  response.once("close", () => {
    isClosed = true;
    purgeIfNobodyEnds();
  });
}

/** Saves the current status and fields. Returns a function that restores them. */
function keepHead(response: NodeResponse): () => void {
  const { statusCode } = response;
  // Over HTTP/2 it is a property of the prototype, and Node warns of every use.
  const hasMessage = () => Object.hasOwn(response, "statusMessage");
  const statusMessage = hasMessage() ? response.statusMessage : "";
  const fields = response.getHeaderNames().map((name) => [name, response.getHeader(name)!] as const);
  return () => {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    for (const [name, value] of fields) response.setHeader(name, value);
    response.statusCode = statusCode;
    if (hasMessage()) response.statusMessage = statusMessage;
  };
}

export { type EditorCookie, editorCookie, setEditorCookie } from "./editor-cookie.ts";
export { type PurgeLaterInput, purgeLater, purgeNow, type RequestOptions, tag } from "./request-scope.ts";

/** Middleware for Express, and for other frameworks with Node's `ServerResponse` and a `next`. */

import { checkRequestOptions, inScope, outcomeOf, type RequestOptions, RequestScope } from "./request-scope.ts";
import { type NodeResponse, writeFieldsWithHead } from "./response-head.ts";

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
export type { NodeResponse } from "./response-head.ts";

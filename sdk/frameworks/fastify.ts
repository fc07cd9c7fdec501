/** A plugin for Fastify. */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { TAG_FIELD } from "../../wire/fields.ts";
import { checkRequestOptions, inScope, outcomeOf, type RequestOptions, RequestScope } from "./request-scope.ts";

/** The parts of Fastify's instance that are used. */
export interface FastifyLike {
  // biome-ignore lint/suspicious/noExplicitAny: each hook takes other arguments, which Fastify's own types name.
  addHook(name: any, hook: (...args: any[]) => any): unknown;
}

/** The parts of Fastify's `Reply` that are used. */
interface Reply {
  readonly statusCode: number;
  readonly raw: {
    readonly statusCode: number;
    readonly headersSent: boolean;
    once(event: "close", listener: () => void): unknown;
    // biome-ignore lint/suspicious/noExplicitAny: Node declares several forms, and the arguments are passed on as they are.
    end(...args: any[]): any;
  };
  getHeader(name: string): number | string | string[] | undefined;
  header(name: string, value: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are passed on as they are.
  then(...args: any[]): void;
}

/** Fastify's channel that tells when the promise of a handler has settled. No hook does if the client has left. */
const HANDLER_SETTLED = "tracing:fastify.request.handler:asyncEnd";

/** The parts of that channel's message that are used. */
interface Settled {
  readonly request: {
    readonly raw: { readonly aborted: boolean; readonly socket: { readonly destroyed: boolean } | null };
  };
  readonly reply: Reply;
}

/**
 * `app.register(tidemark, { purger })`, before the routes: in handlers and the code that they call, `tag` adds tags to
 * the response, and `purgeLater` collects changes, which one purge sends when the handler has answered.
 */
export async function tidemark(app: FastifyLike, options: RequestOptions = {}): Promise<void> {
  checkRequestOptions("tidemark", options);
  const scopes = new WeakMap<object, RequestScope>();
  const failed = new WeakSet<object>();
  /** Requests whose handler has returned the reply, with which it answers later. */
  const returned = new WeakSet<object>();

  const outcome = (request: object, { statusCode }: { readonly statusCode: number }) =>
    failed.has(request) ? "failed" : outcomeOf(statusCode);

  const enter = (request: object, reply: Reply, done: () => void) => {
    const scope = scopes.get(request) ?? new RequestScope(options);
    if (!scopes.has(request)) {
      scopes.set(request, scope);
      const { raw } = reply;
      const { end } = raw;
      // For an answer that is sent directly over `reply.raw`: Fastify has no hook for its end if its client has left.
      raw.end = (...args) => {
        void scope.finish(outcome(request, raw));
        return end.apply(raw, args);
      };
      raw.once("close", () => {
        if (raw.headersSent && outcome(request, raw) === "succeeded") scope.sendAfterPause();
      });
      const { then } = reply;
      // biome-ignore lint/suspicious/noThenProperty: Fastify's reply has one, which is called if a handler returns it.
      reply.then = (...args) => {
        returned.add(request);
        then.apply(reply, args);
      };
    }
    inScope(scope, done);
  };
  app.addHook("onRequest", enter);
  // Again, because the body parser continues in the context of the connection.
  app.addHook("preValidation", enter);

  // Fastify sends no answer for a handler that returns nothing after its client has left.
  const sendIfLeft = (message: unknown) => {
    const { request, reply } = message as Settled;
    const { aborted, socket } = request.raw;
    if (returned.has(request) || !(aborted || socket?.destroyed)) return;
    if (outcome(request, reply) === "succeeded") scopes.get(request)?.sendAfterPause();
  };
  subscribe(HANDLER_SETTLED, sendIfLeft);
  app.addHook("onClose", async () => {
    unsubscribe(HANDLER_SETTLED, sendIfLeft);
  });

  app.addHook("onError", async (request: object) => {
    failed.add(request);
  });

  app.addHook("onSend", async (request: object, reply: Reply, payload: unknown) => {
    const scope = scopes.get(request);
    if (!scope) return payload;
    await scope.finish(outcome(request, reply));
    const held = reply.getHeader(TAG_FIELD);
    const { cacheTag, setCookie } = scope.takeFields(held === undefined ? null : [held].flat().join(","));
    if (cacheTag !== null) reply.header(TAG_FIELD, cacheTag);
    // Fastify keeps several of this name.
    if (setCookie !== null) reply.header("Set-Cookie", setCookie);
    return payload;
  });
}

// Fastify's own marks of a plugin: its hooks also apply to the routes of the instance that registers it.
Object.assign(tidemark, {
  [Symbol.for("skip-override")]: true,
  [Symbol.for("fastify.display-name")]: "tidemark",
});

export { type EditorCookie, editorCookie, setEditorCookie } from "./editor-cookie.ts";
export { type PurgeLaterInput, purgeLater, purgeNow, type RequestOptions, tag } from "./request-scope.ts";

/** A plugin for Fastify. */

import { subscribe } from "node:diagnostics_channel";
import { checkRequestOptions, inScope, outcomeOf, type RequestOptions, RequestScope } from "./request-scope.ts";
import { type NodeResponse, writeFieldsWithHead } from "./response-head.ts";

/** The parts of Fastify's instance that are used. */
export interface FastifyLike {
  // biome-ignore lint/suspicious/noExplicitAny: each hook takes other arguments, which Fastify's own types name.
  addHook(name: any, hook: (...args: any[]) => any): unknown;
}

/** The parts of Fastify's `Reply` that are used. */
interface Reply {
  readonly statusCode: number;
  /** True if the answer has ended, or if the handler has taken it over. */
  readonly sent: boolean;
  readonly raw: NodeResponse;
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are passed on as they are.
  then(...args: any[]): void;
}

/** What is known of a request. */
interface RequestState {
  readonly scope: RequestScope;
  hasFailed: boolean;
  /** Its handler has returned the reply, with which it answers later. */
  hasReturnedReply: boolean;
  /** The answer that waits for the purge. */
  waiting: object | undefined;
}

const outcome = ({ hasFailed }: RequestState, { statusCode }: { readonly statusCode: number }) =>
  hasFailed ? "failed" : outcomeOf(statusCode);

/** Fastify goes on with an answer when its hook has ended, so the hook of one that is left out never ends. */
const notSent = () => new Promise<never>(() => {});

/** Fastify 5's channel that tells when the promise of a handler has settled. No hook does if the client has left. */
const HANDLER_SETTLED = "tracing:fastify.request.handler:asyncEnd";

/** The parts of that channel's message that are used. */
interface Settled {
  readonly request: {
    readonly raw: { readonly aborted: boolean; readonly socket: { readonly destroyed: boolean } | null };
  };
  readonly reply: Reply;
  /** If the handler has thrown. The hook `onError` may run much later, behind those of others. */
  readonly error?: unknown;
}

/** The states that the channel's messages are about. If a plugin registers again, its scope is the current one. */
const current = new WeakMap<object, RequestState>();

/** Fastify sends no answer for a handler that returns nothing after its client has left. */
function sendIfLeft(message: unknown): void {
  const { request, reply, error } = message as Settled;
  const state = current.get(request);
  const { aborted, socket } = request.raw;
  if (!state || state.hasReturnedReply || error || !(aborted || socket?.destroyed)) return;
  if (outcome(state, reply) === "succeeded") state.scope.sendAfterPause();
}

let isSubscribed = false;

/** For as long as the process runs, because handlers whose client has left may outlive their app. */
function subscribeOnce(): void {
  if (!isSubscribed) subscribe(HANDLER_SETTLED, sendIfLeft);
  isSubscribed = true;
}

/**
 * `app.register(tidemark, { purger })`, before the routes: in handlers and the code that they call, `tag` adds tags to
 * the response, and `purgeLater` collects changes, which one purge sends when the handler has answered.
 */
export async function tidemark(app: FastifyLike, options: RequestOptions = {}): Promise<void> {
  checkRequestOptions("tidemark", options);
  subscribeOnce();
  const states = new WeakMap<object, RequestState>();

  const begin = (request: object, reply: Reply): RequestState => {
    const scope = new RequestScope(options);
    const state: RequestState = { scope, hasFailed: false, hasReturnedReply: false, waiting: undefined };
    states.set(request, state);
    current.set(request, state);
    const { raw } = reply;
    writeFieldsWithHead(raw, scope);
    const { end } = raw;
    // For an answer that is sent directly over `reply.raw`: Fastify has no hook for its end if its client has left.
    raw.end = (...args) => {
      void scope.finish(outcome(state, raw));
      return end.apply(raw, args);
    };
    raw.once("close", () => {
      const answersItself = raw.headersSent || reply.sent;
      if (answersItself && outcome(state, raw) === "succeeded") scope.sendAfterPause();
    });
    const { then } = reply;
    // biome-ignore lint/suspicious/noThenProperty: Fastify's reply has one, which is called if a handler returns it.
    reply.then = (...args) => {
      state.hasReturnedReply = true;
      then.apply(reply, args);
    };
    return state;
  };

  const enter = (request: object, reply: Reply, done: () => void) =>
    inScope((states.get(request) ?? begin(request, reply)).scope, done);
  app.addHook("onRequest", enter);
  // Again, because the body parser continues in the context of the connection.
  app.addHook("preValidation", enter);

  app.addHook("onError", async (request: object) => {
    const state = states.get(request);
    if (state) state.hasFailed = true;
  });

  app.addHook("onSend", async (request: object, reply: Reply, payload: unknown) => {
    const state = states.get(request);
    if (!state) return payload;
    // After a handler that returns nothing, Fastify sends an empty answer, because the handler's own waits here.
    if (state.waiting && payload === undefined) return notSent();
    const answer = { payload };
    state.waiting = answer;
    await state.scope.finish(outcome(state, reply));
    // The status and the fields are those of the newest, such as an error.
    if (state.waiting !== answer) return notSent();
    state.waiting = undefined;
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

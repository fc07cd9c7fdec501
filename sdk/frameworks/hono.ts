/** Middleware for Hono. */

import { TAG_FIELD } from "../../wire/fields.ts";
import { checkRequestOptions, inScope, outcomeOf, type RequestOptions, RequestScope } from "./request-scope.ts";

/** The parts of Hono's `Context` that are used. */
export interface HonoContext {
  readonly res: { readonly status: number; readonly headers: { get(name: string): string | null } };
  readonly error: Error | undefined;
  header(name: string, value: string, options?: { append?: boolean }): void;
}

/**
 * `app.use(tidemark({ purger }))`, before the routes: in handlers and the code that they call, `tag` adds tags to the
 * response, and `purgeLater` collects changes, which one purge sends when the handler has answered. It needs
 * `node:async_hooks`, which Workers have with the compatibility flag `nodejs_als` or `nodejs_compat`.
 */
export function tidemark(
  options: RequestOptions = {},
): (context: HonoContext, next: () => Promise<void>) => Promise<void> {
  checkRequestOptions("tidemark", options);
  return async (context, next) => {
    const scope = new RequestScope(options);
    await inScope(scope, next);
    await scope.finish(context.error ? "failed" : outcomeOf(context.res.status));
    const { cacheTag, setCookie } = scope.takeFields(context.res.headers.get(TAG_FIELD));
    // `header` also works for a response with immutable fields, such as one from `fetch`.
    if (cacheTag !== null) context.header(TAG_FIELD, cacheTag);
    if (setCookie !== null) context.header("Set-Cookie", setCookie, { append: true });
  };
}

export { type EditorCookie, editorCookie, setEditorCookie } from "./editor-cookie.ts";
export { type PurgeLaterInput, purgeLater, purgeNow, type RequestOptions, tag } from "./request-scope.ts";

/** For frameworks whose middleware takes a request and returns a `Response`: SvelteKit, Astro and others. */

import { TAG_FIELD } from "../../wire/fields.ts";
import { checkRequestOptions, inScope, outcomeOf, type RequestOptions, RequestScope } from "./request-scope.ts";

/** The parts of a `Response` that are used. */
export interface WebResponse {
  readonly status: number;
  readonly headers: {
    get(name: string): string | null;
    set(name: string, value: string): void;
    append(name: string, value: string): void;
  };
}

/**
 * Answers a request with this work, in which `tag`, `purgeLater` and `purgeNow` can be called. Resolves to the response
 * with the collected tags, after the collected purges were sent.
 */
export async function respond<T extends WebResponse>(
  work: () => T | Promise<T>,
  options: RequestOptions = {},
): Promise<T> {
  checkRequestOptions("respond", options);
  const scope = new RequestScope(options);
  let response: T;
  try {
    response = await inScope(scope, work);
  } catch (error) {
    await scope.finish("failed");
    throw error;
  }
  await scope.finish(outcomeOf(response.status));
  const { cacheTag, setCookie } = scope.takeFields(response.headers.get(TAG_FIELD));
  if (cacheTag === null && setCookie === null) return response;
  const write = ({ headers }: WebResponse) => {
    if (cacheTag !== null) headers.set(TAG_FIELD, cacheTag);
    if (setCookie !== null) headers.append("Set-Cookie", setCookie);
  };
  try {
    write(response);
    return response;
  } catch {
    // The fields of responses from `fetch` and `Response.redirect` are immutable; those of a copy are not.
    const { body, status, statusText, headers } = response as unknown as Response;
    const copy = new Response(body, { status, statusText, headers }) as unknown as T;
    write(copy);
    return copy;
  }
}

export { type EditorCookie, editorCookie, setEditorCookie } from "./editor-cookie.ts";
export { type PurgeLaterInput, purgeLater, purgeNow, type RequestOptions, tag } from "./request-scope.ts";

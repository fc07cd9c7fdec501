import { AFTER_COOKIE } from "../../wire/fields.ts";
import type { Receipt } from "../receipt.ts";
import { changeFields } from "../tags/changing-fields.ts";
import { type HeadersLike, isHeaders, type ResponseLike, type ServerResponseLike } from "../tags/tag-response.ts";

/** A cookie with its attributes, as `cookies().set` of Next and `serialize` of most cookie libraries take it. */
export interface EditorCookie {
  readonly name: string;
  readonly value: string;
  readonly path: "/";
  readonly httpOnly: true;
  readonly sameSite: "lax";
  /** Seconds. */
  readonly maxAge: number;
}

/** Fastify's `Reply`, which keeps several cookies anyway, and Hono's `Context`. */
export interface ReplyLike {
  header(name: string, value: string, options?: { append?: boolean }): unknown;
}

/** Node's `ServerResponse`, whose fields may have several values. */
interface NodeResponse extends ServerResponseLike {
  setHeader(name: string, value: string | readonly string[]): unknown;
}

/**
 * The cookie lasts this much longer than the time until every PoP knows of the purge, because it takes time to reach
 * the browser.
 */
const MARGIN_SECONDS = 5;

/**
 * The cookie that shows a purge to its editor: with it, a browser gets nothing older than the purge from any PoP, even
 * before `settled()`. It expires soon after. Its value is not a secret and allows nothing else. Throws a `TypeError`
 * for the receipt of a dry run, which purged nothing.
 */
export function editorCookie(receipt: Pick<Receipt, "token" | "settlesInMs">): EditorCookie {
  const { token, settlesInMs } = receipt;
  if (token === "") throw new TypeError("editorCookie: this receipt is of a dry run, which purged nothing");
  const maxAge = Math.ceil(settlesInMs / 1000) + MARGIN_SECONDS;
  return { name: AFTER_COOKIE, value: token, path: "/", httpOnly: true, sameSite: "lax", maxAge };
}

/**
 * Adds that cookie to the response to the editor, before its head is sent. The response is a `Headers`, a `Response`,
 * Node's `ServerResponse`, which Express's response is, too, Fastify's `reply` or Hono's context. Nothing is added without
 * a receipt (a batch without items has none) or for a dry run. Returns the response. Throws a `TypeError` for any other
 * object.
 */
export function setEditorCookie<T extends HeadersLike | ResponseLike | ServerResponseLike | ReplyLike>(
  response: T,
  receipt: Pick<Receipt, "token" | "settlesInMs"> | null,
): T {
  const field = receipt && editorCookieField(receipt);
  if (field === null) return response;
  if ("setHeader" in response) {
    const { setHeader, getHeader } = response as unknown as NodeResponse;
    const held = [getHeader.call(response, "Set-Cookie") ?? []].flat().map(String);
    setHeader.call(response, "Set-Cookie", [...held, field]);
    return response;
  }
  // Requests of Express and Hono have a `header`, too, and so has the context of Koa: the fields of the request.
  if ("header" in response && typeof response.header === "function" && !("method" in response)) {
    response.header("Set-Cookie", field, { append: true });
    return response;
  }
  const headers = "headers" in response ? response.headers : response;
  if (!isHeaders(headers)) {
    throw new TypeError(
      "setEditorCookie: the first argument must be a Headers, a Response, Node's ServerResponse, Fastify's reply or " +
        "Hono's context (in Koa ctx.res)",
    );
  }
  changeFields("setEditorCookie", () => headers.append("Set-Cookie", field));
  return response;
}

/** The value of `Set-Cookie`; `null` for the receipt of a dry run. RFC 6265 §4.1.1. */
export function editorCookieField(receipt: Pick<Receipt, "token" | "settlesInMs">): string | null {
  if (receipt.token === "") return null;
  const { name, value, maxAge } = editorCookie(receipt);
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax`;
}

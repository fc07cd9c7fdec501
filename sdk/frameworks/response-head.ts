import { TAG_FIELD } from "../../wire/fields.ts";
import type { RequestScope } from "./request-scope.ts";

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

/** Node writes every head with `writeHead`, even if the app does not call it. */
export function writeFieldsWithHead(response: NodeResponse, scope: RequestScope): void {
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

/**
 * Sets the fields of a `writeHead`, which are an object, a list of pairs, or names and values in turn. If Node refuses
 * one, none is set: a framework then answers with its error page, which must not have the fields of the page.
 */
function setFields(response: NodeResponse, fields: unknown): void {
  if (typeof fields !== "object" || fields === null) return;
  const pairs = (Array.isArray(fields) ? pairsOf(fields) : Object.entries(fields)) as [string, string | string[]][];
  const names = [...new Set(pairs.map(([name]) => name.toLowerCase()))];
  const before = names.map((name) => [name, response.getHeader(name)] as const);
  for (const name of names) response.removeHeader(name);
  try {
    for (const [name, value] of pairs)
      if (value !== undefined) response.appendHeader(name, Array.isArray(value) ? value : String(value));
  } catch (error) {
    for (const [name, value] of before) {
      response.removeHeader(name);
      if (value !== undefined) response.setHeader(name, value);
    }
    throw error;
  }
}

function pairsOf(list: readonly unknown[]): unknown[] {
  if (Array.isArray(list[0])) return [...list];
  return list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1]]] : []));
}

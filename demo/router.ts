import type { IncomingHttpHeaders } from "node:http";
import type { Answer } from "./answer.ts";

/** What a page is told about the request. */
export interface DemoRequest {
  method: string;
  /** The path and query; scheme and host mean nothing here, see `publicUrl`. */
  url: URL;
  /** The named parts of the path, percent-decoded. */
  params: Readonly<Record<string, string>>;
  fields: IncomingHttpHeaders;
  /** Scheme and host as the visitor sees them, without a slash at the end. */
  publicUrl: string;
  /** Whether somebody in front, like the edge, passed this on. */
  forwarded: boolean;
  /** Aborted when the client went away or the origin closes. */
  signal: AbortSignal;
  /** The fields of a form. Throws `BadRequest` for a body that is none. */
  form(): Promise<URLSearchParams>;
}

export interface Route {
  method: "GET" | "POST";
  /** A path in which `:name` stands for one segment that is not empty. */
  path: string;
  handle(request: DemoRequest): Answer | Promise<Answer>;
}

/** A slip of the client that ends the handling: the status, and a sentence for a person to read. */
export class BadRequest extends Error {
  readonly status: 400 | 413 | 415;
  constructor(status: 400 | 413 | 415, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "BadRequest";
    this.status = status;
  }
}

export type Routed =
  | { kind: "found"; route: Route; params: Record<string, string> }
  | { kind: "method-not-allowed"; allow: string[] }
  | { kind: "not-found" };

/** Finds the first route of that path and method. A GET route answers HEAD as well. */
export function findRoute(routes: readonly Route[], method: string, path: string): Routed {
  const wanted = method === "HEAD" ? "GET" : method;
  const allow = new Set<string>();
  for (const route of routes) {
    const params = matchPath(route.path, path);
    if (params === undefined) continue;
    if (route.method === wanted) return { kind: "found", route, params };
    allow.add(route.method);
    if (route.method === "GET") allow.add("HEAD");
  }
  return allow.size > 0 ? { kind: "method-not-allowed", allow: [...allow] } : { kind: "not-found" };
}

function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const segments = path.split("/");
  if (wanted.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, want] of wanted.entries()) {
    const segment = segments[index] ?? "";
    if (!want.startsWith(":")) {
      if (want !== segment) return undefined;
      continue;
    }
    const value = decode(segment);
    if (value === undefined || value === "") return undefined;
    params[want.slice(1)] = value;
  }
  return params;
}

/** Undefined for a broken percent-encoding: such a path names nothing. */
function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

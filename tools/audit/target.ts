import { AuditUsageError } from "./identity.ts";

/** A page to audit. */
export interface Target {
  readonly method: "GET" | "HEAD";
  /** Path and query, exactly as they are sent. */
  readonly path: string;
}

/** A line that names a page, and its place, for messages. */
export interface TargetLine {
  readonly text: string;
  readonly place: string;
}

/** The origins that a page may name: the edge, and the public host if it differs. */
export interface AuditedSite {
  readonly edge: URL;
  /** `Host` of the requests; `null` for the edge's own. */
  readonly host: string | null;
}

/**
 * Reads pages: paths, or whole URLs of this site, optionally with GET or HEAD before them. Empty lines and lines that
 * begin with `#` do not count. Throws `AuditUsageError` for any other method or origin, because the audit only reads
 * and sends credentials nowhere else.
 */
export function readTargets(lines: readonly TargetLine[], site: AuditedSite): readonly Target[] {
  const targets = new Map<string, Target>();
  for (const { text, place } of lines) {
    const line = text.trim();
    if (line === "" || line.startsWith("#")) continue;
    const [, method = "GET", page = line] = /^([A-Za-z]+)[ \t]+(\S.*)$/.exec(line) ?? [];
    if (method !== "GET" && method !== "HEAD") {
      throw new AuditUsageError(`${place}: ${method} may change something, and the audit sends only GET and HEAD`);
    }
    const target: Target = { method, path: pathOf(page, place, site) };
    targets.set(`${method} ${target.path}`, target);
  }
  return [...targets.values()];
}

/** Names of pages that end a session, which would end the audit's own. */
const ENDS_SESSION =
  /(?:^|[/_.?&=-])(?:log-?_?out|log-?_?off|sign-?_?out|sign-?_?off|abmelden|deconnexion|uitloggen)(?:$|[/_.?&=;-])/i;

/** Whether a request for this page would end the visitor's session. */
export function endsSession({ path }: Target): boolean {
  return ENDS_SESSION.test(path);
}

/** The path with a parameter of this name and value in place of those with the same name. */
export function withParameter(path: string, name: string, value: string): string {
  const [before, query] = splitQuery(path);
  const kept = query.filter((pair) => nameOf(pair) !== name);
  return `${before}?${[...kept, `${name}=${value}`].join("&")}`;
}

/** The parameters of the path, in their order. */
export function parametersOf(path: string): readonly (readonly [name: string, value: string])[] {
  return splitQuery(path)[1].map((pair) => [nameOf(pair), pair.slice(nameOf(pair).length + 1)] as const);
}

function splitQuery(path: string): [before: string, query: readonly string[]] {
  const at = path.indexOf("?");
  if (at === -1) return [path, []];
  return [
    path.slice(0, at),
    path
      .slice(at + 1)
      .split("&")
      .filter((pair) => pair !== ""),
  ];
}

function nameOf(pair: string): string {
  return pair.split("=", 1)[0]!;
}

function pathOf(page: string, place: string, { edge, host }: AuditedSite): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these cannot be part of a request line
  if (/[\u0000-\u001f\u007f]/.test(page)) throw new AuditUsageError(`${place}: a URL cannot have control characters`);
  const [text = ""] = page.split("#", 1);
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) {
    if (text.startsWith("//")) {
      throw new AuditUsageError(`${place}: // may begin a host or a path. Write the whole URL`);
    }
    // Not repeated: it may be a credential without its flag.
    if (!text.startsWith("/")) throw new AuditUsageError(`${place} is neither a path, which begins with /, nor a URL`);
    return encodedPath(text);
  }
  if (!URL.canParse(text)) throw new AuditUsageError(`${place} is not a URL`);
  const url = new URL(text);
  const isHere = url.protocol === edge.protocol && (url.host === edge.host || url.host === host);
  if (!isHere || url.username !== "" || url.password !== "") {
    const here = host === null ? edge.origin : `${edge.protocol}//${host}`;
    throw new AuditUsageError(
      `${place}: ${url.host} is not ${here}, and the audit sends credentials to no other origin`,
    );
  }
  return url.pathname + url.search;
}

/** The path, with only characters that a request line may have. */
function encodedPath(path: string): string {
  return path.replace(/[^\x21-\x7e]+/gu, (odd) => encodeURIComponent(odd.toWellFormed()));
}

import type { Reply, SeenRequest } from "../../../local/cdn/scripted-origin.ts";

/** How many pages of each sort the site has. */
export const PAGES = 40;
export const ITEMS = 120;
export const BOARDS = 12;

/** The last change of everything on the site. */
export const LAST_MODIFIED = "Fri, 02 Jan 2026 09:00:00 GMT";

/**
 * A site's answer to a request. The body names the page and every field by which the site chose it, so it shows for
 * whom it was made. Lifetimes are long, because nothing is to expire while other caches are measured in real time.
 */
export function answerOf({ target, method, fields }: SeenRequest): Reply {
  const reply = pageOf(target.split("?", 1)[0]!, (name) => String(fields[name] ?? "none"), sessionOf(fields.cookie));
  const etag = etagOf(reply.body ?? "");
  const validated = { ...reply.fields, etag, "last-modified": LAST_MODIFIED };
  const held = fields["if-none-match"];
  const isHeld = held === undefined ? fields["if-modified-since"] === LAST_MODIFIED : held === etag;
  if (isHeld && (method === "GET" || method === "HEAD")) return { status: 304, fields: validated };
  return { ...reply, fields: validated };
}

/** Servers for pages name `Accept-Encoding` in `Vary` even where a body is too short to be compressed, as all are here. */
const HTML = { "content-type": "text/html; charset=utf-8", vary: "Accept-Encoding" };
const PAGE = { ...HTML, "cache-control": "public, max-age=3600" };
/** A page that may be stored (RFC 9111 §3), but does not say that it is for everybody. */
const PAGE_WITHOUT_PUBLIC = { ...HTML, "cache-control": "max-age=3600" };
const JSON_FOR_ALL = { "cache-control": "public, max-age=3600", "content-type": "application/json" };
const JSON_OF_ONE = { "cache-control": "private, max-age=60", "content-type": "application/json" };

function sessionOf(cookies: SeenRequest["fields"][string]): string {
  return /(?:^|; )sessionid=(\w+)/.exec(String(cookies))?.[1] ?? "none";
}

function pageOf(path: string, field: (name: string) => string, session: string): Reply {
  const madeFor = (...names: readonly string[]) =>
    [`page of ${path}`, ...names.map((name) => `made for ${name}: ${field(name)}`)].join("\n");
  switch (
    path
      .split("/", 3)
      .slice(0, path.startsWith("/api/") ? 3 : 2)
      .join("/")
  ) {
    case "/assets":
      return { fields: { "cache-control": "public, max-age=31536000, immutable" }, body: madeFor() };
    case "/api/items":
      return { fields: JSON_FOR_ALL, body: madeFor() };
    case "/api/start":
      return { fields: JSON_FOR_ALL, body: madeFor("x-app-version") };
    case "/api/me":
      return { fields: JSON_OF_ONE, body: madeFor("authorization") };
    case "/api/orders": // the mistake: it does not say `private`
      return { fields: { ...JSON_OF_ONE, "cache-control": "max-age=3600" }, body: madeFor("authorization") };
    case "/board":
      return { fields: { ...PAGE, vary: "Accept-Encoding, HX-Request" }, body: madeFor("hx-request") };
    case "/feed": // the mistake: it does not name HX-Request in `Vary`
      return { fields: PAGE, body: madeFor("hx-request") };
    case "/news":
      return { fields: PAGE_WITHOUT_PUBLIC, body: madeFor() };
    case "/account":
      return {
        fields: { ...HTML, "cache-control": "private, max-age=0" },
        body: `${madeFor()}\nmade for session: ${session}`,
      };
    case "/inbox": // the mistake: it does not say `private`
      return { fields: PAGE_WITHOUT_PUBLIC, body: `${madeFor()}\nmade for session: ${session}` };
    default:
      return { fields: PAGE, body: madeFor() };
  }
}

/** The entity tag of a body. */
export function etagOf(body: string): string {
  let hash = 0;
  for (const character of body) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
  return `"${hash.toString(16)}"`;
}

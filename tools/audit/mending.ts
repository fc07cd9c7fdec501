import { fieldOf, type PathRecord } from "./exchange.ts";
import type { Input } from "./input.ts";
import type { PersonalBecause } from "./stored-personal.ts";

/** The caches whose settings the report names. */
export type Product = "tidemark" | "nginx" | "cloudflare" | "varnish" | "unknown";

/** The cache that answered, judged by what it writes into its answers. */
export function productOf({ exchanges }: PathRecord): Product {
  const [answer] = exchanges;
  if (!answer) return "unknown";
  if (/\btidemark\b/.test(`${fieldOf(answer, "via")} ${fieldOf(answer, "cache-status")}`)) return "tidemark";
  const says = (...names: readonly string[]) =>
    exchanges.some((each) => names.some((name) => fieldOf(each, name) !== null));
  if (says("cf-ray", "cf-cache-status")) return "cloudflare";
  if (says("x-varnish")) return "varnish";
  return /^nginx/.test(fieldOf(answer, "server") ?? "") ? "nginx" : "unknown";
}

/** The settings that keep one visitor's page from others: at the site, and in the cache. */
export function mendShared(product: Product, path: string, cookies: readonly string[]): readonly string[] {
  const named = cookies.length > 0 ? `the cookie ${cookies.join(" or ")}` : "credentials";
  const pattern = `(^|; *)(${cookies.map(inPattern).join("|")})=`;
  const isMapped = !cookies.every(isVariable);
  const map = isMapped ? `map $http_cookie $personal { default ""; "~${pattern}" 1; } in the http block; ` : "";
  const variables = cookies.length > 0 ? cookies.map((name) => `$cookie_${name}`) : ["$http_authorization"];
  const inNginx = isMapped ? "$personal" : variables.join(" ");
  const inVarnish = cookies.length > 0 ? `req.http.Cookie ~ "${pattern}"` : "req.http.Authorization";
  const list = cookies.length > 0 ? `bypass: { cookies: ${JSON.stringify(cookies)} }` : "pass: true";
  return [
    "the site: send Cache-Control: private on answers for one visitor",
    {
      tidemark: `tidemark.config.ts: { match: ${JSON.stringify(withoutQuery(path))}, ${list} }`,
      nginx: `nginx: ${map}proxy_cache_bypass ${inNginx}; proxy_no_cache ${inNginx};`,
      cloudflare: `the Worker or rule: neither look up nor store requests with ${named}`,
      varnish: `vcl_recv: if (${inVarnish}) { return (pass); }`,
      unknown: `the cache: neither look up nor store requests with ${named}`,
    }[product],
  ];
}

const REPORT = "please report it, with the output of tidemark explain";

/** What the directives of a field for Tidemark alone may overrule. Visitors do not get that field. */
const OF_DIRECTIVES: ReadonlySet<PersonalBecause> = new Set(["private", "no-store", "authorization"]);

/** The settings that make a cache obey the stored answer. */
export function mendStored(product: Product, because: PersonalBecause): readonly string[] {
  const field = {
    private: "Cache-Control",
    "no-store": "Cache-Control",
    "set-cookie": "Set-Cookie",
    "vary: cookie": "Vary",
    authorization: "Authorization",
  }[because];
  return [
    {
      tidemark: OF_DIRECTIVES.has(because)
        ? `if the origin's Surrogate-Control or the site's targetedField allows this, accept it; otherwise ${REPORT}`
        : `this should not happen: ${REPORT}`,
      nginx:
        because === "authorization"
          ? "nginx: proxy_cache_bypass $http_authorization; proxy_no_cache $http_authorization;"
          : `nginx: take ${field} out of proxy_ignore_headers`,
      cloudflare: `the Worker or rule: do not store an answer that says ${because}, and do not replace its ${field}`,
      varnish: `vcl_backend_response: set beresp.uncacheable = true; where ${field} says so`,
      unknown: `the cache: obey ${field}`,
    }[product],
    "the site: if the page is for everybody, say so; otherwise leave it as it is",
  ];
}

/** The settings that add an input to the key, or remove its effect. */
export function mendUnkeyed(product: Product, path: string, { kind, name }: Input): readonly string[] {
  const isMapped = kind !== "field" && !isVariable(name);
  const variable = `$${isMapped ? "key" : { parameter: "arg", field: "http", cookie: "cookie" }[kind]}_${name.replace(/\W/g, "_")}`;
  const [all, before, value] = kind === "cookie" ? ["$http_cookie", "; *", "[^;]*"] : ["$args", "&", "[^&]*"];
  const map = isMapped
    ? `map ${all} ${variable} { default ""; "~(?:^|${before})${inPattern(name)}=(${value})" $1; } in the http block; `
    : "";
  const key = {
    parameter: "key: { query: … } without that parameter in ignore, or with it in only",
    field: `key: { fields: ["${name}"] }`,
    cookie: `key: { cookies: { ${JSON.stringify(name)}: ["…"] } }`,
  }[kind];
  const vary = { parameter: null, field: name, cookie: "Cookie" }[kind];
  return [
    vary === null
      ? `the site: do not let ${name} change the page, or redirect to a URL without it`
      : `the site: send Vary: ${vary}, or do not let it change the page`,
    {
      tidemark: `tidemark.config.ts: { match: ${JSON.stringify(withoutQuery(path))}, ${key} }`,
      nginx: `nginx: ${map}add ${variable} to proxy_cache_key${kind === "field" ? `, or proxy_set_header ${name} "";` : ""}`,
      cloudflare: `the Worker or rule: put the ${kind} ${name} into the cache key`,
      varnish: `vcl_hash: hash_data() with the ${kind} ${name}`,
      unknown: `the cache: put the ${kind} ${name} into the key, or do not pass it on`,
    }[product],
  ];
}

/** Whether nginx has a variable for a cookie or a parameter of this name. */
function isVariable(name: string): boolean {
  return /^\w+$/.test(name);
}

/** The name in a regular expression. */
function inPattern(name: string): string {
  return name.replace(/[^\w-]/g, "\\$&");
}

function withoutQuery(path: string): string {
  return path.split("?", 1)[0]!;
}

import type { Change } from "../../mutants/mutant.ts";
import { type Case, page } from "../case.ts";

const POLICY = {
  in: "parse",
  drop: 'if (policy === "harmless") return harmless;',
};
const PRAGMA = {
  in: "readRequestDirectives",
  replace: 'if (policy === "all" && saysNoCache(',
  by: "if (saysNoCache(",
};

function lookUpUnless(condition: string): Change {
  return {
    in: "modeOf",
    replace: 'if (passes || isWebSocket(field("upgrade"))) return "bypass";',
    by: `if (passes || isWebSocket(field("upgrade")) || ${condition}) return "bypass";`,
  };
}

/**
 * Requests with which a stranger would try to reach the origin past the cache, each with the rule that would permit it.
 */
const tricks: readonly (readonly [fields: Readonly<Record<string, string>>, defence: Case["defence"]])[] = [
  [{ "cache-control": "no-cache" }, POLICY],
  [{ "cache-control": "max-age=0" }, POLICY],
  [{ "cache-control": "min-fresh=99999" }, POLICY],
  [{ pragma: "no-cache" }, PRAGMA],
  [{ range: "bytes=0-" }, lookUpUnless('field("range") !== null')],
  [{ upgrade: "h2c", connection: "upgrade" }, lookUpUnless('field("upgrade") !== null')],
  [{ cookie: "session=made-up" }, lookUpUnless('field("cookie") !== null')],
  [{ "x-no-cache": "1" }, lookUpUnless('field("x-no-cache") !== null')],
  [{ "accept-encoding": "identity;q=0" }, lookUpUnless('field("accept-encoding") !== null')],
];

/** No stranger sends requests past the cache: stored responses answer them. */
export const skipping: readonly Case[] = [
  ...tricks.map(
    ([fields, defence]): Case => ({
      name: `a stored page answers a request with ${Object.entries(fields)
        .map((pair) => pair.join(": "))
        .join(", ")}`,
      origin: () => page("the page"),
      first: { path: "/a", fields },
      second: { path: "/a" },
      witness: "asked",
      defence,
    }),
  ),
  {
    name: "a stored page answers a request with a made-up session, also where only the owner's lifetime stores it",
    site: { routes: [{ match: "/*", ttl: "1h" }] },
    origin: () => ({ body: "the page" }),
    first: { path: "/a", fields: { cookie: "sessionid=1; PHPSESSID=x; connect.sid=y; _app_session=z" } },
    second: { path: "/a" },
    witness: "asked",
    defence: {
      in: "carriesSession",
      replace: "known.test(cookie)",
      by: "/sess/i.test(name)",
    },
  },
  {
    name: "a refresh without the token does not reach the origin",
    origin: () => page("the page"),
    first: { path: "/a", fields: { "tidemark-refresh": "guess" } },
    second: { path: "/a" },
    witness: "asked",
    defence: { in: "corridor:refresh", replace: 'if (verdict.kind === "refused") {', by: "if (false) {" },
  },
  {
    name: "a request with too many fields does not reach the origin",
    origin: () => page("the page"),
    first: { path: "/b", fields: { "x-large": "x".repeat(33_000) } },
    second: { path: "/a" },
    witness: "asked",
    defence: { in: "reasonNotToSend", replace: "<= requestFieldBytes", by: "<= Infinity" },
  },
  {
    name: "a request body over the limit does not reach the origin",
    site: { limits: { requestBodyBytes: 10 } },
    origin: () => page("the page"),
    first: { method: "POST", path: "/b", fields: { "content-length": "11" }, body: "eleven byte" },
    second: { path: "/a" },
    witness: "asked",
    defence: {
      in: "bodyToSend",
      replace: "requestBody(incoming.request, requestBodyBytes,",
      by: "requestBody(incoming.request, Infinity,",
    },
  },
  {
    name: "a query parameter that is not in the key does not make another page",
    site: { routes: [{ match: "/a", key: { query: { only: ["q"] } } }] },
    origin: () => page("the page"),
    first: { path: "/a?cb=123" },
    second: { path: "/a" },
    witness: "asked",
    defence: {
      in: "canonicalQuery",
      replace: "rules.only ? !matchesAnyName(name, rules.only)",
      by: "rules.only ? false",
    },
  },
];

import type { Route } from "../rules/key/route.ts";
import { NO_OWNERS_FIELDS, reachesOriginAsSent } from "../rules/request/request-fields.ts";
import type { Site } from "./site.ts";

/** The defences of docs/security.md that the owner has weakened, one line each. They are logged at every start. */
export function weakenedDefences({ routes }: Pick<Site, "routes">): readonly string[] {
  const last = routes.findIndex(({ pattern }) => routeName(pattern) === routeName(null)); // It matches every path.
  return routes.slice(0, last + 1).flatMap((route) => {
    const { pattern, pass, keyFields, trustedFields, trustedForErrors } = route;
    const lines: string[] = [];
    if (route.stripsSetCookie)
      lines.push("removes Set-Cookie from answers to GET and HEAD, and stores them for everybody");
    for (const name of keyFields.filter((each) => !reachesOriginAsSent(each, null, NO_OWNERS_FIELDS))) {
      lines.push(`sends ${name} to the origin as the visitor sent it, and adds it to the key`);
    }
    if (route.hasOwnLifetime && !route.bypass.sessions)
      lines.push("answers visitors with a session like visitors without one");
    for (const name of pass ? [] : trustedFields) {
      lines.push(
        `sends ${name} to the origin, and stores the answer for everybody${trustedForErrors.includes(name) ? ", errors too" : ""}`,
      );
    }
    if (route.requestDirectives === "all") lines.push("lets every visitor bypass the cache by Cache-Control");
    return lines.map((line) => `${routeName(pattern)} ${line}.`);
  });
}

function routeName(pattern: Route["pattern"]): string {
  return `The route ${pattern ?? "/*"}`;
}

import type { Difference, Source } from "../../imported-site.ts";
import { importKey } from "../cache-key.ts";
import type { Evaluation } from "../conditions/requests-where.ts";
import type { Directive } from "../files/directives.ts";
import type { CachedLocation, LocationPart } from "./cached-location.ts";

export interface KeyPart extends LocationPart {
  /** True if the key distinguishes pages that the route's key would not. */
  readonly isUnknown: boolean;
  /** The cookies with which requests bypass the cache. */
  readonly bypassedCookies: readonly string[];
  /** The line; `null` for nginx's own key. */
  readonly line: Source | null;
}

/** Where a route keys by a cookie, the origin gets no others. */
const NO_COOKIES = { none: ["none"] };

/** The key of a page: `proxy_cache_key`. `cookies`: the line by which the origin gets no visitor's own. */
export function readKey(
  location: CachedLocation,
  evaluation: Pick<Evaluation, "maps" | "hosts" | "assignments" | "captured" | "skipped">,
  cookies: Directive | undefined,
): KeyPart {
  const line = location.read("cache_key")[0];
  const imported = importKey(line ? line.args.join("") : null, evaluation);
  const source = line?.source ?? location.source;
  const { unknown, onlyParameters: only } = imported;
  const key = cookies === undefined ? imported.key : { cookies: NO_COOKIES, ...imported.key };
  const differences: Difference[] = [];
  if (unknown.length > 0) {
    const why = `A route cannot key by ${unknown.join(", ")}, and without that a visitor could get another visitor's page. Nothing is stored here until you write the route's key.`;
    differences.push(location.difference("changed", source, why, ["stored"]));
  }
  for (const cookie of imported.unboundedCookies) {
    const why = `A key with ${cookie} makes a separate cache for each visitor, without a bound. Requests with it go to the origin. If it has few values, name them: key: { cookies: { ${cookie}: ["a", "b"] } }.`;
    differences.push(location.difference("safer", source, why, ["stored", "answer"], { cookies: [cookie] }));
  }
  for (const choice of imported.approximate) {
    const requestFields = [FIELD_OF_CHOICE[choice] ?? choice];
    differences.push(
      location.difference("changed", source, approximationText(choice), ["stored", "answer"], { requestFields }),
    );
  }
  if (imported.splitsMethods) {
    const why = "GET and HEAD share one entry.";
    differences.push(location.difference("changed", source, why, ["stored"], { methods: ["HEAD"] }));
  }
  if (only !== null) {
    const why = `The origin does not get parameters that are not in the key either${only.length > 0 ? ` (all but ${only.join(", ")})` : ""}: otherwise one visitor's query would choose the page of all others.`;
    differences.push(location.difference("safer", source, why, ["origin-url", "answer"], { parameters: ["*"] }));
  }
  if (imported.leavesOutHost && evaluation.hosts.length > 1) {
    const why = "Each host has its own entries. If all names show the same pages, set publicUrl.";
    differences.push(location.difference("changed", source, why, ["stored"], { host: "alias" }));
  }
  return {
    rules: Object.keys(key).length > 0 ? { key } : {},
    from: [...(line ? [line.source, ...imported.from] : []), ...(cookies ? [cookies.source] : [])],
    differences,
    isUnknown: unknown.length > 0,
    bypassedCookies: imported.bypassedCookies,
    line: line?.source ?? null,
  };
}

const FIELD_OF_CHOICE: Readonly<Record<string, string>> = { device: "user-agent", languages: "accept-language" };

/** How the route chooses, if nginx's map chose differently. */
function approximationText(choice: string): string {
  switch (choice) {
    case "device":
      return "key.device chooses differently, by Sec-CH-UA-Mobile and by Mobi in User-Agent, and the origin gets the choice.";
    case "languages":
      return "key.languages chooses differently, by all weights of Accept-Language, and the origin gets the choice.";
    default:
      return `The route keys by the whole value of ${choice}, not by the map's result.`;
  }
}

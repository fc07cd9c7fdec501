import type { RouteInput } from "../../../worker/site/site-input.ts";
import { UNSAFE } from "../by-design.ts";
import { type Affected, type Difference, ImportError, type Source } from "../imported-site.ts";
import { importKey } from "./cache-key.ts";
import { type Caused, causesOf, type Maps } from "./conditions.ts";
import type { Directive } from "./directives.ts";
import { durationOf, importLifetimes, secondsOf } from "./lifetimes.ts";
import type { Location } from "./match-order.ts";

/** The modules that have a cache, with the same directives under other names. */
const FAMILIES = ["proxy", "uwsgi", "fastcgi", "scgi"] as const;
export type Family = (typeof FAMILIES)[number];

/** What answers the requests of a location. */
export type Handler =
  | { readonly kind: "upstream"; readonly family: Family; readonly pass: Directive }
  | { readonly kind: "itself" };

/** A location in the words of a route, without its `match`. */
export interface ImportedLocation {
  readonly rules: Omit<RouteInput, "match">;
  readonly from: readonly Source[];
  /** Paths below the location that are never stored. */
  readonly passed: readonly {
    readonly regex: string;
    readonly ignoreCase: boolean;
    readonly from: readonly Source[];
  }[];
  /** The differences; `routes` says which routes a difference is about. */
  readonly differences: readonly Difference[];
}

/** The directives of this name that are in force: those of the innermost block that has any. */
export function inForce(levels: readonly (readonly Directive[])[], name: string): readonly Directive[] {
  for (const level of levels) {
    const found = level.filter((directive) => directive.name === name);
    if (found.length > 0) return found;
  }
  return [];
}

export function handlerOf(location: Location): Handler {
  for (const family of FAMILIES) {
    // Handlers are not inherited by nested locations.
    const pass = location.handledBy.block!.find(({ name }) => name === `${family}_pass`);
    if (pass) return { kind: "upstream", family, pass };
  }
  return { kind: "itself" };
}

/** Whether nginx stores answers in this location. */
export function isCached(location: Location): boolean {
  const handler = handlerOf(location);
  if (handler.kind === "itself") return false;
  const zone = inForce(location.levels, `${handler.family}_cache`)[0]?.args[0];
  return zone !== undefined && zone !== "off";
}

export function importLocation(
  location: Location,
  {
    maps,
    routes,
    inactiveSeconds,
    hostCount,
  }: { maps: Maps; routes: readonly string[]; inactiveSeconds: (zone: string) => number; hostCount: number },
): ImportedLocation {
  const handler = handlerOf(location);
  const differences: Difference[] = [];
  const on = (affects: Partial<Affected> = {}): Affected => ({ routes, ...affects });
  const own = location.directive.source;
  if (handler.kind === "itself" || !isCached(location)) {
    const zone =
      handler.kind === "itself" ? [] : inForce(location.levels, `${handler.family}_cache`).map(({ source }) => source);
    const why = handler.kind === "itself" ? [] : [handler.pass.source];
    return { rules: { pass: true }, from: [own, ...why, ...zone], passed: [], differences };
  }
  const { family } = handler;
  const read = (name: string) => inForce(location.levels, `${family}_${name}`);
  const from: Source[] = [
    own,
    location.handledBy.source,
    handler.pass.source,
    ...read("cache").map(({ source }) => source),
  ];
  const rules: { -readonly [Name in keyof Omit<RouteInput, "match">]: RouteInput[Name] } = {};
  let passes = false;

  // Lifetimes
  const ignore = read("ignore_headers");
  const ignored = new Set(ignore.flatMap(({ args }) => args.map((each) => each.toLowerCase())));
  const valid = read("cache_valid");
  const ignoresOrigins = ignored.has("cache-control") || ignored.has("expires");
  let lifetimes: ReturnType<typeof importLifetimes>;
  try {
    lifetimes = importLifetimes(valid, ignoresOrigins);
  } catch (error) {
    throw new ImportError(`${valid[0]!.source.place}: ${(error as Error).message}`);
  }
  Object.assign(rules, lifetimes.lifetimes);
  from.push(...valid.map(({ source }) => source));
  if (lifetimes.leftOutStatuses.length > 0) {
    differences.push({
      kind: "safer",
      source:
        valid.find(({ args }) => args.includes("any") || lifetimes.leftOutStatuses.includes(Number(args[0])))?.source ??
        own,
      why: `Answers with ${someOf(lifetimes.leftOutStatuses)} are about one request, and are not stored.`,
      aspects: ["stored"],
      affects: on({ statuses: lifetimes.leftOutStatuses }),
    });
  }
  const ofFailure = valid.find(({ args }) =>
    args.slice(0, -1).some((each) => each === "any" || each === "502" || each === "504"),
  );
  if (ofFailure && ofFailure.args.at(-1) !== "0") {
    differences.push({
      kind: "safer",
      source: ofFailure.source,
      why: "Where the origin gives no answer, the next request asks it again. nginx said 502 for that time without asking.",
      aspects: ["stored", "answer"],
      affects: on({ statuses: [0] }),
    });
  }
  if (ignoresOrigins) {
    from.push(...ignore.map(({ source }) => source));
    differences.push({
      kind: "safer",
      source: ignore[0]!.source,
      why: lifetimes.readsOrigins
        ? "Where the origin gives a lifetime, that counts; the route's is for answers without one. What says private or no-store is not stored. An origin whose lifetimes are wrong has to be corrected."
        : "What the origin calls private or no-store is not stored.",
      aspects: ["stored", "answer"],
      affects: on({ answerFields: ["cache-control", "expires"] }),
    });
  }
  if (ignored.has("vary")) {
    differences.push({
      kind: "safer",
      source: ignore[0]!.source,
      why: "Vary is obeyed: without it, a visitor could get the page of another language or device.",
      aspects: ["stored", "answer"],
      affects: on({ answerFields: ["vary"] }),
    });
  }
  const hidden = read("hide_header");
  const hidesSetCookie = hidden.find(({ args }) => args[0]?.toLowerCase() === "set-cookie");
  if (ignored.has("set-cookie") && hidesSetCookie) {
    rules.stripSetCookie = true;
    from.push(ignore[0]!.source, hidesSetCookie.source);
    differences.push({
      kind: "changed",
      source: hidesSetCookie.source,
      why: "Set-Cookie is removed from answers to GET and HEAD alone, so that forms work.",
      aspects: ["response-field"],
      affects: on({ methods: UNSAFE, answerFields: ["set-cookie"] }),
      field: "set-cookie",
    });
  } else if (ignored.has("set-cookie")) {
    differences.push({
      kind: "safer",
      source: ignore[0]!.source,
      why: "nginx stores the answer with its Set-Cookie and gives one visitor's cookie to all others. An answer with Set-Cookie is not stored. If the page is the same for all visitors, write stripSetCookie: true.",
      aspects: ["stored", "answer", "response-field"],
      affects: on({ answerFields: ["set-cookie"] }),
      field: "set-cookie",
    });
  }
  for (const { source, args } of hidden) {
    const field = args[0]?.toLowerCase() ?? "";
    if (field === "set-cookie" && rules.stripSetCookie) continue;
    if (
      /^(?:x-cache|surrogate-control|surrogate-key|cache-tag|xkey|cdn-tag|x-cache-tags|connection|keep-alive)$/.test(
        field,
      )
    ) {
      from.push(source);
      continue;
    }
    const why = `The edge passes ${args[0]} on: the origin has to leave it out.`;
    differences.push({
      kind: "dropped",
      source,
      why,
      aspects: ["response-field"],
      affects: on({ answerFields: [field] }),
      field,
    });
  }

  // The key
  const keyLine = read("cache_key")[0];
  const imported = importKey(keyLine ? keyLine.args.join("") : null, maps);
  if (keyLine) from.push(keyLine.source, ...imported.from);
  if (Object.keys(imported.key).length > 0) rules.key = imported.key;
  const keySource = keyLine?.source ?? own;
  if (imported.unknown.length > 0) {
    passes = true;
    const why = `A route cannot key by ${imported.unknown.join(", ")}, and one page for all could be another visitor's. Nothing is stored here until you write the route's key.`;
    differences.push({ kind: "changed", source: keySource, why, aspects: ["stored"], affects: on() });
  }
  for (const cookie of imported.unboundedCookies) {
    const why = `A key by ${cookie} is a cache for each visitor, without a bound. Requests with it go to the origin. If it has few values, name them: key: { cookies: { ${cookie}: ["a", "b"] } }.`;
    differences.push({
      kind: "safer",
      source: keySource,
      why,
      aspects: ["stored", "answer"],
      affects: on({ cookies: [cookie] }),
    });
  }
  for (const choice of imported.approximate) {
    const isDevice = choice === "device";
    const words =
      isDevice || choice === "languages"
        ? `key.${choice} chooses in its own way${isDevice ? ", by Sec-CH-UA-Mobile and Mobi in User-Agent" : ", by all weights of Accept-Language"}, and the origin gets the choice.`
        : `The route keys by the whole value of ${choice}, and not by what the map makes of it.`;
    const requestFields = [isDevice ? "user-agent" : choice === "languages" ? "accept-language" : choice];
    differences.push({
      kind: "changed",
      source: keySource,
      why: words,
      aspects: ["stored", "answer"],
      affects: on({ requestFields }),
    });
  }
  if (imported.splitsMethods) {
    const why = "GET and HEAD share one entry.";
    differences.push({
      kind: "changed",
      source: keySource,
      why,
      aspects: ["stored"],
      affects: on({ methods: ["HEAD"] }),
    });
  }
  if (imported.onlyParameters !== null) {
    const names = imported.onlyParameters;
    const why = `Parameters that are not in the key do not reach the origin either${names.length > 0 ? ` (all but ${names.join(", ")})` : ""}: otherwise one visitor's query would choose the page of all others.`;
    differences.push({
      kind: "safer",
      source: keySource,
      why,
      aspects: ["origin-url", "answer"],
      affects: on({ parameters: ["*"] }),
    });
  }
  if (imported.leavesOutHost && hostCount > 1) {
    const why = "Each host has entries of its own. Where all names show the same pages, set publicUrl.";
    differences.push({ kind: "changed", source: keySource, why, aspects: ["stored"], affects: on({ host: "alias" }) });
  }

  // What goes past the cache
  const bypass = { cookies: [...imported.bypassedCookies], fields: [] as string[], query: [] as string[] };
  const passed: { regex: string; ignoreCase: boolean; from: readonly Source[] }[] = [];
  const bypassLines = read("cache_bypass");
  const noCacheLines = read("no_cache");
  const parameters = (lines: readonly Directive[]) =>
    lines.flatMap(({ args, source }) => args.map((text) => ({ text, source })));
  const unstored = new Set(parameters(noCacheLines).map(({ text }) => text));
  const bypassed = new Set(parameters(bypassLines).map(({ text }) => text));
  const seen = new Set<string>();
  for (const { text, source } of [...parameters(bypassLines), ...parameters(noCacheLines)]) {
    if (seen.has(text)) continue;
    seen.add(text);
    for (const caused of causesOf(text, maps, location.levels)) {
      takeCause(caused, { text, source, isBypassed: bypassed.has(text), isUnstored: unstored.has(text) });
    }
  }
  function takeCause(
    { cause, from: lines, isExact }: Caused,
    { source, isBypassed, isUnstored }: { text: string; source: Source; isBypassed: boolean; isUnstored: boolean },
  ): void {
    const sources = [source, ...lines];
    const what = lines.at(-1) ?? source;
    const differsWithAnyQuery = (why: string) => {
      const affects = on({ parameters: ["*"] });
      differences.push({ kind: "changed", source: what, why, aspects: ["stored"], affects });
    };
    switch (cause.kind) {
      case "never-stored":
        from.push(...sources);
        return;
      case "path":
        passed.push({ regex: cause.regex, ignoreCase: cause.ignoreCase, from: sources });
        if (!isExact) {
          const why = "These paths are never stored, with any query. nginx compared path and query.";
          differsWithAnyQuery(why);
        }
        return;
      case "any-query": {
        const why =
          "Pages with a query are stored, each under its own key. To store none, route them with pass, or name the parameters in bypass.query.";
        differsWithAnyQuery(why);
        return;
      }
      case "unknown": {
        if (isUnstored) passes = true;
        const why = isUnstored
          ? `The import cannot tell which requests ${cause.variable} means, and what must not be stored must not be guessed: nothing is stored here. Name cookies, fields or parameters in bypass, and take out pass.`
          : `The import cannot tell which requests ${cause.variable} means. They are answered from the cache.`;
        differences.push({ kind: "changed", source: what, why, aspects: ["stored", "answer"], affects: on() });
        return;
      }
      case "field": {
        const { name } = cause;
        if (name === "authorization" || name === "range") {
          from.push(...sources);
          return;
        }
        if (name === "cache-control" || name === "pragma") {
          const why =
            'Any visitor could send requests to the origin by it. The edge obeys what does no harm; requestDirectives: "all" obeys the rest.';
          differences.push({ kind: "safer", source, why, aspects: ["stored"], affects: on({ requestFields: [name] }) });
          return;
        }
        if (isBypassed && !isUnstored) {
          const why = `A secret in ${name} made nginx fetch the page again. Send Tidemark-Refresh with a token instead: it does the same, can be revoked, and nobody who guesses a name reaches the origin. ${name} has no effect any more.`;
          differences.push({
            kind: "safer",
            source,
            why,
            aspects: ["stored", "answer"],
            affects: on({ requestFields: [name] }),
          });
          return;
        }
        bypass.fields.push(name);
        break;
      }
      case "cookies":
        bypass.cookies.push(...cause.names);
        break;
      case "parameters":
        bypass.query.push(...cause.names);
        break;
    }
    from.push(...sources);
    const names = cause.kind === "field" ? [cause.name] : cause.names;
    const affects = on(
      cause.kind === "field"
        ? { requestFields: names }
        : cause.kind === "cookies"
          ? { cookies: names }
          : { parameters: names },
    );
    if (!isUnstored) {
      const why = `The answer to a request with ${names.join(", ")} goes to that visitor alone. nginx stored it for everybody.`;
      differences.push({ kind: "safer", source, why, aspects: ["stored", "answer"], affects });
    } else if (!isBypassed) {
      const why = `Requests with ${names.join(", ")} always go to the origin. nginx answered them from the cache, too.`;
      differences.push({ kind: "changed", source, why, aspects: ["stored", "answer"], affects });
    } else if (!isExact) {
      const isInField =
        cause.kind === "cookies" && /http_cookie/.test([source, ...lines].map(({ text }) => text).join());
      const why = isInField
        ? `Cookies of these names go past the cache: ${names.join(", ")}. nginx looked for the expression anywhere in Cookie.`
        : `All requests with ${names.join(", ")} go past the cache, whatever the value.`;
      const differing = isInField ? on({ cookies: ["*"] }) : affects;
      differences.push({ kind: "changed", source: what, why, aspects: ["stored", "answer"], affects: differing });
    }
  }
  const lists = Object.fromEntries(
    Object.entries(bypass)
      .filter(([, names]) => names.length > 0)
      .map(([name, names]) => [name, [...new Set(names)]]),
  );
  if (Object.keys(lists).length > 0) rules.bypass = lists;

  // Stale pages
  const staleLine = read("cache_use_stale")[0];
  const stale = new Set(staleLine?.args ?? []);
  const zone = read("cache")[0]!.args[0]!;
  const errors = ["error", "timeout", "invalid_header", "http_500", "http_502", "http_503", "http_504"].filter((each) =>
    stale.has(each),
  );
  if (staleLine && errors.length > 0) {
    rules.stale = { ifError: durationOf(inactiveSeconds(zone)) };
    from.push(staleLine.source);
    differences.push({
      kind: "changed",
      source: staleLine.source,
      why: `A stale page may stand in for ${rules.stale.ifError} after its lifetime, which is the zone's inactive. nginx counts that from the last request.`,
      aspects: ["answer"],
      affects: on({ statuses: [0, 500, 502, 503, 504] }),
    });
    const missing = [500, 502, 503, 504].filter((status) => !stale.has(`http_${status}`));
    if (missing.length > 0 || !stale.has("error")) {
      const statuses = [...missing, ...(stale.has("error") ? [] : [0])];
      const why = "A stale page stands in for every failure of the origin: no answer, 500, 502, 503 and 504.";
      differences.push({
        kind: "changed",
        source: staleLine.source,
        why,
        aspects: ["answer", "stored"],
        affects: on({ statuses }),
      });
    }
  }
  const refusals = [403, 404, 429].filter((status) => stale.has(`http_${status}`));
  if (staleLine && refusals.length > 0) {
    const why = `A ${refusals.join(" or ")} of the origin is passed on: a page that was taken down has to go.`;
    differences.push({
      kind: "safer",
      source: staleLine.source,
      why,
      aspects: ["answer"],
      affects: on({ statuses: refusals }),
    });
  }
  const background = read("cache_background_update")[0];
  if (staleLine && stale.has("updating")) {
    const isBackground = background?.args[0] === "on";
    const why = `A page is served stale while it is fetched again if the origin says stale-while-revalidate=SECONDS in Cache-Control. Send that${isBackground ? "; the fetch is then always in the background" : ""}.`;
    // Without a fetch in the background, only requests at the same moment get the stale page.
    const aspects = isBackground ? (["answer", "stored"] as const) : [];
    differences.push({ kind: "dropped", source: staleLine.source, why, aspects, affects: on() });
  }
  const convertsHead = read("cache_convert_head")[0];
  if (convertsHead?.args[0] === "off") {
    rules.store = { onHead: false };
    from.push(convertsHead.source);
  }
  const lock = read("cache_lock")[0];
  if (lock?.args[0] === "on") from.push(lock.source);

  // Browsers
  const expires = inForce(location.levels, "expires")[0];
  if (expires && !/^(?:off|epoch|max|-|@|modified|\$)/.test(expires.args[0]!) && expires.args.length === 1) {
    rules.browserTtl = durationOf(Math.max(1, Math.round(secondsOf(expires.args[0]!))));
    from.push(expires.source);
  }
  if (passes) return { rules: { pass: true }, from, passed, differences };
  return { rules, from, passed, differences };
}

function someOf(statuses: readonly number[]): string {
  return statuses.length <= 4 ? statuses.join(", ") : `${statuses.slice(0, 3).join(", ")} and the like`;
}

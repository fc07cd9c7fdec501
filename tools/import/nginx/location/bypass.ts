import type { Affected, Difference, Source } from "../../imported-site.ts";
import { type Cause, type Caused, causesOf, type Maps } from "../conditions.ts";
import type { Directive } from "../directives.ts";
import type { CachedLocation, LocationPart } from "./cached-location.ts";

/** Paths below a location that are never stored. */
export interface PassedPaths {
  readonly regex: string;
  readonly ignoreCase: boolean;
  readonly from: readonly Source[];
}

export interface BypassPart extends LocationPart {
  readonly passed: readonly PassedPaths[];
  /** True if it cannot be told what must not be stored. */
  readonly isUnknown: boolean;
}

/** A parameter of `proxy_cache_bypass` or `proxy_no_cache`, and whether it stands in each of them. */
interface Condition {
  readonly text: string;
  readonly source: Source;
  readonly isBypassed: boolean;
  readonly isUnstored: boolean;
}

/** What goes past the cache: `proxy_cache_bypass` and `proxy_no_cache`, and the cookies that the key leaves to them. */
export function readBypass(location: CachedLocation, maps: Maps, cookies: readonly string[]): BypassPart {
  const read = new BypassReader(location, cookies);
  for (const condition of conditionsOf(location)) {
    for (const caused of causesOf(condition.text, maps, location.levels)) read.take(caused, condition);
  }
  return read.part();
}

function conditionsOf(location: CachedLocation): readonly Condition[] {
  const parametersOf = (lines: readonly Directive[]) =>
    lines.flatMap(({ args, source }) => args.map((text) => ({ text, source })));
  const bypassed = parametersOf(location.read("cache_bypass"));
  const unstored = parametersOf(location.read("no_cache"));
  const isIn = (lines: readonly { readonly text: string }[], text: string) => lines.some((each) => each.text === text);
  const all = [...bypassed, ...unstored];
  return all
    .filter(({ text }, index) => all.findIndex((each) => each.text === text) === index)
    .map(({ text, source }) => ({
      text,
      source,
      isBypassed: isIn(bypassed, text),
      isUnstored: isIn(unstored, text),
    }));
}

class BypassReader {
  readonly #location: CachedLocation;
  readonly #bypass: Readonly<Record<"cookies" | "fields" | "query", string[]>>;
  readonly #passed: PassedPaths[] = [];
  readonly #from: Source[] = [];
  readonly #differences: Difference[] = [];
  #isUnknown = false;

  constructor(location: CachedLocation, cookies: readonly string[]) {
    this.#location = location;
    this.#bypass = { cookies: [...cookies], fields: [], query: [] };
  }

  part(): BypassPart {
    const bypass = Object.fromEntries(
      Object.entries(this.#bypass)
        .filter(([, names]) => names.length > 0)
        .map(([name, names]) => [name, [...new Set(names)]]),
    );
    return {
      rules: Object.keys(bypass).length > 0 ? { bypass } : {},
      from: this.#from,
      differences: this.#differences,
      passed: this.#passed,
      isUnknown: this.#isUnknown,
    };
  }

  take(caused: Caused, condition: Condition): void {
    const { cause, from: lines, isExact } = caused;
    const { source, isUnstored } = condition;
    const sources = [source, ...lines];
    const line = lines.at(-1) ?? source;
    switch (cause.kind) {
      case "never-stored":
        this.#from.push(...sources);
        return;
      case "path": {
        this.#passed.push({ regex: cause.regex, ignoreCase: cause.ignoreCase, from: sources });
        const why = "These paths are never stored, with any query. nginx compared path and query.";
        if (!isExact) this.#differ("changed", line, why, ["stored"], { parameters: ["*"] });
        return;
      }
      case "any-query": {
        const why =
          "Pages with a query are stored, each under its own key. To store none, route them with pass, or name the parameters in bypass.query.";
        this.#differ("changed", line, why, ["stored"], { parameters: ["*"] });
        return;
      }
      case "unknown": {
        this.#isUnknown ||= isUnstored;
        const why = isUnstored
          ? `The import cannot tell which requests ${cause.variable} means, and what must not be stored must not be guessed: nothing is stored here. Name cookies, fields or parameters in bypass, and take out pass.`
          : `The import cannot tell which requests ${cause.variable} means. They are answered from the cache.`;
        this.#differ("changed", line, why, ["stored", "answer"]);
        return;
      }
      case "field":
        if (!this.#takesField(cause.name, sources, condition)) return;
        this.#bypass.fields.push(cause.name);
        break;
      case "cookies":
        this.#bypass.cookies.push(...cause.names);
        break;
      case "parameters":
        this.#bypass.query.push(...cause.names);
        break;
    }
    this.#from.push(...sources);
    this.#tellOfNames(cause, sources, isExact, condition);
  }

  /** Whether requests with the field go past the cache. Otherwise it says why they do not, if that is a difference. */
  #takesField(name: string, sources: readonly Source[], { source, isBypassed, isUnstored }: Condition): boolean {
    const requestFields = [name];
    if (name === "authorization" || name === "range") {
      this.#from.push(...sources);
      return false;
    }
    if (name === "cache-control" || name === "pragma") {
      const why =
        'Any visitor could send requests to the origin by it. The edge obeys what does no harm; requestDirectives: "all" obeys the rest.';
      this.#differ("safer", source, why, ["stored"], { requestFields });
      return false;
    }
    if (isBypassed && !isUnstored) {
      const why = `A secret in ${name} made nginx fetch the page again. Send Tidemark-Refresh with a token instead: it does the same, can be revoked, and nobody who guesses a name reaches the origin. ${name} has no effect any more.`;
      this.#differ("safer", source, why, ["stored", "answer"], { requestFields });
      return false;
    }
    return true;
  }

  /** Where requests with these names go past the cache, and nginx did something else with some of them. */
  #tellOfNames(
    cause: Cause & { readonly kind: "field" | "cookies" | "parameters" },
    sources: readonly Source[],
    isExact: boolean,
    { source, isBypassed, isUnstored }: Condition,
  ): void {
    const names = cause.kind === "field" ? [cause.name] : cause.names;
    const affects = affectedBy(cause.kind, names);
    if (!isUnstored) {
      const why = `The answer to a request with ${names.join(", ")} goes to that visitor alone. nginx stored it for everybody.`;
      this.#differ("safer", source, why, ["stored", "answer"], affects);
    } else if (!isBypassed) {
      const why = `Requests with ${names.join(", ")} always go to the origin. nginx answered them from the cache, too.`;
      this.#differ("changed", source, why, ["stored", "answer"], affects);
    } else if (!isExact) {
      const isInField = cause.kind === "cookies" && /http_cookie/.test(sources.map(({ text }) => text).join());
      const why = isInField
        ? `Cookies of these names go past the cache: ${names.join(", ")}. nginx looked for the expression anywhere in Cookie.`
        : `All requests with ${names.join(", ")} go past the cache, whatever the value.`;
      const line = sources.at(-1)!;
      this.#differ("changed", line, why, ["stored", "answer"], isInField ? { cookies: ["*"] } : affects);
    }
  }

  #differ(...difference: Parameters<CachedLocation["difference"]>): void {
    this.#differences.push(this.#location.difference(...difference));
  }
}

function affectedBy(kind: "field" | "cookies" | "parameters", names: readonly string[]): Omit<Affected, "routes"> {
  switch (kind) {
    case "field":
      return { requestFields: names };
    case "cookies":
      return { cookies: names };
    case "parameters":
      return { parameters: names };
  }
}

import type { Affected, Difference, Source } from "../../imported-site.ts";
import type { Condition } from "../conditions/conditions-of.ts";
import { ALWAYS_SENT, type Cause, type Caused, cookieNamed } from "../conditions/requests-where.ts";
import type { Expression } from "../paths/path-patterns.ts";
import type { CachedLocation, LocationPart, LocationRules } from "./cached-location.ts";
import type { KeyPart } from "./key.ts";

/** Paths below a location that are never stored. */
export interface PassedPaths extends Expression {
  readonly from: readonly Source[];
}

export interface BypassPart extends LocationPart {
  readonly passed: readonly PassedPaths[];
  /** The parts that no site setting can express, so that nothing is stored. Empty if there are none. */
  readonly because: readonly string[];
  /** True if answers that set a cookie must not be stored even without it. */
  readonly keepsSetCookie: boolean;
}

/** Any value of a field. */
const NOT_EMPTY = /./;

type ByName = Exclude<Cause, { readonly kind: "unknown" | "path" | "sets-cookie" }>;

/** Fields that browsers send with a reload. */
const SENT_ON_RELOAD = /^(?:cache-control|pragma)$/;

/**
 * The requests that bypass the cache: by the conditions on a location's way, and by the cookies that are not in the
 * key.
 */
export function readBypass(
  location: CachedLocation,
  conditions: readonly Condition[],
  key: Pick<KeyPart, "bypassedCookies" | "rules">,
): BypassPart {
  const read = new BypassReader(location, key);
  for (const condition of conditions) for (const caused of condition.caused) read.take(caused, condition);
  return read.part();
}

class BypassReader {
  readonly #location: CachedLocation;
  readonly #cookies = new Map<string, RegExp>();
  readonly #query = new Map<string, RegExp>();
  /** The patterns for the values of each field; none for any value. */
  readonly #fields = new Map<string, Map<string, RegExp>>();
  readonly #passed: PassedPaths[] = [];
  readonly #from: Source[] = [];
  readonly #differences: Difference[] = [];
  readonly #because = new Set<string>();
  readonly #leavesOutParameters: boolean;
  #hasNoQuery = false;
  #keepsSetCookie = false;

  constructor(location: CachedLocation, { bypassedCookies, rules }: Pick<KeyPart, "bypassedCookies" | "rules">) {
    this.#location = location;
    this.#leavesOutParameters = rules.key?.query?.only !== undefined;
    for (const name of bypassedCookies) this.#addCookies(cookieNamed(name));
  }

  part(): BypassPart {
    const bypass = {
      ...(this.#cookies.size > 0 && { cookies: [...this.#cookies.values()] }),
      ...(this.#fields.size > 0 && { fields: this.#pickedFields() }),
      ...(this.#hasNoQuery
        ? // In nginx, parameters count even if they are not in the key.
          { query: this.#leavesOutParameters ? [/./] : (true as const) }
        : this.#query.size > 0 && { query: [...this.#query.values()] }),
    };
    return {
      rules: Object.keys(bypass).length > 0 ? { bypass } : {},
      from: this.#from,
      differences: this.#differences,
      passed: this.#passed,
      because: [...this.#because],
      keepsSetCookie: this.#keepsSetCookie,
    };
  }

  take(caused: Caused, condition: Condition): void {
    const { cause, from: lines } = caused;
    const sources = [condition.source, ...lines];
    switch (cause.kind) {
      case "sets-cookie":
        this.#keepsSetCookie = true;
        this.#from.push(...sources);
        return;
      case "path":
        this.#takePath(cause, caused, condition, sources);
        return;
      case "unknown":
        this.#takeUnknown(cause.text, condition, lines.at(-1) ?? condition.source);
        return;
      default:
        if (!this.#takeNamed(cause, condition)) return;
        this.#from.push(...sources);
        this.#tell(cause, caused, condition, sources);
    }
  }

  #takePath(
    { kind, ...expression }: Cause & { readonly kind: "path" },
    { isExact }: Caused,
    { effect }: Condition,
    sources: readonly Source[],
  ): void {
    this.#passed.push({ ...expression, from: sources });
    const why = "These paths are never stored, with any query. nginx compared path and query.";
    if (!isExact && effect !== "other")
      this.#differ("changed", sources.at(-1)!, why, ["stored"], { parameters: ["*"] });
  }

  #takeUnknown(text: string, { source, effect }: Condition, line: Source): void {
    this.#because.add(effect === "other" ? source.text : text);
    if (effect === "other") return;
    const why = `The import cannot tell which requests ${text} means, and must not guess what is safe to store, so nothing is stored here. Name cookies, fields or parameters in bypass, and remove pass.`;
    this.#differ("changed", line, why, ["stored", "answer"]);
  }

  /** Whether requests of the cause bypass the cache. Otherwise it reports why they do not. */
  #takeNamed(cause: ByName, { source, effect }: Condition): boolean {
    switch (cause.kind) {
      case "field": {
        const { name, pattern } = cause;
        if (effect === "bypass" && name !== "authorization" && !ALWAYS_SENT.test(name)) {
          const why = SENT_ON_RELOAD.test(name)
            ? `A visitor's reload made nginx fetch the page again, and no longer reaches the origin: requestDirectives of a route tells what does.`
            : `A secret in ${name} made nginx fetch the page again. Send Tidemark-Refresh with a token instead: it does the same, a token can be revoked, and nobody can reach the origin by guessing a name. ${name} no longer has an effect.`;
          this.#differ("safer", source, why, ["stored", "answer"], { requestFields: [name] });
          return false;
        }
        const patterns = this.#fields.get(name) ?? new Map<string, RegExp>();
        const picked = pattern ?? NOT_EMPTY;
        this.#fields.set(name, patterns.set(String(picked), picked));
        return true;
      }
      case "cookies":
        this.#addCookies(cause.pattern);
        return true;
      case "query":
        this.#query.set(String(cause.pattern), cause.pattern);
        return true;
      case "any-query":
        this.#hasNoQuery = true;
        return true;
    }
  }

  /** Names whose values do not matter. */
  #pickedFields(): NonNullable<NonNullable<LocationRules["bypass"]>["fields"]> {
    const fields = [...this.#fields].map(([name, patterns]) => [name, [...patterns.values()]] as const);
    const isByName = fields.every(([, patterns]) => patterns.every((each) => each === NOT_EMPTY));
    return isByName ? fields.map(([name]) => name) : Object.fromEntries(fields);
  }

  #addCookies(pattern: RegExp): void {
    this.#cookies.set(String(pattern), pattern);
  }

  /** Requests that bypass the cache although nginx did something else with some of them. */
  #tell(cause: ByName, { isExact }: Caused, { effect, source }: Condition, sources: readonly Source[]): void {
    const affects = affectedBy(cause);
    const which = wordsFor(cause);
    if (effect === "bypass") {
      const why = `Only the visitor who sent ${which} gets the answer. nginx stored it for everybody.`;
      this.#differ("safer", source, why, ["stored", "answer"], affects);
    } else if (effect === "no-cache") {
      const why = `Requests with ${which} always go to the origin. nginx also answered them from the cache.`;
      this.#differ("changed", source, why, ["stored", "answer"], affects);
    } else if (!isExact && which !== "authorization") {
      // No credentials have the value 0, which nginx treats as empty.
      const why = `All requests with ${which} go past the cache, whatever the value.`;
      this.#differ("changed", sources.at(-1)!, why, ["stored", "answer"], affects);
    }
  }

  #differ(...difference: Parameters<CachedLocation["difference"]>): void {
    this.#differences.push(this.#location.difference(...difference));
  }
}

function wordsFor(cause: ByName): string {
  switch (cause.kind) {
    case "field":
      return cause.pattern === null ? cause.name : `${cause.name} like ${cause.pattern}`;
    case "cookies":
      return `a cookie like ${cause.pattern}`;
    case "query":
      return `a query like ${cause.pattern}`;
    case "any-query":
      return "a query";
  }
}

function affectedBy(cause: ByName): Omit<Affected, "routes"> {
  switch (cause.kind) {
    case "field":
      // A missing field also has a value: the empty one.
      return cause.pattern?.test("") ? {} : { requestFields: [cause.name] };
    case "cookies":
      return { cookies: ["*"] };
    case "query":
    case "any-query":
      return { parameters: ["*"] };
  }
}

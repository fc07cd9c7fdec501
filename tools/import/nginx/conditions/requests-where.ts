import { normalEscapes, routeSpelling } from "#tidemark/internal";
import type { Source } from "../../imported-site.ts";
import type { Directive } from "../files/directives.ts";
import type { Levels } from "../in-force.ts";
import type { Location, NewPath } from "../locations.ts";
import { escapedForRegex, isTooSlow, portableRegex } from "../paths/portable-regex.ts";
import { mayReachInto } from "../paths/reaching.ts";
import { type Comparison, comparisonOf, differsFromKey, equalsKey, IS_NOT_EMPTY, IS_TRUE } from "./comparison.ts";
import { capturedBy, type MapBlock, type MapKey, type Maps, variableIn, writtenIn } from "./maps.ts";
import { queryTail } from "./query-tail.ts";

/** Requests that a site's settings can describe. They include at least those for which a condition of nginx holds. */
export type Cause =
  /** A field with the name, and a value that matches the pattern, if there is one. A missing field is empty. */
  | { readonly kind: "field"; readonly name: string; readonly pattern: RegExp | null }
  /** The pattern is found in `Cookie`. */
  | { readonly kind: "cookies"; readonly pattern: RegExp }
  /** The pattern is found in the query as it was sent, without its `?`. */
  | { readonly kind: "query"; readonly pattern: RegExp }
  | { readonly kind: "any-query" }
  | { readonly kind: "path"; readonly regex: string; readonly ignoreCase: boolean; readonly isSent?: boolean }
  /** An answer that is never stored anyway: one that sets a cookie. */
  | { readonly kind: "sets-cookie" }
  /** All requests: a site's settings cannot express the condition. */
  | { readonly kind: "unknown"; readonly text: string };

export interface Caused {
  readonly cause: Cause;
  /** The lines of the map or of the `if`s from which the condition comes. */
  readonly from: readonly Source[];
  /** False if the cause includes more requests than the condition. */
  readonly isExact: boolean;
}

/** A line that sets a variable. */
export interface Assignment {
  readonly variable: string;
  readonly value: string;
  /** The condition of the `if` around it; `null` if it is always set. */
  readonly condition: string | null;
  readonly sources: readonly Source[];
  /** True if code sets it. */
  readonly isCode: boolean;
}

/** The context in which conditions are evaluated. */
export interface Evaluation {
  readonly maps: Maps;
  /** The assignments that run before the variables are read, in their order. */
  readonly assignments: readonly Assignment[];
  /** The variables that an expression may set, at any time. */
  readonly captured: ReadonlySet<string>;
  /** The variables whose assignments an `if` with a `break` alone may skip. */
  readonly skipped: ReadonlySet<string>;
  /** True if some of the assignments may be skipped by a `break`. */
  readonly mayBreak: boolean;
  /** The hosts of the site; empty for any. */
  readonly hosts: readonly string[];
  /** The path in `$uri` after an internal redirect; `null` for the requested path. */
  readonly newPath: NewPath | null;
  /** True if the query has changed by then. */
  readonly changesQuery: boolean;
}

/** How deep maps of maps, and variables of variables, are followed. */
const MAX_DEPTH = 12;

/** The requests for which a comparison of a text with variables holds: of `$skip`, `$cookie_a$arg_b` or a constant. */
export function requestsWhere(text: string, test: Comparison, evaluation: Evaluation, depth = 0): readonly Caused[] {
  if (depth > MAX_DEPTH) return [unknown(text)];
  if (variableIn(text) !== null) return whereVariable(text, test, evaluation, depth);
  if (!text.includes("$")) return test.holds(text) === false ? [] : [unknown(text)];
  // A text of several variables is neither empty nor 0 if one of them is not empty.
  const isOfVariablesAlone = text.replace(/\$(?:\w+|\{\w+\})/g, "") === "";
  if (test.regex !== null || test.holds("") !== false || !isOfVariablesAlone) return [unknown(text)];
  return [...text.matchAll(/\$(?:\w+|\{\w+\})/g)].flatMap(([each]) =>
    requestsWhere(each, IS_NOT_EMPTY, evaluation, depth + 1).map((found) => ({ ...found, isExact: false })),
  );
}

/** The requests for which the condition of an `if` holds, written as between its parentheses. */
export function requestsWhereIf(condition: string, evaluation: Evaluation, depth = 0): readonly Caused[] {
  const [, variable, operator, value = ""] = /^(\$\w+|\$\{\w+\})(?:\s*(!?~\*?|!?=)\s*(.*))?$/s.exec(condition) ?? [];
  if (variable === undefined) return [unknown(condition)];
  if (operator === undefined) {
    return requestsWhere(variable, IS_TRUE, evaluation, depth);
  }
  // A site with one host has it as the name of its server.
  const [host, ...others] = evaluation.hosts;
  const compared = host !== undefined && others.length === 0 ? value.replace(/^\$server_name$/, host) : value;
  const test = comparisonOf(operator, compared);
  const isConstant = operator.includes("~") || !compared.includes("$");
  if (test === null || !isConstant) return [unknown(condition)];
  return requestsWhere(variable, test, evaluation, depth);
}

/** The assignments of a block, including those within its `if`s. */
export function assignmentsOf(block: readonly Directive[]): readonly Assignment[] {
  return block.flatMap((directive) => {
    if (directive.name !== "if" || directive.block === null) return assignmentOf(directive, null);
    return directive.block.flatMap((inner) => assignmentOf(inner, directive));
  });
}

function assignmentOf({ name, args, source }: Directive, within: Directive | null): Assignment[] {
  const isCode = /^set_by_lua/.test(name);
  if (name !== "set" && !isCode) return [];
  const condition = within === null ? null : conditionOf(within);
  const sources = within === null ? [source] : [within.source, source];
  return [{ variable: variableIn(args[0] ?? "") ?? "", value: args[1] ?? "", condition, sources, isCode }];
}

/** Whether a line always sets the same. */
export function isConstant({ value, condition, isCode }: Assignment): boolean {
  return !isCode && !value.includes("$") && condition === null;
}

/**
 * The variables that the expressions of these lines, and of those within, set by named groups. Of servers and locations only
 * those count whose block is on the way of a request.
 */
export function capturesIn(block: readonly Directive[], way: Levels): readonly string[] {
  return block.flatMap(({ name, args, block: inner }) => {
    const isPlace = inner !== null && (name === "server" || name === "location");
    if (isPlace && !way.includes(inner)) return [];
    return [...[name, ...args].flatMap(capturedBy), ...capturesIn(inner ?? [], way)];
  });
}

const capturedOn = new WeakMap<Location["way"], ReadonlySet<string>>();

/**
 * The variables that an expression may set in the requests of a location. `ofMaps`: those of the lines outside of servers.
 * It is asked often for each location, and the server may have thousands.
 */
export function capturesOf(
  { way }: Pick<Location, "way">,
  server: readonly Directive[],
  ofMaps: ReadonlySet<string>,
): ReadonlySet<string> {
  const captured = capturedOn.get(way) ?? new Set([...ofMaps, ...capturesIn(server, way.flat())]);
  capturedOn.set(way, captured);
  return captured;
}

/** The text between the parentheses of an `if`. */
export function conditionOf({ args }: Directive): string {
  return args
    .join(" ")
    .replace(/^\(\s*/, "")
    .replace(/\s*\)$/, "");
}

function unknown(text: string, from: readonly Source[] = []): Caused {
  return { cause: { kind: "unknown", text }, from, isExact: false };
}

function whereVariable(text: string, test: Comparison, evaluation: Evaluation, depth: number): readonly Caused[] {
  const variable = variableIn(text)!;
  const { maps, assignments, captured } = evaluation;
  const map = maps.get(variable);
  const isAssigned = assignments.some((each) => each.variable === variable);
  // What is set replaces the result of a map.
  if (captured.has(variable) || (map && isAssigned)) return [unknown(text)];
  if (map) return whereMap(map, test, evaluation, depth);
  return isAssigned ? whereAssigned(variable, test, evaluation, depth) : whereOfRequest(text, test, evaluation);
}

function whereMap(map: MapBlock, test: Comparison, reading: Evaluation, depth: number): readonly Caused[] {
  if (map.ofHosts) return [unknown(map.of, [map.source])];
  // nginx keeps the result of a map from its first reading on, when a variable may still have had an earlier value.
  const evaluation = { ...reading, mayBreak: true };
  const isTold = (value: string) => value.includes("$") || test.holds(value) !== false;
  const held = map.entries.filter(({ value }) => isTold(value));
  const byEntry = held.flatMap(({ value, source, ...entry }) =>
    both(whereKey(map.of, entry, evaluation, depth), value, test, evaluation, depth).map((caused) => ({
      ...caused,
      from: [map.source, source, ...caused.from],
      isExact: caused.isExact && held.length === map.entries.length,
    })),
  );
  if (!isTold(map.fallback)) return byEntry;
  const otherwise = both(whereNoKey(map, evaluation, depth), map.fallback, test, evaluation, depth);
  return [...byEntry, ...otherwise.map((caused) => ({ ...caused, from: [map.source, ...caused.from] }))];
}

/**
 * The requests for which a value is chosen and the comparison holds. For a constant, those for which it is chosen;
 * otherwise the narrower of the two conditions that can be expressed.
 */
function both(
  chosen: readonly Caused[],
  value: string,
  test: Comparison,
  evaluation: Evaluation,
  depth: number,
): readonly Caused[] {
  if (!value.includes("$")) return chosen;
  const holding = requestsWhere(value, test, evaluation, depth + 1);
  const narrower = isUnknown(chosen) || (!isUnknown(holding) && holding.length < chosen.length) ? holding : chosen;
  return narrower.map((caused) => ({ ...caused, isExact: false }));
}

function isUnknown(caused: readonly Caused[]): boolean {
  return caused.some(({ cause }) => cause.kind === "unknown");
}

function whereKey(of: string, key: MapKey, evaluation: Evaluation, depth: number): readonly Caused[] {
  return requestsWhere(of, matchesKey(key), evaluation, depth + 1);
}

function matchesKey({ key, isExpression }: MapKey): Comparison {
  if (!isExpression) return equalsKey(key);
  const [, operator, regex] = /^(~\*?)(.*)$/s.exec(key)!;
  return comparisonOf(operator!, regex!)!;
}

/** The requests for which no key matches. */
function whereNoKey(map: MapBlock, evaluation: Evaluation, depth: number): readonly Caused[] {
  const variable = variableIn(map.of);
  const isForGet = (key: MapKey) => matchesKey(key).holds("GET") === true;
  if (variable === "request_method" && map.entries.some(isForGet)) return [];
  // If a key is for the empty text, all other requests have a value.
  if (map.entries.some(({ key }) => key === "")) return requestsWhere(map.of, IS_NOT_EMPTY, evaluation, depth + 1);
  return whereNotAll(map, evaluation, depth) ?? [unknown(map.of)];
}

/**
 * For a map of several variables with a key like `000`: the text differs only if one of them is not `0`. `null` for
 * other maps.
 */
function whereNotAll({ of, entries }: MapBlock, evaluation: Evaluation, depth: number): readonly Caused[] | null {
  const variables = of.match(/\$(?:\w+|\{\w+\})/g) ?? [];
  const key = entries.find((each) => each.key.length === variables.length && !each.isExpression)?.key;
  if (key === undefined || variables.length < 2 || variables.join("") !== of) return null;
  return variables.flatMap((variable, index) =>
    requestsWhere(variable, differsFromKey(key[index]!), evaluation, depth + 1),
  );
}

function whereAssigned(variable: string, test: Comparison, evaluation: Evaluation, depth: number): readonly Caused[] {
  const { assignments, mayBreak } = evaluation;
  const all = assignments.flatMap((each, at) =>
    each.variable === variable ? [{ ...each, before: { ...evaluation, assignments: assignments.slice(0, at) } }] : [],
  );
  if (all.some(({ isCode }) => isCode)) return [unknown(`$${variable}`)];
  const lastAlways = mayBreak ? -1 : all.findLastIndex(({ condition }) => condition === null);
  const counted = lastAlways === -1 ? all : all.slice(lastAlways);
  // Before it is set, a variable is empty.
  const isEmptyTold = (mayBreak || counted[0]!.condition !== null) && test.holds("") !== false;
  if (isEmptyTold) return [unknown(`$${variable}`)];
  return counted.flatMap(({ condition, value, sources, before }) => {
    if (!value.includes("$") && test.holds(value) === false) return [];
    // What it reads may be set again later.
    const found =
      condition === null
        ? requestsWhere(value, test, before, depth + 1)
        : requestsWhereIf(condition, before, depth + 1);
    return found.map((each) => ({ ...each, from: [...sources, ...each.from] }));
  });
}

/** Fields that browsers send with every request: a condition on one would cover all requests. */
export const ALWAYS_SENT = /^(?:user-agent|accept|accept-language|accept-encoding|host|connection|referer)$/;

const TOO_SLOW = "(with an expression that may take exponential time: write it without nested quantifiers)";

/** The requests for which a comparison of a request variable holds. */
function whereOfRequest(text: string, test: Comparison, evaluation: Evaluation): readonly Caused[] {
  const variable = variableIn(text)!;
  const { hosts, newPath, changesQuery } = evaluation;
  const isFalse = (...values: string[]) => values.every((value) => test.holds(value) === false);
  const looked = test.regex ?? test.without ?? null;
  if (looked !== null && isTooSlow(looked)) return [unknown(`${text} ${TOO_SLOW}`)];
  const all = [unknown(text)];
  // Other methods are never answered from the cache, and HEAD is answered as GET, unless the condition is of HEAD alone.
  if (variable === "request_method") return isFalse("GET") && (isFalse("HEAD") || !isFalse("POST")) ? [] : all;
  if (variable === "scheme") return isFalse("http", "https") ? [] : all;
  if (/^(?:host|http_host|server_name)$/.test(variable)) return hosts.length > 0 && isFalse(...hosts) ? [] : all;
  if (/^(?:uri|document_uri)$/.test(variable)) {
    if (test.regex === null || mayHoldOn(newPath, test.regex)) return all;
    return [{ cause: pathCause(test.regex), from: [], isExact: true }];
  }
  const ofField = whereField(variable, test);
  if (ofField !== null) return [ofField];
  if (!isFalse("")) return all;
  if (changesQuery && /^(?:args|query_string|is_args|arg_\w+)$/.test(variable)) return all;
  if (variable === "request_uri") return test.regex === null ? all : whereTarget(test.regex);
  if (variable === "http_cookie") return one(patternOf(test.regex ?? ANYTHING, "cookies"), text);
  if (/^(?:args|query_string|is_args)$/.test(variable)) {
    if (test.regex === null || variable === "is_args")
      return [{ cause: { kind: "any-query" }, from: [], isExact: true }];
    return one(patternOf(test.regex, "query"), text);
  }
  if (/^(?:upstream|sent)_http_set_cookie$/.test(variable)) {
    return [{ cause: { kind: "sets-cookie" }, from: [], isExact: true }];
  }
  return whereNamed(text, test);
}

/** Whether an expression may match the path after an internal redirect, and not the visitor's. */
export function mayHoldOn(newPath: NewPath | null, { source, ignoreCase }: NonNullable<Comparison["regex"]>): boolean {
  if (newPath === null) return false;
  if (newPath.kind === "index") return mayReachInto(newPath.name, source, { ignoreCase });
  return portableRegex(source, { ignoreCase })?.test(newPath.path) !== false;
}

const ANYTHING = { source: ".", ignoreCase: false };

/** Values of one cookie, parameter or field. nginx finds the name in any letter case; the site uses only the name. */
function whereNamed(text: string, test: Comparison): readonly Caused[] {
  const [, kind, name = ""] = /^(cookie|arg)_(\w+)$/i.exec(writtenIn(text)!) ?? [];
  const isExact = test.regex === null && test.holds("x") === true && test.holds("0") === true;
  if (kind?.toLowerCase() === "cookie")
    return [{ cause: { kind: "cookies", pattern: cookieNamed(name) }, from: [], isExact }];
  if (kind !== undefined) {
    const pattern = new RegExp(`(?:^|&)${escapedForRegex(name)}=`, "i");
    return [{ cause: { kind: "query", pattern }, from: [], isExact }];
  }
  const field = fieldOf(variableIn(text)!);
  if (field !== null && !ALWAYS_SENT.test(field))
    return [{ cause: { kind: "field", name: field, pattern: null }, from: [], isExact }];
  return [unknown(text)];
}

/** The field whose value a variable has, in lower case; `null` for another variable. */
function fieldOf(variable: string): string | null {
  const name = /^http_(\w+)$/.exec(variable)?.[1];
  return name === undefined || name === "cookie" || name === "host" ? null : name.replaceAll("_", "-");
}

/** A field value that matches, or does not match, an expression; `null` for other comparisons. */
function whereField(variable: string, { regex, without }: Comparison): Caused | null {
  const name = fieldOf(variable);
  const looked = regex ?? without;
  if (name === null || looked === undefined || looked === null) return null;
  const ignoreCase = looked.ignoreCase || looked.source.startsWith("(?i)");
  const bare = looked.source.replace(/^\(\?i\)/, "");
  // nginx before 1.23 reads the first of several fields of a name, and the edge reads all of them as one.
  const source = regex === null ? `^(?![^,]*(?:${bare}))` : atEachValue(bare);
  const pattern = portableRegex(source, { ignoreCase });
  // If most visitors do not send the field, a condition on its absence covers all of them.
  if (pattern === null || (pattern.test("") && !ALWAYS_SENT.test(name))) return null;
  return { cause: { kind: "field", name, pattern }, from: [], isExact: true };
}

/** The expression for a line that may have several values. */
function atEachValue(source: string): string {
  const pieces = /\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[\^$]/g;
  return source.replace(pieces, (piece) => (piece === "^" ? "(?:^|, ?)" : piece === "$" ? "(?=,|$)" : piece));
}

/** The cookie that nginx reads as `$cookie_name`, in any letter case. */
export function cookieNamed(name: string): RegExp {
  return new RegExp(`\\b${escapedForRegex(name)} *=`, "i");
}

/** An expression over path and query can match in either, or across both. */
function whereTarget(regex: NonNullable<Comparison["regex"]>): readonly Caused[] {
  // An escape may have two letter cases. In the path of a route it is in upper case, however it was sent.
  const ofOneCase = !regex.ignoreCase && !regex.source.startsWith("(?i)") && MAY_HAVE_ESCAPES.test(regex.source);
  const seen = withEscapes(regex.source);
  // Without regard to case, or to how a character is sent, what an expression forbids is more, so that it finds less.
  const forbids = (ofOneCase && FORBIDS_LETTERS.test(regex.source)) || (seen.isDecoded && FORBIDS.test(regex.source));
  if (forbids) return [unknown("$request_uri")];
  const ignoreCase = regex.ignoreCase || ofOneCase;
  const cause = { kind: "path", regex: seen.source, ignoreCase, isSent: true } as const;
  const inPath: Caused = { cause, from: [], isExact: !ofOneCase && !seen.isDecoded && !regex.source.includes("$") };
  const tail = queryTail(regex.source);
  if (tail === null) return [inPath];
  const inQuery = tail === "" ? ({ kind: "any-query" } as const) : patternOf({ ...regex, source: tail }, "query");
  return inQuery === null
    ? [unknown("$request_uri")]
    : [inPath, { cause: inQuery, from: [], isExact: tail === regex.source }];
}

/** Escapes of two digits have one case. */
const MAY_HAVE_ESCAPES = /%(?!\d\d(?![?*{]))/;
const FORBIDS_LETTERS = /\(\?<?!|\[\^(?:\\.|[^\]\\])*[a-z]/i;
const FORBIDS = /\(\?<?!/;

/**
 * An expression over a path as it was sent, with its escapes, as one over a decoded path: a class is not encoded.
 * `isDecoded`: it also finds paths that have the character itself.
 */
function withEscapes(regex: string): { readonly source: string; readonly isDecoded: boolean } {
  let isDecoded = false;
  const pieces = /\\?(%(?:[\da-f]{2}(?![?*+{]))?)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]/gi;
  const source = regex.replace(pieces, (piece, sent: string | undefined) => {
    if (sent === undefined) return piece;
    const inRoute = routeSpelling(normalEscapes(sent));
    if (inRoute.length === sent.length) return `[%]${sent.slice(1)}`;
    isDecoded = true;
    return escapedForRegex(inRoute);
  });
  return { source, isDecoded };
}

function pathCause({ source, ignoreCase }: NonNullable<Comparison["regex"]>): Cause {
  return { kind: "path", regex: source, ignoreCase };
}

function patternOf(
  { source, ignoreCase }: { readonly source: string; readonly ignoreCase: boolean },
  kind: "cookies" | "query",
): Cause | null {
  const pattern = portableRegex(source, { ignoreCase });
  return pattern === null ? null : { kind, pattern };
}

function one(cause: Cause | null, text: string): readonly Caused[] {
  return [cause === null ? unknown(text) : { cause, from: [], isExact: true }];
}

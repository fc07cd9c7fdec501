import type { CdnAnswer } from "../cdn/answer.ts";
import type { Cdn } from "../cdn/cdn.ts";
import { canonicalTarget, checkPath } from "../cdn/check-options.ts";
import { ownCacheStatus } from "../cdn/own-cache-status.ts";
import type { Reply } from "../cdn/scripted-origin.ts";
import type { SimulatedIsolate } from "../runtime/simulated-isolate.ts";
import type { ClaimResult } from "./claim-result.ts";
import { explanation, failOnEdgeError } from "./explanation.ts";

/** The visitors that request each path. */
const VISITORS: readonly (readonly [name: string, fields: Readonly<Record<string, string>>])[] = [
  ["a guest", {}],
  ["a user with a cookie", { cookie: "session=1" }],
  ["a user with a password", { authorization: "Basic dXNlcjpwYXNz" }],
];

/** A reply that may be stored unless the site's own rules forbid it. */
const STORABLE: Reply = { fields: { "cache-control": "public, max-age=3600" }, body: "only for some" };

/**
 * The claim that nothing under a pattern like `/admin/*` is ever stored. Guests and users request each path twice, and
 * none of the answers may come from the cache. The paths are those of the origin's script that match the pattern, with
 * their scripted replies, and made-up ones, which the origin answers with `public`: only the site's rules can keep these
 * out of the cache. Some are those of another route, such as `/*.json`. Throws a `TypeError` if no path can be made up of
 * the pattern, or of a route that may store some of its paths, and an `AssertionError` for an error of the edge.
 */
export async function neverStores(cdn: Cdn, pattern: string): Promise<ClaimResult> {
  if (typeof cdn?.isolateFor !== "function") {
    throw new TypeError("toNeverStore: this takes a simulated CDN, as startCdn returns it");
  }
  const origin = cdn.origin;
  if (!/^[/({*]/.test(pattern)) checkPath("toNeverStore", pattern);
  const isolate = cdn.isolateFor("toNeverStore");
  const routes = (await isolate.site())?.routes ?? [];
  const madeUp = madeUpPaths(pattern);
  // The runtime matches as the site does, and has a URLPattern on every Node.
  const own = await isolate.matching(pattern, [...new Set([...origin.targets, ...madeUp])]);
  if (own === null) throw new TypeError(`toNeverStore: ${JSON.stringify(pattern)} is not a URLPattern pathname`);
  if (madeUp.length === 0 || !madeUp.every((path) => own.includes(path))) {
    throw new TypeError(`no path can be made up that ${pattern} matches: name the paths themselves`);
  }
  const mayStore = routes.filter(({ match, pass }) => !pass && mayShareAPath(match, pattern));
  await Promise.all(mayStore.map(({ match }) => checkHasPath(match, origin.targets, isolate)));
  const patterns = routes.map(({ match }) => match);
  const possible = new Set([...madeUp, ...patterns.flatMap((route) => pathsOfOther(pattern, route))]);
  // Their replies are the script's own, so that they do not show what the site's rules allow.
  for (const target of origin.targets) possible.delete(target);
  const ofPattern = (await isolate.matching(pattern, [...possible])) ?? [];
  const paths = new Set([...own, ...(await oneOfEach(patterns, ofPattern, isolate))]);
  return origin.withDefaultReply(STORABLE, async () => {
    for (const path of paths) {
      for (const [visitor, fields] of VISITORS) {
        const answers = [await cdn.get(path, { fields }), await cdn.get(path, { fields })];
        const stored = answers.find(isStored);
        if (stored) {
          const failure = `expected nothing under ${pattern} to be stored, but ${path} was when ${visitor} requested it`;
          return { holds: false, failure, negatedFailure: "", explanation: () => explanation(stored) };
        }
        for (const answer of answers) await failOnEdgeError(answer, `anything under ${pattern} is stored`);
      }
    }
    const negatedFailure = `expected something under ${pattern} to be stored, but nothing was: ${[...paths].join(", ")}`;
    return { holds: true, failure: "", negatedFailure };
  });
}

/** False if no path has both patterns, as their first segments show. */
function mayShareAPath(pattern: string, other: string): boolean {
  const [start, otherStart] = [pattern, other].map((each) => /^(?:\/[\w-]+)*/.exec(each)![0]) as [string, string];
  return start.startsWith(otherStart) || otherStart.startsWith(start);
}

/** Throws a `TypeError` for a route of which neither the origin's script nor the claim has a path. */
async function checkHasPath(route: string, targets: readonly string[], isolate: SimulatedIsolate): Promise<void> {
  const found = await isolate.matching(route, [...targets, ...madeUpPaths(route)]);
  if (found?.length !== 0) return;
  throw new TypeError(`no path can be made up of the route ${route}: add a path of it to the origin's script`);
}

/** One path of each route that has some: its rules are the same for all of them. */
async function oneOfEach(
  routes: readonly string[],
  paths: readonly string[],
  isolate: SimulatedIsolate,
): Promise<string[]> {
  const found: string[] = [];
  let rest = paths;
  for (const route of routes) {
    if (rest.length === 0) break;
    const [first, ...others] = (await isolate.matching(route, rest)) ?? [];
    if (first === undefined) continue;
    found.push(first);
    const ofRoute = new Set([first, ...others]);
    rest = rest.filter((path) => !ofRoute.has(path));
  }
  return [...found, ...rest.slice(0, 1)];
}

function isStored({ xCache, cacheStatus }: CdnAnswer): boolean {
  const { stored, ttlS } = ownCacheStatus(cacheStatus);
  return xCache === "HIT" || stored || ttlS !== null;
}

/** A class of a regular expression, like `[a-z]`. */
const CLASS = String.raw`\[(?:\\.|[^\\\]])*\]`;

/** A group of a pattern, with up to seven levels of others in it, as imported routes have them. */
const GROUP = Array.from({ length: 8 }).reduce<string>(
  (inner) => String.raw`\((?:\\.|${CLASS}|[^\\()[]|${inner})*\)`,
  "(?!)",
);

/** The pieces of a pattern that are not the text of a path. A slash before a group is left out with it. */
const PIECES = new RegExp(
  String.raw`\\(.)|\{((?:\\.|[^\\{}])*)\}([?*+]?)|(\/?)(?:(?::[\w$]+)?(${GROUP})|(:[\w$]+)|\*)([?*+]?)`,
  "gs",
);

/** Paths that the pattern should match, with its parts that may be absent and without them. */
function madeUpPaths(text: string): string[] {
  return [true, false].flatMap((isWhole) => {
    const [shortest, ...longer] = ["", "a", "a/b"].map((rest) => madeUp(text, rest, isWhole));
    return sendable([shortest!, ...longer, `${shortest}?a=1`]);
  });
}

/**
 * Paths that the pattern may match and another route may, too: those of the route itself, and those that end like its
 * own, such as `/admin/a.json` for the pattern `/admin/*` and the route `/:name.json`.
 */
function pathsOfOther(text: string, route: string): string[] {
  const endings = endingsOf(route).flatMap((ending) => [`a${ending}`, `a/b${ending}`, ending.replace(/^\//, "")]);
  return [
    ...madeUpPaths(route),
    ...sendable(endings.flatMap((ending) => [madeUp(text, ending, true), madeUp(text, ending, true, ending)])),
  ];
}

/** Those of the texts that are paths, spelled as the origin sees them. `/:lang?` matches an empty text, too. */
function sendable(texts: readonly string[]): string[] {
  return texts.filter((text) => text.startsWith("/")).map(canonicalTarget);
}

/** What paths of a pattern have behind each of its pieces. */
function endingsOf(text: string): string[] {
  return [...text.matchAll(PIECES)].flatMap((piece) => {
    const [whole, escaped, inner] = piece;
    if (escaped !== undefined) return [];
    const ending = madeUp(text.slice(piece.index + whole.length), "a", true);
    return [ending, ...endingsOf(inner ?? "").map((innerEnding) => innerEnding + ending)];
  });
}

/** `rest` stands for a `*`, and `one` for a parameter. */
function madeUp(text: string, rest: string, isWhole: boolean, one = "a"): string {
  return text.replace(PIECES, (_, escaped, inner, times, slash, group, name, groupTimes) => {
    if (escaped !== undefined) return escaped;
    if (!isWhole && /[?*]/.test(times ?? groupTimes)) return "";
    if (inner !== undefined) return madeUp(inner, rest, isWhole, one);
    return slash + (group !== undefined ? firstMatch(group, one) : name !== undefined ? one : rest);
  });
}

/** A text that a group like `(de|en)` or `(\d+)` matches, as far as one is easy to find: `one`, if it does. */
function firstMatch(group: string, one: string): string {
  const texts = textsOf(group.slice(1, -1));
  return [one, ...texts].find((each) => matches(group, each)) ?? texts[0]!;
}

/** The parts of a regular expression, each with how often it may stand there. */
const PARTS = new RegExp(String.raw`(\\p\{[^{}]*\}|\\.|${CLASS}|${GROUP}|.)([?*+]|\{\d+(?:,\d*)?\})?\??`, "gis");

/** A text for each alternative of a regular expression. Parts that may be absent are, and what it looks for ends the text. */
function textsOf(expression: string): readonly string[] {
  const texts: [text: string, end: string][] = [["", ""]];
  for (const [, part, times = ""] of expression.matchAll(PARTS)) {
    const last = texts.at(-1)!;
    if (part === "|") texts.push(["", ""]);
    else if (/^\(\?<?=/.test(part!)) last[1] += textOf(part!);
    else if (times !== "?") last[0] += textOf(part!).repeat(Number(/\d+/.exec(times)?.[0] ?? 1));
  }
  return texts.map(([text, end]) => text + end);
}

function textOf(part: string): string {
  const inner = /^\((?:\?(?::|<?=))?(?!\?)(.*)\)$/s.exec(part)?.[1];
  return inner === undefined ? (["a", "1", ...part].find((each) => matches(part, each)) ?? "") : textsOf(inner)[0]!;
}

/** Whether an expression matches the whole text; false for one that is none. */
function matches(expression: string, text: string): boolean {
  try {
    return new RegExp(`^(?:${expression})$`, "v").test(text);
  } catch {
    return false;
  }
}

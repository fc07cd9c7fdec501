import type { SlowExpression } from "../../wire/site-review.ts";
import { readPattern } from "../rules/key/text-pattern.ts";
import { mayTakeExponentialTime } from "./exponential-time.ts";
import type { BypassInput, SiteInput } from "./site-input.ts";

/**
 * The owner's regular expressions by which one request could keep a worker busy for years. Those that take a power of a
 * text's length are not among them: many common ones do, like `.*a.*b`.
 */
export function slowExpressions({ bypass, routes = [] }: SiteInput): readonly SlowExpression[] {
  return [
    ...slowBypasses("bypass", bypass),
    ...routes.flatMap((route, index) => [
      ...slowMatch(`routes[${index}].match`, route.match),
      ...slowBypasses(`routes[${index}].bypass`, route.bypass),
    ]),
  ];
}

function slowMatch(place: string, match: string): SlowExpression[] {
  return mayTakeExponentialTime(sourceOf(match)) ? [{ place, expression: match }] : [];
}

function slowBypasses(place: string, { cookies = [], fields = {}, query = [] }: BypassInput = {}): SlowExpression[] {
  const byField = Array.isArray(fields) ? [] : Object.entries(fields as Readonly<Record<string, readonly RegExp[]>>);
  const lists: readonly (readonly [string, readonly (string | RegExp)[]])[] = [
    ["cookies", cookies],
    ...byField.map(([name, patterns]) => [`fields.${name}`, patterns] as const),
    ["query", typeof query === "boolean" ? [] : query],
  ];
  return lists.flatMap(([name, texts]) =>
    texts.flatMap((text) => {
      const pattern = readPattern(String(text));
      const isSlow = pattern !== null && mayTakeExponentialTime(pattern.source, pattern.flags);
      return isSlow ? [{ place: `${place}.${name}`, expression: String(pattern) }] : [];
    }),
  );
}

/** The expression that a URLPattern makes of a pathname, as far as it matters here. */
function sourceOf(match: string): string {
  return match.replace(PIECES, (piece, slash: string | undefined, name, named, unnamed, modifier) => {
    // A slash before a group is repeated with it.
    if (slash !== undefined) return `(?:${slash}${named ?? unnamed ?? (name ? "[^/]+?" : "(?:.*)")})${modifier}`;
    if (piece.startsWith("}")) return `)${piece.slice(1)}`;
    if (piece === "{") return "(?:";
    return /^[.^$|[\]*+?]$/.test(piece) ? `\\${piece}` : piece;
  });
}

/** A parenthesis, with two levels of others in it. */
const GROUP = ["", "", ""].reduce<string>((inner) => String.raw`\((?:\\.|[^\\()]${inner && `|${inner}`})*\)`, "");
const PIECES = new RegExp(String.raw`\\.|(\/?)(?:(:[\w$]+)(${GROUP})?|(${GROUP})|\*)([*+?]?)|\}[*+?]?|.`, "gs");

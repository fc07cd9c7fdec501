import * as z from "zod/mini";
import type { DeltaRules } from "../rules/deltas/dictionary-use.ts";
import { SiteError } from "./site-error.ts";
import type { RouteInput, SiteInput } from "./site-input.ts";
import { IN_WORDS, siteErrors } from "./site-issues.ts";
import { durationMs } from "./units.ts";

/** The rules of the routes with `deltas`, by their patterns. */
export type DeltaSettings = ReadonlyMap<string, DeltaRules>;

const MAX_KEEP_MS = 90 * 24 * 3_600_000;

const deltas = z.strictObject(
  {
    match: z.optional(
      z
        .string()
        .check(
          z.regex(/^\/[\x21-\x7e]*$/, "is not the pattern of a path: it begins with /, and has no spaces"),
          z.refine(
            isPlainPattern,
            "is not a URL pattern that browsers accept here: leave out regular expressions and queries",
          ),
        ),
    ),
    keep: z.prefault(
      durationMs.check(z.refine((ms: number) => ms > 0 && ms <= MAX_KEEP_MS, "is not between 1ms and 90d")),
      "24h",
    ),
  },
  {
    error: ({ code }) =>
      code === "invalid_type"
        ? "can only be true, or an object with match and keep; otherwise leave it out"
        : undefined,
  },
);

const schema = z.object({ routes: z.array(z.object({ deltas: z.optional(deltas) })) });

/**
 * The rules for deltas of a site whose other settings are in order. Throws `SiteError`, also for a route whose pages could
 * never be dictionaries.
 */
export function deltaSettings({ compression, routes = [] }: Pick<SiteInput, "compression" | "routes">): DeltaSettings {
  const whole = { routes: routes.map((route) => (route.deltas === true ? { ...route, deltas: {} } : route)) };
  const checked = schema.safeParse(whole, IN_WORDS);
  if (!checked.success) throw new SiteError(siteErrors(checked.error, schema, whole));
  const having = checked.data.routes.flatMap(({ deltas: given }, index) => {
    if (given === undefined) return [];
    const { match = null, keep: keepMs } = given;
    return [{ index, route: routes[index]!, rules: { match, keepMs } }];
  });
  const errors = having.flatMap(({ index, route }) => {
    const message = compression === undefined ? NEEDS_COMPRESSION : whyNever(route);
    return message === null ? [] : [{ path: `routes[${index}].deltas`, message }];
  });
  if (errors.length > 0) throw new SiteError(errors);
  // Of two routes with the same pattern the first one counts.
  return new Map(having.reverse().map(({ route, rules }) => [route.match, rules]));
}

const NEEDS_COMPRESSION =
  "needs the site's compression, for visitors who have no older version: write compression: {} beside routes";

/** Why no page of a route could be a dictionary; `null` if one could. */
function whyNever({ pass, key = {}, browserTtl }: RouteInput): string | null {
  if (pass) return "needs stored pages, but pass: true stores none";
  const { query: _, ...selecting } = key;
  const [named] = Object.entries(selecting).flatMap(([name, value]) => (isNothing(value) ? [] : [name]));
  if (named !== undefined) return `needs pages that are keyed only by their path: leave out key.${named}`;
  if (browserTtl !== undefined && /^0/.test(browserTtl) && Number.parseFloat(browserTtl) === 0) {
    return "needs pages that browsers may keep for a while, but browserTtl allows no time";
  }
  return null;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === false || (typeof value === "object" && Object.keys(value!).length === 0);
}

function isPlainPattern(text: string): boolean {
  if (/[?#]/.test(text)) return false;
  try {
    return !new URLPattern(text, "https://localhost/").hasRegExpGroups;
  } catch {
    return false; // URLPattern throws on an invalid pattern
  }
}

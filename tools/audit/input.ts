import { withParameter } from "./target.ts";

/** A part of a request by which an origin may choose its answer. */
export interface Input {
  readonly kind: "parameter" | "field" | "cookie";
  /** Of a field in lower case. */
  readonly name: string;
  readonly value: string;
}

/** A made-up name, which can be found again on a page. */
const NOBODY = "tidemark-audit.example";

/** Inputs that visitors send and that origins are known to use without naming them in Vary. */
export const USUAL_INPUTS: readonly Input[] = [
  ...(
    [
      ["x-forwarded-host", NOBODY],
      ["x-forwarded-scheme", "http"],
      ["x-forwarded-prefix", "/tidemark-audit"],
      ["x-host", NOBODY],
      ["origin", `https://${NOBODY}`],
      ["accept-language", "de"],
      ["accept", "application/json"],
      ["user-agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148"],
      ["x-requested-with", "XMLHttpRequest"],
      ["hx-request", "true"],
      ["save-data", "on"],
    ] as const
  ).map(([name, value]) => ({ kind: "field" as const, name, value })),
  ...(
    [
      ["utm_source", "tidemark-audit"],
      ["lang", "de"],
      ["page", "2"],
      ["format", "json"],
      ["callback", "tidemarkAudit"],
    ] as const
  ).map(([name, value]) => ({ kind: "parameter" as const, name, value })),
  ...(
    [
      ["lang", "de"],
      ["locale", "de"],
      ["theme", "dark"],
      ["currency", "EUR"],
      ["country", "DE"],
    ] as const
  ).map(([name, value]) => ({ kind: "cookie" as const, name, value })),
];

/** The same parameter with another value: the next number, or a longer word. */
export function changedParameter([name, value]: readonly [name: string, value: string]): Input {
  return { kind: "parameter", name, value: /^\d{1,9}$/.test(value) ? String(Number(value) + 1) : `${value}x` };
}

/** A request's path and fields with these inputs. Cookies join those that are there. */
export function applyInputs(
  path: string,
  fields: Readonly<Record<string, string>>,
  inputs: readonly Input[],
): { readonly path: string; readonly fields: Readonly<Record<string, string>> } {
  let changedPath = path;
  const changed = { ...fields };
  for (const { kind, name, value } of inputs) {
    if (kind === "parameter") changedPath = withParameter(changedPath, name, value);
    else if (kind === "field") changed[name] = value;
    else changed.cookie = [...(changed.cookie === undefined ? [] : [changed.cookie]), `${name}=${value}`].join("; ");
  }
  return { path: changedPath, fields: changed };
}

/** `the field x-host`, `the cookie lang`. */
export function inputText({ kind, name }: Input): string {
  return `the ${kind} ${name}`;
}

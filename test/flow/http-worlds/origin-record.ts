/** What the origin was asked and has answered: the witness against which each answer of the edge is judged. */
export interface Given {
  /** Its number, from 1 on, which is also in its body and in its field `x-fetch`. */
  readonly number: number;
  /** When it was given: epoch milliseconds. */
  readonly at: number;
  readonly host: string;
  readonly target: string;
  readonly method: string;
  /** The fields of the request, as the origin got them. */
  readonly asked: Readonly<Record<string, string>>;
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  /** The whole page, also for a HEAD, a part, or a body that broke off; empty for a 304. */
  readonly text: string;
  readonly isCutOff: boolean;
}

/** An answer's number by its field; `null` if it is of the edge's own making. */
export function numberIn(fields: Readonly<Record<string, string>>): number | null {
  return fields["x-fetch"] === undefined ? null : Number(fields["x-fetch"]);
}

/** The text of a page: texts of one version are equally long, and those of different ones are not. */
export function textOf(number: number, host: string, target: string, version: number): string {
  return `#${String(number).padStart(5, "0")} ${host}${target} v${version} ${"0123456789".repeat(4)}${"x".repeat(version % 7)}.`;
}

/** The number at the beginning of a whole text; `null` if there is none. */
export function numberAtStart(text: string): number | null {
  const [, digits] = /^#(\d{5}) /.exec(text) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** The cookies that tell visitors apart: all but those of analytics. */
export function visitorsCookie(fields: Readonly<Record<string, string | undefined>>): string {
  const cookies = (fields.cookie ?? "").split("; ");
  return cookies.filter((cookie) => cookie.startsWith("sid=")).join("; ");
}

/** What of a request chooses where `Vary` has this name. */
export function chosenBy(fields: Readonly<Record<string, string | undefined>>, name: string): string {
  return name === "cookie" ? visitorsCookie(fields) : (fields[name] ?? "");
}

/** The names in a page's `Vary` but for the coding, which its bytes show. */
export function variesBy({ fields }: Given): readonly string[] {
  return (fields.vary ?? "").split(/, */).filter((name) => name !== "" && name !== "accept-encoding");
}

/** An entity tag as it is compared weakly. */
export function weakly(tag: string): string {
  return tag.replace(/^W\//, "");
}

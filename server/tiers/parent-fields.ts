import type { ParentAge } from "../../worker/ports/origin.ts";
import { type ReceiptToken, writeReceiptToken } from "../../worker/rules/request/receipt-token.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";

/*
 * The fields between a child and its parent. Visitors may send the same: the request fields count with the right token
 * alone, and none of them reaches an origin, because their names begin with `tidemark-`.
 */

/** A request field: the token with the scope `parent`. */
export const PARENT_TOKEN_FIELD = "tidemark-parent-token";
/** A request field: what the child tells of itself and of its visitor. */
export const CHILD_FIELD = "tidemark-child";
/** A response field: what the parent tells of the answer. No visitor gets it. */
export const PARENT_FIELD = "tidemark-parent";

/** No log has this number, so only the origin can answer what waits for it. */
export const NOWHERE: ReceiptToken = { logId: "", seq: Number.MAX_SAFE_INTEGER, isBinding: true };

/** A position as `Tidemark-After` has it. `none`: nothing that was stored before may answer. */
export function writePosition(position: Stamp | null): string {
  return position === null || position.logId === "" ? "none" : writeReceiptToken(position);
}

/** Anything that is not a position counts as `none`. */
export function readPosition(text: string | null): ReceiptToken {
  const position = positionIn(text);
  return position === null ? NOWHERE : { ...position, isBinding: true };
}

/** Unlike a receipt's token it may have the number 0: of a log without a purge. */
function positionIn(text: string | null): Stamp | null {
  const [, logId, seq] = /^([A-Za-z0-9-]{1,64})\.(0|[1-9][0-9]{0,14})$/.exec(text ?? "") ?? [];
  return logId === undefined ? null : { logId, seq: Number(seq) };
}

/** What a child tells. */
export interface ToldByChild {
  /** Its name in `CDN-Loop`. */
  readonly node: string;
  /** A fingerprint of its rules. */
  readonly rules: string;
  readonly scheme: "http" | "https";
  /** The host that the visitor asked for. */
  readonly host: string;
  /** The visitor's address and country; `null` if they are not known. */
  readonly clientAddress: string | null;
  readonly country: string | null;
  /** How long it waits for the head of the answer: milliseconds; `null` if that is not known. */
  readonly waitsMs: number | null;
  /** Whether the visitor is an editor, whose turn at the origin comes first. */
  readonly isOfEditor: boolean;
}

export function writeChild({ clientAddress, waitsMs, isOfEditor, ...plain }: ToldByChild): string {
  const waits = waitsMs === null ? null : String(waitsMs);
  return writeMembers({ ...plain, for: clientAddress, waits, editor: isOfEditor ? "yes" : null });
}

/** `null` for anything that no child sends. */
export function readChild(text: string | null): ToldByChild | null {
  const members = readMembers(text);
  const { node, rules, scheme, host, waits = "" } = members;
  if (!node || !rules || !host || (scheme !== "http" && scheme !== "https")) return null;
  const waitsMs = MILLISECONDS.test(waits) ? Number(waits) : null;
  const { for: clientAddress = null, country = null, editor } = members;
  return { node, rules, scheme, host, clientAddress, country, waitsMs, isOfEditor: editor === "yes" };
}

/** What a parent tells of an answer. */
export interface ToldByParent {
  /** The position that the answer honours, as it came with the request. */
  readonly after: string;
  /** How far the parent has read the log. */
  readonly position: Stamp | null;
  /** How long before the request the answer was fetched, and its age: milliseconds. */
  readonly parentAge: ParentAge;
  /** Whether the rules of the two are the same. */
  readonly hasSameRules: boolean;
  /** Whether the origin has said where the body ends. The parent's own answers always say where they end. */
  readonly isFramed: boolean;
  /** Whether the parent gives it because it got no answer of the origin. */
  readonly isOriginLost: boolean;
}

export function writeParent(told: ToldByParent): string {
  const { after, position, parentAge, hasSameRules, isFramed, isOriginLost } = told;
  return writeMembers({
    after,
    position: writePosition(position),
    held: String(parentAge.fetchedBeforeMs),
    age: String(parentAge.ageMs),
    rules: hasSameRules ? "same" : "other",
    framed: isFramed ? "yes" : "no",
    origin: isOriginLost ? "lost" : null,
  });
}

/** `null` if it is not from a parent. */
export function readParent(text: string | null): ToldByParent | null {
  const { after, position, held = "", age = "", rules, framed, origin } = readMembers(text);
  if (!after || !position || !MILLISECONDS.test(held) || !MILLISECONDS.test(age)) return null;
  return {
    after,
    position: positionIn(position),
    parentAge: { fetchedBeforeMs: Number(held), ageMs: Number(age) },
    hasSameRules: rules === "same",
    isFramed: framed === "yes",
    isOriginLost: origin === "lost",
  };
}

const MILLISECONDS = /^\d{1,15}$/;

/** Parameters with quoted values, which hold neither quotes nor backslashes. */
function writeMembers(members: Readonly<Record<string, string | null>>): string {
  const known = Object.entries(members).filter((member): member is [string, string] => member[1] !== null);
  return known.map(([name, value]) => `${name}="${value.replace(/[^\x20-\x7e]|["\\]/g, "")}"`).join(", ");
}

function readMembers(text: string | null): Partial<Record<string, string>> {
  const members = [...(text ?? "").matchAll(/([a-z]+)="([^"\\]*)"/g)];
  return Object.fromEntries(members.map(([, name, value]) => [name!, value!]));
}

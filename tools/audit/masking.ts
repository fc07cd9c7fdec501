import { printable, speaksOfCredentials } from "#tidemark/internal";
import type { Mark } from "./marks.ts";

/** The longest piece of an answer that a report shows. */
const MAX_SHOWN = 48;

/** A shorter secret could be part of other words, so it counts only as a whole word. */
const MIN_WITHIN_WORDS = 4;

/** Letters mixed with digits of this length may be a secret; a name has only letters, and a number only digits. */
const TOKEN = /[A-Za-z0-9+/_=-]{8,}/g;

/** A mark as a report may show it: cut, and without secrets, because reports end up in the logs of CI. */
export function shownMark({ where, text }: Mark, secrets: readonly string[]): string {
  if (where === "Set-Cookie") return cookieShown(text);
  if (speaksOfCredentials(where.toLowerCase())) return masked(text);
  return shownText(text, secrets);
}

/** A text of an answer, cut, with credentials and everything that looks like a token masked. */
function shownText(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) shown = withoutSecret(shown, secret);
  shown = shown.replace(TOKEN, (run) => (/\d/.test(run) && /[A-Za-z]/.test(run) ? masked(run) : run));
  const safe = printable(shown);
  return safe.length > MAX_SHOWN ? `${safe.slice(0, MAX_SHOWN - 1)}…` : safe;
}

function withoutSecret(text: string, secret: string): string {
  if (secret === "") return text;
  if (secret.length >= MIN_WITHIN_WORDS) return text.replaceAll(secret, masked(secret));
  const escaped = secret.replace(/[^A-Za-z0-9]/g, (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "gu"), () => masked(secret));
}

function cookieShown(pair: string): string {
  const equals = pair.indexOf("=");
  return `${printable(pair.slice(0, equals))}=${masked(pair.slice(equals + 1))}`;
}

/** `3fa… (32 characters)`: enough for its owner to recognize it. */
function masked(text: string): string {
  return `${text.length < 16 ? "" : printable(text.slice(0, 3))}… (${text.length} characters)`;
}

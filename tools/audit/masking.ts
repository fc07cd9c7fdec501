import { printable, speaksOfCredentials } from "../../internal.ts";
import type { Mark } from "./marks.ts";

/** The longest piece of an answer that a report shows. */
const MAX_SHOWN = 48;

/** A secret this short would be found everywhere. */
const MIN_SECRET = 4;

/** A mark as a report may show it: cut, and without secrets, because reports end up in the logs of CI. */
export function shownMark({ where, text }: Mark, secrets: readonly string[]): string {
  if (where === "Set-Cookie") return cookieShown(text);
  if (speaksOfCredentials(where.toLowerCase())) return masked(text);
  return shownText(text, secrets);
}

/** A text of an answer, cut, with credentials and everything that looks like a token masked. */
function shownText(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) if (secret.length >= MIN_SECRET) shown = shown.replaceAll(secret, masked(secret));
  shown = shown.replace(/[A-Za-z0-9+/_=-]{20,}/g, (run) =>
    /\d/.test(run) && /[A-Za-z]/.test(run) ? masked(run) : run,
  );
  const safe = printable(shown);
  return safe.length > MAX_SHOWN ? `${safe.slice(0, MAX_SHOWN - 1)}…` : safe;
}

function cookieShown(pair: string): string {
  const equals = pair.indexOf("=");
  return `${printable(pair.slice(0, equals))}=${masked(pair.slice(equals + 1))}`;
}

/** `3fa… (32 characters)`: enough to find it again for who has it. */
function masked(text: string): string {
  return `${text.length < 16 ? "" : printable(text.slice(0, 3))}… (${text.length} characters)`;
}

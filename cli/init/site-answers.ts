import { readSocket } from "../../package/unix-socket.ts";
import { shownValue } from "../../wire/text/shown-value.ts";

/** The answers about a site that `tidemark init` needs. */
export interface SiteAnswers {
  /** Where the site is now: scheme, host and port; for a server also `unix:/run/app.sock`. `null`: it is the worker of the project's wrangler config. */
  readonly origin: string | null;
  /** The public host name. */
  readonly host: string;
  /** The first segments of paths that are never stored, like `/admin`; empty for all paths. */
  readonly passed: readonly string[];
}

/** An answer that cannot be used. The message says how to write one. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
}

/** Localhost, and IP addresses, for which there is rarely a certificate. */
const WITHOUT_TLS = /^(.+\.)?localhost$|^[\d.]+$|^\[/;

/** `https://origin.example.com`, with the scheme added if it is missing. Throws `AnswerError`. */
export function originOf(text: string): string {
  const given = text.trim();
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(given);
  const scheme = WITHOUT_TLS.test(URL.parse(`http://${given}`)?.hostname ?? "") ? "http" : "https";
  const url = URL.parse(hasScheme ? given : `${scheme}://${given}`);
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "";
  if (!isAddress || url.username !== "" || url.hash !== "") {
    throw new AnswerError(`${shownValue(text)} is not an address like https://origin.example.com, without a path`);
  }
  return url.origin;
}

/** As `originOf`, or the Unix socket of a site on the server's machine: `unix:/run/app.sock`. Throws `AnswerError`. */
export function serverOriginOf(text: string): string {
  return readSocket(text.trim()) ?? originOf(text);
}

/** `www.example.com`, also read from a URL. Throws `AnswerError`. */
export function hostOf(text: string): string {
  const given = text
    .trim()
    .replace(/^https?:\/\//i, "")
    .replace(/\/$/, "");
  const url = URL.parse(`http://${given}`);
  if (url === null || given === "" || /[/?#@*\s:]/.test(given)) {
    throw new AnswerError(`${shownValue(text)} is not a host name like www.example.com, without scheme, port and path`);
  }
  return url.hostname;
}

/** `/admin, /cart` as a list; each includes everything below it. Throws `AnswerError`. */
export function passedOf(text: string): readonly string[] {
  const paths = text.split(",").map((each) => each.trim());
  const given = paths.filter((path) => path !== "").map((path) => path.replace(/(\/\*|\/)$/, ""));
  const wrong = given.find((path) => !/^(\/[\w.~-]+)*$/.test(path));
  if (wrong !== undefined) {
    throw new AnswerError(`${JSON.stringify(wrong)} is not a path like /admin; separate several with commas`);
  }
  return [...new Set(given)];
}

/** Checks that the answers fit together. Throws `AnswerError`. */
export function checkAnswers({ origin, host }: Pick<SiteAnswers, "origin" | "host">): void {
  if (origin === null || new URL(origin).hostname !== host) return;
  throw new AnswerError(
    `the origin, ${origin}, has the public host's name, so each request would come back to the edge. Give the server ` +
      `behind it a name of its own, like https://origin.${host.replace(/^www\./, "")}, and name that as the origin`,
  );
}

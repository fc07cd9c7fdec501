import { PurgeError } from "./purge-error.ts";
import type { PurgerOptions } from "./purger-options.ts";

/** Where the edge is and what opens it. */
export interface Settings {
  /** The origin as a URL writes it, like `https://www.example.com`. */
  endpoint: string;
  token: string;
}

/**
 * Takes the settings from the options, else from the environment; an empty value counts as none. No message repeats a
 * value: what stands in the wrong variable may be the token.
 */
export function findSettings(options: PurgerOptions, environment: Record<string, string | undefined>): Settings {
  const endpoint = (options.endpoint || environment.TIDEMARK_ENDPOINT || "").trim();
  const token = (options.token || environment.TIDEMARK_TOKEN || "").trim();
  if (endpoint === "") throw notConfigured(`There is no endpoint. ${HOW}`);
  if (token === "") throw notConfigured(`There is no token. ${HOW}`);
  // RFC 6750 §2.1 allows fewer characters; these are the ones that a field value can carry.
  if (!/^[!-~]+$/.test(token)) {
    const source = options.token ? "The option token" : "TIDEMARK_TOKEN";
    throw notConfigured(`${source} holds characters that cannot be sent. Was it copied whole, and without quotes?`);
  }
  return { endpoint: originOf(endpoint, options.endpoint ? "The option endpoint" : "TIDEMARK_ENDPOINT"), token };
}

const HOW =
  "Set TIDEMARK_ENDPOINT to the site's origin, like https://www.example.com, and TIDEMARK_TOKEN to a token of its " +
  "edge, or give createPurger the options endpoint and token.";

function originOf(endpoint: string, source: string): string {
  const url = URL.parse(endpoint);
  const isOrigin =
    (url?.protocol === "https:" || url?.protocol === "http:") &&
    url.pathname === "/" &&
    `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (!isOrigin) {
    throw notConfigured(
      `${source} is not an origin. It is https:// or http://, a host, perhaps a port, and nothing else: ` +
        "https://www.example.com or http://localhost:8787.",
    );
  }
  return url.origin;
}

function notConfigured(message: string): PurgeError {
  return new PurgeError(message, { code: "not-configured", retryable: false, attempts: 0 });
}

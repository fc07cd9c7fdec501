/** The origin as its owner names it, and as it is connected to. */
export interface OriginAddress {
  /** An http or https URL without a trailing slash, for `Host` and for links. */
  readonly url: string;
  /** The unix socket to connect to instead of the URL's host; `null` for none. */
  readonly socketPath: string | null;
}

/** The address as its owner would write it. */
export function addressText({ url, socketPath }: OriginAddress): string {
  return socketPath === null ? url : `unix:${socketPath}`;
}

/**
 * Reads the origin's address: a URL, or `unix:/run/gunicorn.sock`, whose requests carry `Host: localhost`. `null` if it
 * is neither.
 */
export function readOriginAddress(text: string): OriginAddress | null {
  const path = /^unix:(?:\/\/)?(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { url: "http://localhost", socketPath: path };
  const url = URL.parse(text);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  return { url: text.replace(/\/+$/, ""), socketPath: null };
}

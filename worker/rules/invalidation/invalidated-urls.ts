import { isSafeMethod } from "./safe-method.ts";

/**
 * The URLs, absolute and without fragment, whose stored responses an unsafe request invalidates: its own, and those
 * that its answer names in `Location` and `Content-Location`, or it has as `destination`, on the same origin, because a
 * site must not invalidate the pages of another. RFC 9111 §4.4. Only an answer that is not an error invalidates. `url` is
 * the absolute public URL of the request, and the fields are as clients see them. References are resolved against it;
 * malformed ones are ignored.
 */
export function invalidatedUrls(
  method: string,
  status: number,
  url: string,
  location: string | null,
  contentLocation: string | null,
  destination: string | null,
): readonly string[] {
  if (isSafeMethod(method) || status < 200 || status > 399) return [];
  const target = URL.parse(url);
  if (!target) return [];
  const named = [location, contentLocation, destination].flatMap((text) =>
    text === null ? [] : (URL.parse(text, target.href) ?? []),
  );
  const sameOrigin = named.filter(
    ({ protocol, host, username, password }) =>
      protocol === target.protocol && host === target.host && username === "" && password === "",
  );
  return [...new Set([target, ...sameOrigin].map(withoutFragment))];
}

function withoutFragment(url: URL): string {
  return url.href.split("#", 1)[0]!;
}

import type { ClientRequest } from "../../engine/scenario.ts";
import { HOST } from "../../engine/scenario.ts";
import type { Dice } from "../../stories/dice.ts";

export const HOSTS: readonly string[] = [HOST, "shop.example.test"];
export const TARGETS: readonly string[] = ["/a", "/b", "/a?page=2"];
export const ISOLATES: readonly string[] = ["a", "a", "b", "far/a"];

const FIELDS: readonly ((dice: Dice) => Readonly<Record<string, string>>)[] = [
  (dice) => ({ cookie: dice.pick(["sid=1", "sid=2", "_ga=1"]) }),
  (dice) => ({ authorization: `Bearer ${dice.pick(["1", "2"])}` }),
  (dice) => ({ "accept-language": dice.pick(["de", "en"]) }),
  (dice) => ({ "accept-language": dice.pick(["de", "en"]) }),
  (dice) => ({ "x-tenant": dice.pick(["one", "two"]) }),
  (dice) => ({ "accept-encoding": dice.pick(["gzip", "br", "gzip, br", "gzip;q=0"]) }),
  (dice) => ({ "accept-encoding": "gzip", "accept-language": dice.pick(["de", "en"]) }),
  (dice) => ({ "cache-control": dice.pick(["no-cache", "no-store", "max-age=2", "min-fresh=4"]) }),
  (dice) => ({ "cache-control": dice.pick(["only-if-cached", "max-stale=4", "max-stale", "stale-if-error=10"]) }),
  (dice) => ({
    range: dice.pick(["bytes=0-3", "bytes=4-20", "bytes=30-", "bytes=-5", "bytes=0-3,10-12", "bytes=900-"]),
  }),
];

/** A visitor's request. `seen`: the fields of an answer that somebody has got, of which visitors make conditions. */
export function randomRequest(dice: Dice, seen: Readonly<Record<string, string>>): ClientRequest {
  const fields: Record<string, string> = {};
  while (dice.isBelow(0.38)) Object.assign(fields, dice.pick(FIELDS)(dice));
  if (dice.isBelow(0.15)) fields["if-none-match"] = seen.etag ?? '"v1"';
  if (dice.isBelow(0.1)) fields["if-modified-since"] = seen["last-modified"] ?? "Thu, 01 Jan 2026 11:00:00 GMT";
  if (fields.range && dice.isBelow(0.5)) fields["if-range"] = seen.etag ?? seen["last-modified"] ?? '"v2"';
  const method = dice.isBelow(0.86) ? "GET" : dice.pick(["HEAD", "HEAD", "HEAD", "POST", "PUT", "DELETE"]);
  const target = dice.pick(TARGETS);
  const tracked = dice.isBelow(0.1) ? `${target}${target.includes("?") ? "&" : "?"}utm_source=x` : target;
  return { method, host: dice.pick(HOSTS), path: tracked, fields, isolate: dice.pick(ISOLATES) };
}

/** The target without what does not count in a URL. */
export function withoutTracking(target: string): string {
  return target.replace(/[?&]utm_source=x/, "");
}

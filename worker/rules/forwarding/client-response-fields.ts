import type { Fields } from "../fields/fields.ts";
import { memoize } from "../fields/memoize.ts";
import { TAG_FIELDS } from "../storing/tags.ts";
import { hopByHopFields } from "./hop-by-hop.ts";
import { type PublicAddress, publicLocation } from "./location.ts";

/** Fields of the origin's answer that clients do not see, because the edge writes or reads them itself. */
const REPLACED: ReadonlySet<string> = new Set(["x-cache", ...TAG_FIELDS]);

/** Those, and the hop-by-hop fields of an answer with this `Connection`. */
const keptFromClients = memoize(
  (connection: string): ReadonlySet<string> => new Set([...hopByHopFields(connection), ...REPLACED]),
);

/** Fields that may name the origin. */
const LOCATIONS = ["location", "content-location"];

/**
 * The fields of the origin's answer as clients see them: without hop-by-hop and tag fields, with public locations and a
 * date. All other fields stay as the origin sent them. RFC 9110 §7.6. `hidden` are the names of fields that are for this
 * cache alone; `receivedAt` is in epoch milliseconds.
 */
export function toClientFields(
  sent: Fields,
  address: PublicAddress,
  hidden: readonly string[],
  receivedAt: number,
): Fields {
  const kept = keptFromClients(sent.get("connection") ?? "");
  const fields = sent.filter((name) => !kept.has(name) && !hidden.includes(name));
  if (sent.has("transfer-encoding")) fields.delete("content-length"); // RFC 9112 §6.3: chunks win
  if (!fields.has("date")) fields.set("date", new Date(receivedAt).toUTCString()); // RFC 9110 §6.6.1
  for (const name of LOCATIONS) {
    const value = fields.get(name);
    if (value !== null) fields.set(name, publicLocation(value, address));
  }
  return fields;
}

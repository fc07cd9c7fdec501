import type { Fields } from "../fields/fields.ts";
import { TAG_FIELDS } from "../storing/tags.ts";
import { hopByHopFields } from "./hop-by-hop.ts";
import { type PublicAddress, publicLocation } from "./location.ts";

/** Fields of the origin's answer that clients do not see, because the edge writes or reads them itself. */
const REPLACED = ["x-cache", ...TAG_FIELDS];

/**
 * Changes the fields of the origin's answer, in place, into those that clients see: without hop-by-hop and tag fields,
 * with public locations and a date. All other fields stay as the origin sent them. RFC 9110 §7.6. `hidden` are the
 * names of fields that are for this cache alone; `receivedAt` is in epoch milliseconds.
 */
export function toClientFields(
  fields: Fields,
  address: PublicAddress,
  hidden: readonly string[],
  receivedAt: number,
): void {
  if (fields.get("transfer-encoding") !== null) fields.delete("content-length"); // RFC 9112 §6.3: chunks win
  for (const name of hopByHopFields(fields.get("connection"))) fields.delete(name);
  for (const name of [...REPLACED, ...hidden]) fields.delete(name);
  if (!fields.has("date")) fields.set("date", new Date(receivedAt).toUTCString()); // RFC 9110 §6.6.1
  for (const name of ["location", "content-location"]) {
    const value = fields.get(name);
    if (value !== null) fields.set(name, publicLocation(value, address));
  }
}

import { hopByHopFields } from "./hop-by-hop.ts";
import { type PublicAddress, publicLocation } from "./location.ts";
import { TAG_FIELDS } from "./tags.ts";

/** Fields of the origin's answer that the edge writes itself or keeps to itself. */
const REPLACED = ["x-cache", "surrogate-control", ...TAG_FIELDS];

/**
 * Turns the fields of the origin's answer into those that clients see, in place: without hop-by-hop and tag fields,
 * with public locations and `Via`. All else stays as the origin sent it. RFC 9110 §7.6.
 */
export function toClientFields(fields: Headers, address: PublicAddress): void {
  if (fields.get("transfer-encoding") !== null) fields.delete("content-length"); // RFC 9112 §6.3: the chunks count
  for (const name of hopByHopFields(fields.get("connection"))) fields.delete(name);
  for (const name of REPLACED) fields.delete(name);
  for (const name of ["location", "content-location"]) {
    const value = fields.get(name);
    if (value !== null) fields.set(name, publicLocation(value, address));
  }
  fields.append("via", "1.1 tidemark");
}

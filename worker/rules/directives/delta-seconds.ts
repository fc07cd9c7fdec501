/** A number of seconds, `"absent"`, or `"invalid"` for a value that is not a number of seconds. RFC 9111 §1.2.2. */
export type DeltaSeconds = number | "absent" | "invalid";

/** Larger numbers are replaced by this one. RFC 9111 §1.2.2. */
export const MAX_DELTA_SECONDS = 2_147_483_648;

/** The code of the character `0`. */
const ZERO = 0x30;

/** Reads a directive's argument; `undefined` stands for none. */
export function readDeltaSeconds(value: string | undefined): number | "invalid" {
  if (value === undefined || value === "") return "invalid";
  let seconds = 0;
  for (let at = 0; at < value.length; at++) {
    const digit = value.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return "invalid";
    seconds = Math.min(seconds * 10 + digit, MAX_DELTA_SECONDS);
  }
  return seconds;
}

/** The more restrictive of two values in one message: an invalid one, or the smaller one. RFC 9111 §4.2.1. */
export function stricterOf(one: DeltaSeconds, other: DeltaSeconds): DeltaSeconds {
  if (one === "absent") return other;
  if (other === "absent") return one;
  return one === "invalid" || other === "invalid" ? "invalid" : Math.min(one, other);
}

/** The number of seconds to apply: 0 if the value is absent or invalid. */
export function secondsOrNone(value: DeltaSeconds): number {
  return typeof value === "number" ? value : 0;
}

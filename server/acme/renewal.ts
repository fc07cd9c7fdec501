import { createHash } from "node:crypto";

/** How long a certificate is valid. Epoch milliseconds. */
export interface Validity {
  readonly validFrom: number;
  readonly validUntil: number;
}

/** When an authority wants a certificate to be renewed: `suggestedWindow` of RFC 9773 §4.2. Epoch milliseconds. */
export interface RenewalWindow {
  readonly startAt: number;
  readonly endAt: number;
}

export type RenewalVerdict =
  | { readonly kind: "renew"; readonly because: "window" | "last-third" }
  /** From `earlyAt` on it may be renewed together with another one. Epoch milliseconds. */
  | { readonly kind: "wait"; readonly untilAt: number; readonly earlyAt: number };

/** A certificate is renewed when this share of its lifetime is left, unless the authority names a window. */
const THIRD = 1 / 3;
/**
 * With less than this share left, the server renews without waiting for a window, so that a mistake of the authority
 * does not let the certificate expire.
 */
const LEAST_LEFT = 1 / 10;
/** How early it may be renewed, so that one reload serves several: 6 hours of 45 days. */
const EARLY = 1 / 180;

/**
 * Whether a certificate is to be renewed at `now`, or when. `share`, 0 to 1: where in the window, so that the certificates of
 * an authority are not all renewed at once. RFC 9773 §4.2.
 */
export function judgeRenewal(
  validity: Validity,
  window: RenewalWindow | null,
  share: number,
  now: number,
): RenewalVerdict {
  const because = window === null ? "last-third" : "window";
  const untilAt =
    window === null ? leftAt(validity, THIRD) : Math.min(within(window, share), leftAt(validity, LEAST_LEFT));
  if (now >= untilAt) return { kind: "renew", because };
  const early = untilAt - EARLY * (validity.validUntil - validity.validFrom);
  return { kind: "wait", untilAt, earlyAt: Math.min(untilAt, Math.max(early, window?.startAt ?? early)) };
}

/** Whether so little time is left that the owner has to know of a failed renewal. */
export function isInLastThird(validity: Validity, now: number): boolean {
  return now >= leftAt(validity, THIRD);
}

/**
 * Where in its window a certificate is renewed, 0 to 1: always the same for one certificate, spread over several. `id`:
 * the certificate's text.
 */
export function shareOf(id: string): number {
  return createHash("sha256").update(id).digest().readUInt32BE() / 2 ** 32;
}

function within({ startAt, endAt }: RenewalWindow, share: number): number {
  return startAt + Math.floor(share * (endAt - startAt));
}

function leftAt({ validFrom, validUntil }: Validity, share: number): number {
  return validUntil - share * (validUntil - validFrom);
}

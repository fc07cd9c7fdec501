import { isInLastThird, type Validity } from "./renewal.ts";

export interface Failure {
  readonly name: string;
  /** The certificate that stays in use; `null` if there is none. */
  readonly old: Validity | null;
  /** The text has no full stop at its end. */
  readonly because: string;
  /** When it is tried again. Epoch milliseconds. */
  readonly againAt: number;
}

const DAY_MS = 86_400_000;

/** The text for the owner about a certificate that could not be obtained. `now`: epoch milliseconds. */
export function failureText({ name, old, because, againAt }: Failure, now: number): string {
  const again = `The next attempt is at ${iso(againAt)}.`;
  if (old === null) {
    return `there is no certificate for ${name}: ${because}. Until there is one, TLS connections to it fail. ${again}`;
  }
  if (old.validUntil <= now) {
    return `the certificate for ${name} expired at ${iso(old.validUntil)}, and could not be renewed: ${because}. ${again}`;
  }
  if (isInLastThird(old, now)) {
    const days = Math.floor((old.validUntil - now) / DAY_MS);
    return `the certificate for ${name} expires in ${days} days, and could not be renewed: ${because}. ${again}`;
  }
  return `the certificate for ${name} was not renewed yet: ${because}. It is valid until ${iso(old.validUntil)}. ${again}`;
}

/** `validUntil`: epoch milliseconds. */
export function issuedText(name: string, validUntil: number): string {
  return `there is a new certificate for ${name}, valid until ${iso(validUntil)}`;
}

function iso(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+/, "");
}

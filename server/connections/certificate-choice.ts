import type { Certificate } from "./certificates.ts";

/** The parts of a certificate on which the choice depends. */
export type Choosable = Pick<Certificate, "names" | "kind" | "validFrom" | "validUntil">;

/**
 * Chooses the certificate for a name that a client has sent, in any case, of which there is at least one. Of those that are
 * for the name, or for it by a wildcard, one that is valid `now` comes before the others, then one for the name itself; for a
 * name of none of them, or an empty one, it is the first that is valid. `now` is in epoch milliseconds. RFC 6066 §3, RFC 6125 §6.4.3.
 */
export function certificateChoice<Each extends Choosable>(
  certificates: readonly Each[],
): (name: string, now: number) => Each {
  const byName = new Map<string, Each[]>();
  for (const certificate of [...certificates].sort(bestFirst)) {
    for (const name of certificate.names) byName.set(name, [...(byName.get(name) ?? []), certificate]);
  }
  const none: readonly Each[] = [];
  return (sent, now) => {
    const fitting = namesFitting(sent.toLowerCase().replace(/\.$/, "")).flatMap((name) => byName.get(name) ?? none);
    const among = fitting.length > 0 ? fitting : certificates;
    return among.find((each) => isValidAt(each, now)) ?? among[0]!;
  };
}

/** Those of the hosts, in lower case and without ports, that no certificate is for. */
export function uncoveredHosts(certificates: readonly Choosable[], hosts: readonly string[]): string[] {
  const covered = new Set(certificates.flatMap(({ names }) => names));
  return hosts.filter((host) => !namesFitting(host).some((name) => covered.has(name)));
}

/** The names of certificates that are for a host, in lower case: its own and the wildcard's. RFC 6125 §6.4.3. */
export function namesFitting(host: string): readonly string[] {
  return [host, host.replace(/^[^.]+/, "*")];
}

function isValidAt({ validFrom, validUntil }: Choosable, now: number): boolean {
  return validFrom <= now && now < validUntil;
}

/**
 * The order of two certificates for one name: the one with an elliptic-curve key, whose handshakes cost far less than those
 * with RSA, comes first; otherwise the one that is valid longer. Node gives OpenSSL only one certificate per name.
 */
function bestFirst(one: Choosable, other: Choosable): number {
  const byKind = Number(one.kind === "rsa") - Number(other.kind === "rsa");
  return byKind || other.validUntil - one.validUntil;
}

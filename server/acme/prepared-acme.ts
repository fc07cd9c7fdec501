import { resolve } from "node:path";
import type { Certificate } from "../connections/certificates.ts";
import type { PreparedSites } from "../startup/prepared-sites.ts";
import { ServerError } from "../startup/server-error.ts";
import type { ListenAddress } from "../supervisor/listening-sockets.ts";
import { AcmeFolder } from "./acme-folder.ts";
import type { ChallengeType } from "./authority.ts";
import { namesToCertify } from "./names.ts";

/** How a server gets its certificates from an authority. */
export interface AcmeOptions {
  /** Whom the authority may write to. */
  readonly email: string;
  /** The URL of its directory. RFC 8555 §7.1.1. */
  readonly directory: string;
}

/** The state of the certificates by ACME before a port is opened. */
export interface PreparedAcme {
  /** At least one. */
  readonly names: readonly string[];
  readonly folder: AcmeFolder;
  /** The certificates that the folder has already. */
  readonly certificates: readonly Certificate[];
  readonly types: readonly ChallengeType[];
  /** What the owner should know, a line each. */
  readonly warnings: readonly string[];
}

interface Surroundings {
  /** The folder of `--cache`. */
  readonly cache: string;
  readonly listen: readonly ListenAddress[];
  readonly sites: PreparedSites;
  /** Whether several machines share a purge log, so that they serve the same hosts. */
  readonly isOneOfSeveral: boolean;
}

const HTTP_PORT = 80;

/**
 * Throws a `ServerError` if no certificate can be obtained with these settings. Writes nothing. `before`: what is in use, by
 * the same options.
 */
export function prepareAcme(
  { directory }: AcmeOptions,
  around: Surroundings,
  before: PreparedAcme | null,
): PreparedAcme {
  const { cache, listen, sites, isOneOfSeveral } = around;
  const named = [...sites.values()].filter(({ isLocal }) => !isLocal).map(({ site }) => site.hosts);
  const { names, others } = namesToCertify(named.flatMap((hosts) => hosts ?? []));
  if (names.length === 0) {
    throw new ServerError(
      `--acme orders a certificate for each public host, but there is none${others.length > 0 ? ` among ${others.join(", ")}` : ""}. ` +
        "Name them: --hosts www.example.com, or hosts in the config.",
    );
  }
  const folder = before?.folder ?? new AcmeFolder(resolve(cache, "acme"), directory);
  const { certificates, problems } = folder.certificatesOf(names);
  const warnings = [...problems];
  if (others.length > 0) {
    warnings.push(`no certificate is ordered for ${others.join(", ")}, because these are not public host names.`);
  }
  if (named.includes(null)) warnings.push("--acme orders no certificates for hosts that no config names.");
  if (isOneOfSeveral) {
    warnings.push(
      "--acme works only if no other machine serves the same hosts: otherwise the authority's check may reach a machine that " +
        "did not order the certificate, and fails. Use certificates in files there: --tls-folder.",
    );
  }
  return { names, folder, certificates, types: challengeTypes(listen), warnings };
}

/**
 * The challenges that a server can answer. The authority asks at port 80 and at port 443, which may belong to a proxy
 * in front that passes connections on, so each challenge is tried where a listener speaks its protocol. RFC 8555 §8.3,
 * RFC 8737 §3.
 */
export function challengeTypes(listen: readonly ListenAddress[]): readonly ChallengeType[] {
  const plain = listen.filter((address) => "port" in address && address.scheme !== "https");
  if (plain.length === 0) return ["tls-alpn-01"];
  const isAtItsPort = plain.some((address) => "port" in address && address.port === HTTP_PORT);
  return isAtItsPort ? ["http-01", "tls-alpn-01"] : ["tls-alpn-01", "http-01"];
}

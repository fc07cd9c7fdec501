import { OwnerError } from "../../package/owner-error.ts";

/**
 * Out of reach: no connection could be made or kept. Passing: the database answers, and may take the next attempt. Lasting:
 * only the owner can end it.
 */
type FailureKind = "out-of-reach" | "passing" | "lasting";

/** The purge log in PostgreSQL cannot be used. The message says why, and names no password. */
export class SharedLogError extends OwnerError {
  override readonly name = "SharedLogError";
  readonly kind: FailureKind;

  constructor(where: string, words: string, kind: FailureKind, cause?: unknown) {
    super(`The purge log in PostgreSQL at ${where}: ${words}.`, { cause });
    this.kind = kind;
  }
}

/** PostgreSQL's code for too many connections. */
export const TOO_MANY_CONNECTIONS = "53300";

const NO_TABLES =
  "it has no tables of the log, as after a failover to an empty database; restart the servers, which make them";

/**
 * PostgreSQL's codes, https://www.postgresql.org/docs/current/errcodes-appendix.html, about which the owner can do
 * something.
 */
const WORDS: Readonly<Record<string, string>> = {
  "42883": NO_TABLES,
  "42P01": NO_TABLES,
  [TOO_MANY_CONNECTIONS]: "it accepts no more connections (max_connections); a machine needs five",
  "57P03": "it is starting up, or is a standby that accepts no connections",
  "57P01": "it closed the connection because it is stopping",
  "57014": "it took too long to answer",
  "55P03": "another machine has locked the log for too long, or a commit waits for a synchronous standby",
  "25006": "it is a standby, or read-only; the log needs the primary",
  "28P01": "the password is wrong",
  "3D000": "the database does not exist; create it with: createdb",
  "42501": "this user may not create or use the log's tables",
  "53100": "its disk is full",
};

/** The code for a certificate that the database may replace any time, so that a later attempt trusts it. */
const HAS_EXPIRED = "CERT_HAS_EXPIRED";

const WITH_ROOT = "in its address with ?sslmode=verify-full&sslrootcert=/path.pem";
const NAME_ROOT = `name the root ${WITH_ROOT}, because PGSSLROOTCERT is not read`;

/** What helps by codes of OpenSSL and Node.js, https://nodejs.org/api/tls.html, for a certificate that is not trusted. */
const OF_CERTIFICATES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: NAME_ROOT,
  SELF_SIGNED_CERT_IN_CHAIN: NAME_ROOT,
  UNABLE_TO_GET_ISSUER_CERT: NAME_ROOT,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NAME_ROOT,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NAME_ROOT,
  [HAS_EXPIRED]: "the database needs a new one",
  ERR_TLS_CERT_ALTNAME_INVALID: "write the host that it names into the address",
};

/** Codes after which no connection is left, or none was made. */
const OUT_OF_REACH = /^(08|53300|57P0)/;

/** Codes for a user, a database, or rights that the owner has to change, or tables that are not there. */
const LASTING = /^(28|3D|3F|42)/;

/** What `pg` says, without a code, if it cannot agree with the server on a password or on TLS. */
const DISAGREE = /^SASL|does not support SSL/;

/** What `pg-pool` says if none of its connections has come free in time. */
const NONE_FREE = "timeout exceeded when trying to connect";
export const BUSY = "all connections of this machine to it are busy, or it does not answer";

const OF_ROLE_OR_DATABASE = /^too many connections for /;

/** The code for a user who is refused before a password is of use. PostgreSQL's message says which rule does it. */
const MAY_NOT_CONNECT = "28000";

/** How a message ends that refuses a connection without TLS; the second one is of PostgreSQL 13. */
const WITHOUT_TLS = /, (no encryption|SSL off)$/;

const WANTS_PASSWORD = /client password must be/;

/** What a pooler does instead of a refusal: it takes a connection, and its first statement waits. */
export function leftWaiting(where: string, cause: unknown): SharedLogError {
  const words = "it lets new connections wait, as PgBouncer does (default_pool_size); a machine needs five";
  return Object.assign(new SharedLogError(where, words, "out-of-reach", cause), { code: TOO_MANY_CONNECTIONS });
}

export function sharedLogError(where: string, cause: unknown): SharedLogError {
  if (cause instanceof SharedLogError) return cause;
  const { code, message = String(cause) } = cause as { code?: unknown; message?: string };
  const known = typeof code === "string" ? code : "";
  const isOfServer = /^[0-9A-Z]{5}$/.test(known) && !known.startsWith("E");
  if (WANTS_PASSWORD.test(message)) {
    return new SharedLogError(
      where,
      "it asks for a password; set PGPASSWORD, or write it into ~/.pgpass",
      "lasting",
      cause,
    );
  }
  if (message === NONE_FREE) return new SharedLogError(where, BUSY, "passing", cause);
  const { syscall, path } = cause as { syscall?: unknown; path?: unknown };
  if (syscall === "open") return new SharedLogError(where, `${path} cannot be read (${known})`, "lasting", cause);
  const remedy = OF_CERTIFICATES[known];
  if (remedy) {
    const kind = known === HAS_EXPIRED ? "out-of-reach" : "lasting";
    return new SharedLogError(where, `its certificate is not trusted (${message}); ${remedy}`, kind, cause);
  }
  if (OF_ROLE_OR_DATABASE.test(message)) {
    return new SharedLogError(where, `${message} (CONNECTION LIMIT); a machine needs five`, "out-of-reach", cause);
  }
  if (known === MAY_NOT_CONNECT) {
    const hint = WITHOUT_TLS.test(message) ? `; ask for TLS ${WITH_ROOT}` : "";
    return new SharedLogError(where, `this user may not connect (${message})${hint}`, "lasting", cause);
  }
  const words = WORDS[known] ?? (isOfServer ? message : `it cannot be reached (${message || known})`);
  return new SharedLogError(where, words, isOfServer ? kindOf(known) : kindOfWay(message), cause);
}

function kindOf(code: string): FailureKind {
  if (OUT_OF_REACH.test(code)) return "out-of-reach";
  return LASTING.test(code) ? "lasting" : "passing";
}

function kindOfWay(message: string): FailureKind {
  return DISAGREE.test(message) ? "lasting" : "out-of-reach";
}

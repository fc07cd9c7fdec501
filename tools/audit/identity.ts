import { carriesSession, cookiesIn, isToken, matchesAnyName, UNREAD_COOKIES } from "#tidemark/internal";

/** The visitor without credentials. */
export const STRANGER = "stranger";

/** A visitor with credentials: an account of the site that was made for tests. */
export interface Identity {
  readonly name: string;
  /** What a request carries for this visitor, by names in lower case. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Texts that only this visitor's answers may contain. */
  readonly canaries: readonly string[];
}

/** The credentials of a visitor's requests; none for a stranger. */
export function credentialsOf(who: string, identities: readonly Identity[]): Identity["credentials"] {
  return identities.find(({ name }) => name === who)?.credentials ?? {};
}

/** A wrong call. Nothing was sent. The message never contains a credential. */
export class AuditUsageError extends Error {
  override readonly name = "AuditUsageError";
}

/** Where credentials can be read from, so that they need not be arguments. */
export interface CredentialSources {
  readonly file: (path: string) => string;
  readonly variable: (name: string) => string | undefined;
}

const NAME = /^[A-Za-z][\w.-]{0,31}$/;

/** Fields that identify no visitor, and that would change the destination or the framing of a request. */
const NOT_CREDENTIALS = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "te",
  "upgrade",
  "expect",
]);

/**
 * Reads `alice=sessionid=…; theme=dark`, `alice=Authorization: Bearer …`, `alice=@FILE` with such a line or several, and
 * `alice=env:VARIABLE`. Throws `AuditUsageError`.
 */
export function readIdentity(text: string, sources: CredentialSources): Identity {
  const [name, value] = namedText(text, "--as", "cookies");
  if (name === STRANGER)
    throw new AuditUsageError(`--as: ${STRANGER} names the visitor without credentials; choose another name`);
  const credentials: Record<string, string> = {};
  for (const line of sourceOf(name, value, sources).split(/\r?\n/)) {
    if (line.trim() === "") continue;
    const [, field, content] = /^([^\s:=;]+):[ \t]+(.*)$/.exec(line.trim()) ?? [undefined, "cookie", line.trim()];
    const key = field!.toLowerCase();
    if (!isToken(key) || NOT_CREDENTIALS.has(key))
      throw new AuditUsageError(`--as ${name}: no field of that name is a credential`);
    // Only what HTTP can carry: anything else would fail later, with the value in the message.
    if (!/^[\x20-\x7e]+$/.test(content!))
      throw new AuditUsageError(`--as ${name}: the value has characters outside printable ASCII`);
    if (key === "cookie" && !content!.includes("="))
      throw new AuditUsageError(`--as ${name}: write cookies as NAME=VALUE; NAME=VALUE`);
    credentials[key] = content!;
  }
  if (Object.keys(credentials).length === 0) throw new AuditUsageError(`--as ${name}: the value has no cookie`);
  return { name, credentials, canaries: [] };
}

/** Adds the texts of `--canary alice=alice@example.com` to the identities. Throws `AuditUsageError`. */
export function withCanaries(identities: readonly Identity[], texts: readonly string[]): readonly Identity[] {
  const canaries = texts.map((text) => namedText(text, "--canary", "a text"));
  for (const [name, canary] of canaries) {
    if (!identities.some((each) => each.name === name)) throw new AuditUsageError(`--canary: there is no --as ${name}`);
    if (canary.length < 3)
      throw new AuditUsageError(`--canary ${name}: the text is too short, so other pages may contain it by chance`);
  }
  return identities.map((each) => ({
    ...each,
    canaries: canaries.flatMap(([name, canary]) => (name === each.name ? [canary] : [])),
  }));
}

/**
 * The names of the cookies by which these visitors are known. Names that other visitors have, too, would make a cache
 * useless, so they are left out while another remains: analytics, cookies that all accounts have alike, and, beside the
 * session of a framework, what strangers are given.
 */
export function cookieNames(identities: readonly Identity[], ofStrangers: readonly string[]): readonly string[] {
  const all = identities.map(({ credentials }) => cookiesIn(credentials.cookie ?? "").filter(([name]) => name !== ""));
  const names = [...new Set(all.flatMap((own) => own.map(([name]) => name)))];
  const valuesOf = (name: string) => all.map((own) => own.find(([each]) => each === name)?.[1]);
  const sessions = names.filter((name) => valuesOf(name).some((value) => carriesSession(`${name}=${value}`)));
  const tests = [
    (name: string) => !matchesAnyName(name, UNREAD_COOKIES),
    (name: string) => all.length === 1 || new Set(valuesOf(name)).size > 1,
    // A cookie of one's own may be the session: strangers may have one of those.
    (name: string) => sessions.length === 0 || sessions.includes(name) || !ofStrangers.includes(name),
  ];
  return tests.reduce<readonly string[]>((left, mayTell) => {
    const telling = left.filter(mayTell);
    return telling.length > 0 ? telling : left;
  }, names);
}

/** The secrets that no report may show: the values of all credentials. */
export function secretsOf(identities: readonly Identity[]): readonly string[] {
  return identities.flatMap(({ credentials }) =>
    Object.entries(credentials).flatMap(([field, value]) =>
      field === "cookie" ? cookiesIn(value).map(([, each]) => each) : value.split(/\s+/),
    ),
  );
}

function namedText(text: string, flag: string, what: string): [name: string, value: string] {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(0, at));
  if (!NAME.test(name))
    throw new AuditUsageError(`write ${flag} as NAME=${what.toUpperCase()}, with a name of letters and digits`);
  const value = text.slice(at + 1);
  if (value === "") throw new AuditUsageError(`${flag} ${name}: there is no value after the =`);
  return [name, value];
}

function sourceOf(name: string, value: string, { file, variable }: CredentialSources): string {
  if (value.startsWith("@")) {
    try {
      return file(value.slice(1));
    } catch (cause) {
      throw new AuditUsageError(`--as ${name}: ${value.slice(1)} cannot be read`, { cause });
    }
  }
  const [, wanted] = /^env:(\w+)$/.exec(value) ?? [];
  if (wanted === undefined) return value;
  const found = variable(wanted);
  if (found === undefined || found === "") throw new AuditUsageError(`--as ${name}: the variable ${wanted} is not set`);
  return found;
}

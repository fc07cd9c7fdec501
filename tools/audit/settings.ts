import { isToken } from "#tidemark/internal";
import { AuditUsageError } from "./identity.ts";
import type { Input } from "./input.ts";
import type { HitField } from "./provenance.ts";

/** Reads `https://www.example.com`. Throws `AuditUsageError`. */
export function readEdge(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new AuditUsageError("--edge must be like https://www.example.com");
  if (url.username !== "" || url.password !== "") {
    throw new AuditUsageError("--edge cannot have a user and password. Give each visitor an Authorization with --as");
  }
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw new AuditUsageError(`--edge must be only scheme and host: ${url.origin}. Name pages as arguments`);
  }
  return url;
}

/** Reads the public host. Throws `AuditUsageError`. */
export function readHost(text: string): string {
  if (!/^[a-z0-9.-]+(?::\d+)?$/i.test(text)) throw new AuditUsageError("--host must be a name like www.example.com");
  return text.toLowerCase();
}

/** Reads the name of the cache-buster. Throws `AuditUsageError`. */
export function readBuster(text: string): string {
  if (!/^[\w.-]+$/.test(text)) throw new AuditUsageError("--buster must be a name of letters, digits, _, . and -");
  return text;
}

/** Reads `cookie:theme=dark`, `field:x-tenant=b`, `parameter:lang=de`. Throws `AuditUsageError`. */
export function readInput(text: string): Input {
  const [, kind, name, value] = /^(parameter|field|cookie):([^=\s]+)=([\x20-\x7e]*)$/.exec(text) ?? [];
  const isWritten = kind !== undefined && value !== "" && (kind === "parameter" || isToken(name!));
  if (!isWritten)
    throw new AuditUsageError("--try must be like cookie:theme=dark, field:x-tenant=b or parameter:lang=de");
  const lower = kind === "field" ? name!.toLowerCase() : name!;
  if (["host", "cookie", "authorization", "connection", "content-length", "transfer-encoding"].includes(lower)) {
    throw new AuditUsageError(`--try: ${lower} cannot be tried by itself`);
  }
  if (/method-?override|http-method$/i.test(lower)) {
    throw new AuditUsageError(`--try: ${lower} may make a GET change something, but the audit only reads`);
  }
  return {
    kind: kind as Input["kind"],
    name: lower,
    value: kind === "parameter" ? encodeURIComponent(value!) : value!,
  };
}

/** Reads `X-My-Cache: hit`. Throws `AuditUsageError`. */
export function readHitField(text: string): HitField {
  const [, name, wanted] = /^([^\s:]+):[ \t]*(\S.*)$/.exec(text) ?? [];
  if (name === undefined || !isToken(name.toLowerCase()))
    throw new AuditUsageError("--hit must be like 'X-My-Cache: hit'");
  return { name: name.toLowerCase(), text: wanted! };
}

/** Reads a whole number from 1 to `most`. Throws `AuditUsageError`. */
export function readWholeNumber(flag: string, text: string, most: number): number {
  const number = readNumber(flag, text, most);
  if (!Number.isInteger(number)) throw new AuditUsageError(`${flag} must be a whole number from 1 to ${most}`);
  return number;
}

/** Reads a number above 0, up to `most`. Throws `AuditUsageError`. */
export function readNumber(flag: string, text: string, most: number): number {
  const number = Number(text);
  if (!(number > 0 && number <= most)) throw new AuditUsageError(`${flag} must be a number above 0, up to ${most}`);
  return number;
}

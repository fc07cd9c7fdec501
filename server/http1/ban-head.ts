import { trimmed } from "./client-fields.ts";
import type { RequestLine } from "./request-target.ts";

/** The method that HTTP caches accept besides PURGE, and that Node's parser does not know. It has no body. */
const BAN = "BAN";

/** A head as Node's parser would read it: the request line, and names and values in turn. */
export interface BanHead {
  readonly line: RequestLine;
  readonly raw: readonly string[];
}

/** Whether bytes that Node's parser rejects begin a BAN. */
export function beginsBan(bytes: string): boolean {
  return bytes.startsWith(`${BAN} `);
}

/**
 * Reads the head of a BAN, as strictly as Node's parser reads others; `undefined` until it is complete, and `null` if
 * it is not one. RFC 9112 §3, §5.
 */
export function readBanHead(bytes: string): BanHead | null | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = bytes.slice(0, end).split("\r\n");
  const [, target, minor] = /^BAN ([!-~]+) HTTP\/1\.([01])$/.exec(first) ?? [];
  const fields = lines.map((line) => /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/.exec(line));
  if (target === undefined || fields.includes(null)) return null;
  const raw = fields.flatMap((field) => [field![1]!, trimmed(field![2]!)]);
  const framed = lines.some((line) => /^(?:transfer-encoding|content-length: *(?!0*$)\S)/i.test(line));
  if (framed) return null;
  return { line: { method: BAN, target, versionMajor: 1, versionMinor: Number(minor) }, raw };
}

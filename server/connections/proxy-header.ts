import { isIPv4, isIPv6 } from "node:net";

/** The header of the PROXY protocol at the start of a connection. https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt */
export type ProxyHeader =
  /** `source`: the address of the client; `null` if the proxy speaks for itself, or gives no address. */
  | { readonly kind: "header"; readonly bytes: number; readonly source: string | null }
  | { readonly kind: "incomplete" }
  | { readonly kind: "none" };

const NONE = { kind: "none" } as const;
const INCOMPLETE = { kind: "incomplete" } as const;

/** Reads a header of version 1 or 2 at the start of the received bytes (§2.1, §2.2). */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  const start = bytes.subarray(0, SIGNATURE.byteLength);
  if (SIGNATURE.subarray(0, start.byteLength).equals(start)) return readVersion2(bytes);
  return readVersion1(bytes.subarray(0, MAX_LINE_BYTES).toString("latin1"));
}

/** The longest line of version 1, with its end. */
const MAX_LINE_BYTES = 107;
const LINE =
  /^PROXY (?:UNKNOWN(?: [ -~]*)?|TCP4 ([\d.]{7,15}) [\d.]{7,15} \d{1,5} \d{1,5}|TCP6 ([\da-fA-F:.]{2,39}) [\da-fA-F:.]{2,39} \d{1,5} \d{1,5})\r\n/;

function readVersion1(text: string): ProxyHeader {
  const read = LINE.exec(text);
  if (read) {
    const [, four, six] = read;
    if (four === undefined && six === undefined) return { kind: "header", bytes: read[0].length, source: null };
    const source = four !== undefined ? (isIPv4(four) ? four : null) : isIPv6(six!) ? plainAddress(six!) : null;
    return source === null ? NONE : { kind: "header", bytes: read[0].length, source };
  }
  const isCutShort = text.length < MAX_LINE_BYTES && !text.includes("\n");
  return isCutShort && "PROXY ".startsWith(text.slice(0, 6)) ? INCOMPLETE : NONE;
}

const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const HEAD_BYTES = 16;
/** Enough for all extensions that proxies send; the format allows 64 KiB. */
const MAX_REST_BYTES = 4096;
const LOCAL = 0x20;
const PROXY = 0x21;
const TCP4 = 0x11;
const TCP6 = 0x21;

function readVersion2(bytes: Buffer): ProxyHeader {
  if (bytes.byteLength < HEAD_BYTES) return INCOMPLETE;
  const [command, family] = [bytes[12]!, bytes[13]!];
  const rest = bytes.readUInt16BE(14);
  if ((command !== LOCAL && command !== PROXY) || rest > MAX_REST_BYTES) return NONE;
  if (bytes.byteLength < HEAD_BYTES + rest) return INCOMPLETE;
  const header = (source: string | null) => ({ kind: "header", bytes: HEAD_BYTES + rest, source }) as const;
  if (command === LOCAL) return header(null);
  if (family === TCP4) return rest < 12 ? NONE : header([...bytes.subarray(16, 20)].join("."));
  if (family !== TCP6) return header(null);
  if (rest < 36) return NONE;
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(HEAD_BYTES + 2 * at).toString(16));
  return header(plainAddress(groups.join(":")));
}

/** An address of IPv6 in the canonical form of RFC 5952, an IPv4 address in its own form. */
export function plainAddress(address: string): string {
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(plain);
  if (!mapped) return plain;
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** A range of IP addresses, like `10.0.0.0/8` or `2001:db8::/32`. RFC 4632 §3.1, RFC 4291 §2.3. */
export interface Network {
  /** Its first address, as one of IPv6. One of IPv4 is mapped into IPv6 (RFC 4291 §2.5.5.2). */
  readonly firstAddress: bigint;
  /** How many bits of an address lie behind the prefix that all addresses of the range share. */
  readonly hostBits: bigint;
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV4_IN_IPV6 = 0xffff_0000_0000n;

/** Reads a range, or an address as a range of one; `null` if it is neither. */
export function readNetwork(text: string): Network | null {
  const [addressText, prefixText, ...rest] = text.split("/");
  const firstAddress = readAddress(addressText!);
  if (firstAddress === null || rest.length > 0) return null;
  const mostBits = IPV4.test(addressText!) ? 32 : 128;
  if (prefixText === undefined) return { firstAddress, hostBits: 0n };
  if (!/^(?:0|[1-9]\d{0,2})$/.test(prefixText) || Number(prefixText) > mostBits) return null;
  const hostBits = BigInt(mostBits - Number(prefixText));
  return isFirst(firstAddress, hostBits) ? { firstAddress, hostBits } : null;
}

/** Whether an address is in one of the ranges. One that is not known, or not an address, is in none. */
export function isWithin(address: string | null, networks: readonly Network[]): boolean {
  const bits = address === null ? null : readAddress(address);
  if (bits === null) return false;
  return networks.some(({ firstAddress, hostBits }) => bits >> hostBits === firstAddress >> hostBits);
}

/** The network of a client: an address of IPv4, or the first 64 bits of one of IPv6, of which a client has all others. */
export function networkOf(address: string): string {
  const bits = IPV4.test(address) ? null : readAddress(address);
  if (bits === null) return address;
  return bits >> 32n === IPV4_IN_IPV6 >> 32n ? dotted(bits & 0xffff_ffffn) : `${bits >> 64n}`;
}

/** The 32 bits of an address of IPv4 in its usual form. */
function dotted(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join(".");
}

export function isAddress(text: string): boolean {
  return readAddress(text) !== null;
}

/** A range that is written with another address of it than the first may be a slip, like `10.0.0.1/8`. */
function isFirst(address: bigint, hostBits: bigint): boolean {
  return (address >> hostBits) << hostBits === address;
}

/** The bits of an address, as one of IPv6; `null` if the text is not an address. */
function readAddress(text: string): bigint | null {
  if (IPV4.test(text)) return text.split(".").reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n) | IPV4_IN_IPV6;
  if (!/^[\da-f:.]*:[\da-f:.]*$/i.test(text)) return null;
  // The URL Standard reads all forms of RFC 4291 §2.2, and writes the compressed one, in hexadecimal digits alone.
  const canonical = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  if (canonical === undefined) return null;
  const [left, right] = canonical.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array<string>(8 - left!.length - (right?.length ?? 0)).fill("0");
  const groups = [...left!, ...zeros, ...(right ?? [])];
  return BigInt(`0x${groups.map((group) => group.padStart(4, "0")).join("")}`);
}

import { X509Certificate } from "node:crypto";

/** Where the content of one DER element begins and ends. */
interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
/** `[3]` of a TBSCertificate, and `[0]` of an AuthorityKeyIdentifier. */
const EXTENSIONS = 0xa3;
const KEY_IDENTIFIER = 0x80;
/** id-ce-authorityKeyIdentifier. RFC 5280 §4.2.1.1. */
const AUTHORITY_KEY_IDENTIFIER = "551d23";

/**
 * The name under which an authority knows a certificate: the key identifier of its authority and its serial number. `chain`
 * is PEM, with the certificate first. `null` if it names no authority's key. RFC 9773 §4.1.
 */
export function certificateId(chain: string): string | null {
  const { raw } = new X509Certificate(chain);
  const [certificate] = elementsIn(raw, 0, raw.length);
  const [toBeSigned] = inside(raw, certificate);
  const fields = inside(raw, toBeSigned);
  const serial = fields.find(({ tag }) => tag === INTEGER); // only the version comes before it, with its own tag
  const keyIdentifier = keyIdentifierIn(
    raw,
    fields.find(({ tag }) => tag === EXTENSIONS),
  );
  if (serial === undefined || keyIdentifier === undefined) return null;
  return [keyIdentifier, serial].map((each) => raw.toString("base64url", each.start, each.end)).join(".");
}

function keyIdentifierIn(raw: Buffer, extensions: Element | undefined): Element | undefined {
  const [list] = inside(raw, extensions);
  for (const extension of inside(raw, list)) {
    const parts = inside(raw, extension);
    const id = parts.find(({ tag }) => tag === OBJECT_IDENTIFIER);
    if (id === undefined || raw.toString("hex", id.start, id.end) !== AUTHORITY_KEY_IDENTIFIER) continue;
    const [value] = inside(
      raw,
      parts.find(({ tag }) => tag === OCTET_STRING),
    );
    return inside(raw, value).find(({ tag }) => tag === KEY_IDENTIFIER);
  }
  return undefined;
}

function inside(raw: Buffer, element: Element | undefined): Element[] {
  return element === undefined ? [] : elementsIn(raw, element.start, element.end);
}

/** Lengths of X.690 §8.1.3. Nothing after the end is read, whatever a length says. */
function elementsIn(raw: Buffer, from: number, end: number): Element[] {
  const elements: Element[] = [];
  for (let at = from; at + 2 <= end; ) {
    const first = raw[at + 1]!;
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + lengthBytes;
    if (lengthBytes > 4 || start > end) return elements;
    const length = lengthBytes === 0 ? first : raw.readUIntBE(at + 2, lengthBytes);
    if (start + length > end) return elements;
    elements.push({ tag: raw[at]!, start, end: start + length });
    at = start + length;
  }
  return elements;
}

/** How many bytes of a document may name its charset. */
const PRESCANNED_BYTES = 1024;

const BYTE_ORDER_MARKS = [
  ["\xef\xbb\xbf", "utf-8"],
  ["\xfe\xff", "utf-16be"],
  ["\xff\xfe", "utf-16le"],
] as const;

/** A document that can be read before its charset is known is not in UTF-16, whatever it says. */
const IN_DOCUMENT = /<(?:meta\b[^>]*?[\s;"']charset|\?xml\b[^>]*?\sencoding)\s*=\s*["']?(?!utf-16)([\w.:-]+)/i;

/**
 * The text of a body, in the charset that its byte order mark, its `Content-Type` or the document itself names; in UTF-8
 * otherwise. https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
 */
export function textOf(body: Buffer, contentType: string): string {
  const begin = body.toString("latin1", 0, PRESCANNED_BYTES);
  const [, byMark] = BYTE_ORDER_MARKS.find(([mark]) => begin.startsWith(mark)) ?? [];
  const [, byField] = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType) ?? [];
  const [, byDocument] = IN_DOCUMENT.exec(begin) ?? [];
  return decodedFrom(byMark ?? byField ?? byDocument, body);
}

function decodedFrom(charset: string | undefined, body: Buffer): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body); // It is not the name of a charset.
  }
}

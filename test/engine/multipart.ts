/** One part of a `multipart/byteranges` body. RFC 9110 §14.6. */
export interface BodyPart {
  readonly contentRange: string | null;
  readonly contentType: string | null;
  readonly body: string;
}

/**
 * The parts of a multipart body; a text that says why if it is not valid. RFC 2046 §5.1.1, with an empty preamble and
 * without an epilogue: some clients read a line before the first boundary, RFC 9110 §14.6.
 */
export function readMultipart(contentType: string | undefined, body: string): readonly BodyPart[] | string {
  const boundary = /^multipart\/byteranges; boundary=([0-9A-Za-z'()+_,./:=?-]{1,70})$/.exec(contentType ?? "")?.[1];
  if (boundary === undefined) return `no multipart/byteranges: ${contentType}`;
  const first = `\r\n--${boundary}\r\n`;
  const last = `\r\n--${boundary}--\r\n`;
  if (!body.startsWith(first) || !body.endsWith(last)) return "it does not begin and end with the boundary";
  const texts = body.slice(first.length, -last.length).split(`\r\n--${boundary}\r\n`);
  return texts.map((text) => {
    const headEnd = text.indexOf("\r\n\r\n");
    const lines = text.slice(0, headEnd).split("\r\n");
    const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null;
    return {
      contentRange: field("Content-Range"),
      contentType: field("Content-Type"),
      body: text.slice(headEnd + 4),
    };
  });
}

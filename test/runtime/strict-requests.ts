/** A request as a strict origin reads it. */
export interface StrictRequest {
  /** Method, target and version. */
  readonly line: string;
  readonly fields: readonly string[];
  readonly body: string;
}

export type StrictReading =
  | { readonly kind: "whole"; readonly request: StrictRequest; readonly rest: string }
  /** Nothing is wrong so far, and bytes are missing. */
  | { readonly kind: "cut" };

/** The first request in the bytes of a connection. Throws on bytes that could be read in two ways. RFC 9112. */
export function readStrictly(bytes: string): StrictReading {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return { kind: "cut" };
  const [line = "", ...fields] = bytes.slice(0, end).split("\r\n");
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [\x21-\x7e]+ HTTP\/1\.1$/.test(line)) throw new Error(`no request line: ${line}`);
  const odd = fields.find((field) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+: [\t\x20-\x7e\x80-\xff]*$/.test(field));
  if (odd !== undefined) throw new Error(`no field: ${odd}`);
  const framing = fields.filter((field) => /^(?:content-length|transfer-encoding):/i.test(field));
  if (framing.length > 1) throw new Error(`two framings: ${framing.join(", ")}`);
  const content = bytes.slice(end + 4);
  const size = contentSize(content, framing[0]?.toLowerCase());
  if (size === null || size > content.length) return { kind: "cut" };
  return { kind: "whole", request: { line, fields, body: content.slice(0, size) }, rest: content.slice(size) };
}

/** The number of bytes that the content takes on the wire; `null` if its end has not come yet. */
function contentSize(content: string, framing: string | undefined): number | null {
  if (framing === undefined) return 0;
  const length = /^content-length: ([0-9]+)$/.exec(framing);
  if (length) return Number(length[1]);
  if (framing !== "transfer-encoding: chunked") throw new Error(`no framing: ${framing}`);
  for (let at = 0; at < content.length; ) {
    const size = /^([0-9a-f]+)\r\n/i.exec(content.slice(at, at + 18));
    if (!size) return halfSize(content.slice(at));
    const dataEnd = at + size[0].length + Number.parseInt(size[1]!, 16);
    const ending = content.slice(dataEnd, dataEnd + 2);
    if (!"\r\n".startsWith(ending)) throw new Error(`no end of a chunk: ${content.slice(at)}`);
    at = dataEnd + 2;
    if (/^0+$/.test(size[1]!)) return at;
  }
  return null;
}

/** A chunk's size may have come in part. */
function halfSize(text: string): null {
  if (!/^[0-9a-f]{0,16}\r?$/i.test(text)) throw new Error(`no chunk: ${text}`);
  return null;
}

/**
 * All requests that a strict origin received. Throws on bytes that could be read in two ways, and on an incomplete
 * request.
 */
export function requestsIn(bytes: string): StrictRequest[] {
  const requests: StrictRequest[] = [];
  for (let rest = bytes; rest !== ""; ) {
    const read = readStrictly(rest);
    if (read.kind === "cut") throw new Error(`half a request: ${rest}`);
    requests.push(read.request);
    rest = read.rest;
  }
  return requests;
}

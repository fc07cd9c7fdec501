/** Frames of HTTP/2 as text of which each character is a byte (latin1). RFC 9113 §4.1, §6. */

export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

export const TYPES = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAGS = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** `length`: the one that the frame claims. Default: that of its payload. */
export function frame(type: number, flags: number, stream: number, payload = "", length = payload.length): string {
  return uint(length, 3) + uint(type, 1) + uint(flags, 1) + uint(stream, 4) + payload;
}

export function uint(value: number, bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer.toString("latin1");
}

export function settings(...pairs: readonly (readonly [id: number, value: number])[]): string {
  return frame(TYPES.settings, 0, 0, pairs.map(([id, value]) => uint(id, 2) + uint(value, 4)).join(""));
}

/** A field that goes into no table. RFC 7541 §6.2.2. */
export function literal(name: string, value: string): string {
  return `\x00${text(name)}${text(value)}`;
}

function text(value: string): string {
  let rest = value.length;
  if (rest < 127) return uint(rest, 1) + value;
  let length = "\x7f";
  for (rest -= 127; rest >= 128; rest = Math.floor(rest / 128)) length += uint(128 + (rest % 128), 1);
  return length + uint(rest, 1) + value;
}

/** `GET https://a.test` with this path, beside the fields. RFC 7541 Appendix A. */
export function getHead(path: string, fields = ""): string {
  return `\x82\x87${path === "/" ? "\x84" : `\x04${text(path)}`}\x01\x06a.test${fields}`;
}

/** A whole request without a body. */
export function get(stream: number, path = "/", fields = ""): string {
  return frame(TYPES.headers, FLAGS.endStream | FLAGS.endHeaders, stream, getHead(path, fields));
}

/** The frames of a request without a body whose head does not fit into one. */
export function inPieces(stream: number, head: string): string[] {
  const pieces = head.match(/.{1,16000}/gs)!;
  return pieces.map((piece, at) => {
    const end = at === pieces.length - 1 ? FLAGS.endHeaders : 0;
    if (at > 0) return frame(TYPES.continuation, end, stream, piece);
    return frame(TYPES.headers, FLAGS.endStream | end, stream, piece);
  });
}

import fc from "fast-check";
import { framedBody, HIDDEN_REQUEST, lineEnd, PAGE, RAW_HOST } from "./raw-bodies.ts";
import { head, separator } from "./raw-head.ts";

/*
 * Bytes that a visitor may write to his connection, one character for each: requests by the grammar of RFC 9112 with damage
 * in every place, sound requests with a few bytes changed, and noise.
 */

/** A request by the grammar, with damage. */
const request = fc.tuple(head, framedBody).chain(([start, { fields, body }]) =>
  fc
    .tuple(
      fc
        .tuple(
          ...fields.map(([each, size]) =>
            fc.tuple(separator, lineEnd).map(([colon, end]) => each + colon + size + end),
          ),
        )
        .map((lines) => lines.join("")),
      lineEnd,
    )
    .map(([framing, end]) => start + framing + end + body),
);

const follower = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  { weight: 2, arbitrary: fc.constant(HIDDEN_REQUEST) },
  request,
  fc.constantFrom("\r\n", "\u0000", "GET"),
);

/**
 * A position as a share of a message's length, so that it shrinks with the message. All positions are equally likely.
 */
const share = fc.noBias(fc.integer({ min: 0, max: 999 })).map((part) => part / 1000);

function at(text: string, place: number): number {
  return Math.floor(place * text.length);
}

const pipelined = fc.tuple(request, follower).map((two) => two.join(""));
const truncated = fc.tuple(pipelined, share).map(([text, place]) => text.slice(0, at(text, place)));

const SOUND = [
  `GET ${PAGE} HTTP/1.1\r\nHost: ${RAW_HOST}\r\n\r\n`,
  `POST ${PAGE} HTTP/1.1\r\nHost: ${RAW_HOST}\r\nContent-Length: ${HIDDEN_REQUEST.length}\r\n\r\n${HIDDEN_REQUEST}`,
  `POST ${PAGE} HTTP/1.1\r\nHost: ${RAW_HOST}\r\nTransfer-Encoding: chunked\r\n\r\n` +
    `${HIDDEN_REQUEST.length.toString(16)}\r\n${HIDDEN_REQUEST}\r\n0\r\n\r\n`,
  `GET ${PAGE} HTTP/1.1\r\nHost: ${RAW_HOST}\r\nX-A: 1\r\nConnection: x-a\r\n\r\n${HIDDEN_REQUEST}`,
];

const byte = fc.oneof(
  fc.constantFrom(..."\r\n\t :,;\u0000\u000b\u007f\u0080\u00ff0159afx"),
  fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
);
const edit = fc.record({
  place: share,
  removed: fc.integer({ min: 0, max: 1 }),
  added: fc.oneof(fc.constant(""), byte),
});

const edited = fc
  .tuple(fc.constantFrom(...SOUND), fc.array(edit, { minLength: 1, maxLength: 3 }))
  .map(([text, edits]) =>
    edits.reduce((sofar, { place, removed, added }) => {
      const from = at(sofar, place);
      return sofar.slice(0, from) + added + sofar.slice(from + removed);
    }, text),
  );

const noise = fc.uint8Array({ minLength: 1, maxLength: 120 }).map((bytes) => String.fromCharCode(...bytes));
const noiseThenRequest = fc.tuple(noise, fc.constant(HIDDEN_REQUEST)).map(([bytes, after]) => bytes + after);

export const rawMessage: fc.Arbitrary<string> = fc.oneof(
  { weight: 10, arbitrary: pipelined },
  { weight: 2, arbitrary: truncated },
  { weight: 6, arbitrary: edited },
  { weight: 1, arbitrary: noise },
  { weight: 1, arbitrary: noiseThenRequest },
);

import { chances } from "../../engine/chances.ts";
import { FLAGS, frame, get, getHead, inPieces, literal, PREFACE, settings, TYPES, uint } from "./frames.ts";

/** What one client sends, in pieces that it writes one after another. Each character is a byte. */
export interface HostileClient {
  readonly kind: string;
  readonly pieces: readonly string[];
  /** True if it reads nothing of the answers. */
  readonly isDeaf: boolean;
}

/** Draws the numbers of one client. */
interface Draw {
  /** A whole number from 0, below this one. */
  below(count: number): number;
  one<T>(of: readonly T[]): T;
}

const LARGEST_WINDOW = 2 ** 31 - 1;
const PATHS = ["/", "/page", "/large", "/missing", "/new/1", "//", "/%00", `/${"long".repeat(500)}`];

const repeated = (count: number, piece: (at: number) => string) => Array.from({ length: count }, (_, at) => piece(at));
const stream = (at: number) => 2 * at + 1;
const bytes = (draw: Draw, count: number) => repeated(count, () => String.fromCharCode(draw.below(256))).join("");

/** Kinds of clients, and what they send after the preface and their settings. */
const KINDS: Readonly<Record<string, (draw: Draw) => readonly string[]>> = {
  "requests as they should be": (draw) => [
    ...repeated(1 + draw.below(40), (at) => get(stream(at), draw.one(PATHS))),
    frame(TYPES.ping, 0, 0, "12345678"),
    frame(TYPES.windowUpdate, 0, 0, uint(1 + draw.below(1000), 4)),
  ],
  "requests with bodies": (draw) =>
    repeated(1 + draw.below(20), (at) => {
      const length = draw.one(["0", "5", "1000000", "-1", "x"]);
      const head = getHead("/page", literal("content-length", length)).replace("\x82", "\x83");
      const data = frame(TYPES.data, draw.one([0, FLAGS.endStream]), stream(at), "x".repeat(draw.below(16_384)));
      return frame(TYPES.headers, FLAGS.endHeaders, stream(at), head) + data;
    }),
  "frames in another order": (draw) => {
    const frames = [
      ...repeated(10, (at) => get(stream(at))),
      ...repeated(10, (at) => frame(TYPES.data, FLAGS.endStream, stream(at), "body")),
      ...repeated(5, (at) => frame(TYPES.rstStream, 0, stream(at), uint(8, 4))),
      settings([3, 100]),
      frame(TYPES.settings, FLAGS.ack, 0),
      frame(TYPES.continuation, FLAGS.endHeaders, 1, getHead("/")),
      frame(TYPES.goaway, 0, 0, uint(0, 4) + uint(0, 4)),
    ];
    for (let last = frames.length - 1; last > 0; last--) {
      const at = draw.below(last + 1);
      [frames[last], frames[at]] = [frames[at]!, frames[last]!];
    }
    return frames;
  },
  "a frame cut short": (draw) => {
    const whole = get(1, "/page") + get(3, "/large");
    return [whole.slice(0, 1 + draw.below(whole.length))];
  },
  "frames of a wrong length": (draw) =>
    repeated(1 + draw.below(5), (at) => {
      const type = draw.below(12);
      return frame(
        type,
        draw.below(256),
        draw.one([0, 1, stream(at)]),
        bytes(draw, draw.below(40)),
        draw.below(70_000),
      );
    }),
  "frames larger than allowed": (draw) => [
    frame(draw.one([0, 1, 4, 9, 77]), 0, draw.one([0, 1]), "x".repeat(16_385 + draw.below(50_000))),
  ],
  "a head that never ends": (draw) => [
    frame(TYPES.headers, FLAGS.endStream, 1, getHead("/")),
    ...repeated(50, () => frame(TYPES.continuation, 0, 1, bytes(draw, draw.one([0, 1, 100]))).repeat(100)),
  ],
  "a head in countless pieces": (draw) => [
    frame(TYPES.headers, FLAGS.endStream, 1, getHead("/")),
    ...repeated(50, () => frame(TYPES.continuation, 0, 1, literal("x", "x".repeat(draw.below(100))))),
  ],
  "countless malformed heads": (draw) =>
    repeated(20, (turn) =>
      repeated(10, (at) => get(stream(10 * turn + at), draw.one(PATHS), literal("connection", "close"))).join(""),
    ),
  "many fields": (draw) => [
    ...repeated(1 + draw.below(5), (at) => {
      const field = draw.one([literal("cookie", "a=1"), literal("x-field", "x".repeat(draw.below(300))), "\x90"]);
      const head = getHead("/page", field.repeat(draw.below(2000))).slice(0, 16_000);
      return frame(TYPES.headers, FLAGS.endStream | FLAGS.endHeaders, stream(at), head);
    }),
  ],
  "a head with one long field": (draw) =>
    inPieces(1, getHead("/page", literal("x-long", "x".repeat(draw.below(200_000))))),
  "heads that cannot be decoded": (draw) => {
    const heads = [
      "\xff\xff\xff\xff\xff\xff\xff", // a number without an end
      "\xff\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", // one that is too large
      "\x80", // the index 0
      "\xfe", // an index that no table has
      `\x3f${"\xff".repeat(4)}\x07`, // a table that is larger than allowed
      `${getHead("/")}\x00\x85\xff\xff\xff\xff\xff\x01x`, // Huffman code with an end in the middle
      `${getHead("/")}\x00\x7f\xff\xff\xff\x7fname`, // a name of half a gigabyte
      bytes(draw, 1 + draw.below(200)),
    ];
    const head = draw.one(heads);
    return repeated(1 + draw.below(3), (at) =>
      frame(TYPES.headers, FLAGS.endStream | FLAGS.endHeaders, stream(at), head),
    );
  },
  "a table that grows and shrinks": (draw) =>
    repeated(100, (at) => {
      const size = draw.one(["\x20", "\x3f\xe1\x1f", "\x3f\xe1\x07"]);
      const kept = `\x40\x06x-${uint(1000 + at, 4).slice(1)}a\x7f\x81\x01${"v".repeat(256)}`;
      return frame(TYPES.headers, FLAGS.endStream | FLAGS.endHeaders, stream(at), size + getHead("/") + kept);
    }),
  "malformed requests": (draw) =>
    repeated(1 + draw.below(200), (at) => {
      const field = draw.one([
        literal("connection", "close"),
        literal("X-Upper", "x"),
        literal(":path", "/again"),
        literal("te", "gzip"),
        literal("transfer-encoding", "chunked"),
        literal("host", "other.test"),
        literal("bad name", "x"),
        literal("x-break", "a\r\nb: c"),
        literal("", "x"),
      ]);
      return get(stream(at), draw.one(PATHS), field);
    }),
  "requests that are reset at once": (draw) =>
    repeated(40, (turn) =>
      repeated(20, (at) => {
        const id = stream(20 * turn + at);
        return get(id, draw.one(PATHS)) + frame(TYPES.rstStream, 0, id, uint(draw.below(14), 4));
      }).join(""),
    ),
  settings: (draw) => repeated(40, () => settings([draw.one([1, 3, 4, 6]), 4096]).repeat(20)),
  "settings that are not allowed": (draw) => [
    get(1),
    settings(
      draw.one<[number, number]>([
        [2, 2],
        [4, 2 ** 31],
        [5, 10],
        [5, 2 ** 25],
        [8, 7],
        [0xffff, 1],
      ]),
    ),
    get(3),
  ],
  pings: () => repeated(40, () => frame(TYPES.ping, 0, 0, "12345678").repeat(20)),
  "priorities in a circle": (draw) =>
    repeated(200, (at) => {
      const on = draw.one([stream(at), stream((at + 1) % 200), 0]);
      return frame(TYPES.priority, 0, stream(at), uint(on, 4) + uint(draw.below(256), 1));
    }),
  "windows that overflow": (draw) => [
    get(1, "/large"),
    ...repeated(3, () => frame(TYPES.windowUpdate, 0, draw.one([0, 1]), uint(draw.one([0, 1, LARGEST_WINDOW]), 4))),
  ],
  "a window that changes": (draw) => [
    ...repeated(20, (at) => get(stream(at), "/large")),
    ...repeated(50, () => settings([4, draw.one([0, 1, 65_535, LARGEST_WINDOW])])),
  ],
  "a client that reads nothing": () => [
    settings([4, LARGEST_WINDOW]),
    ...repeated(200, (at) => get(stream(at), "/large")),
  ],
  "a client whose window is closed": () => [settings([4, 0]), ...repeated(200, (at) => get(stream(at), "/large"))],
  "frames that only servers send, or nobody": (draw) => [
    get(1, "/large"),
    draw.one([
      frame(TYPES.pushPromise, FLAGS.endHeaders, 1, uint(2, 4) + getHead("/")),
      frame(TYPES.headers, FLAGS.endStream | FLAGS.endHeaders, 2, getHead("/")),
      frame(TYPES.data, 0, 9, "data of a stream that nobody has opened"),
      frame(TYPES.data, FLAGS.padded, 1, "\xffx"),
      frame(TYPES.ping, FLAGS.ack, 0, "12345678"),
      frame(200, 0, 0, "of another protocol").repeat(500),
      frame(TYPES.data, 0, 1).repeat(5000),
    ]),
  ],
  "requests with some bytes changed": (draw) => {
    const whole = [...repeated(5, (at) => get(stream(at), draw.one(PATHS))).join("")];
    for (let change = 0; change < 1 + draw.below(5); change++) {
      whole[draw.below(whole.length)] = String.fromCharCode(draw.below(256));
    }
    return [whole.join("")];
  },
  noise: (draw) => [bytes(draw, 1 + draw.below(2000))],
};

/** The kinds that the server counts as floods. */
export const FLOODS = [
  "requests that are reset at once",
  "a head in countless pieces",
  "countless malformed heads",
  "settings",
  "pings",
] as const;

export const KIND_NAMES = Object.keys(KINDS);

/** The client of a seed. `kind`: default, one of all. */
export function hostileClient(seed: number, kind?: string): HostileClient {
  const random = chances(seed);
  const below = (count: number) => Math.floor(random() * count);
  const draw: Draw = { below, one: (of) => of[below(of.length)]! };
  const chosen = kind ?? draw.one(KIND_NAMES);
  const frames = KINDS[chosen]!(draw);
  // Now and then the preface is missing, or the settings are.
  const begin = draw.below(40);
  const opening = kind === undefined && begin === 0 ? "" : PREFACE + (begin === 1 ? "" : settings());
  const isDeaf = chosen === "a client that reads nothing" || draw.below(10) === 0;
  return { kind: chosen, pieces: [opening, ...frames], isDeaf };
}

import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { breath } from "../../../suite/until.ts";

/** What has become of the requests of visitors. */
export interface Fates {
  answered: number;
  /** Never sent: GOAWAY came before their turn. The client asks them on another connection. */
  unsent: number;
  /** Sent, and refused unseen, so that a client may ask again. RFC 9113 §8.7. */
  refused: number;
  /** Everything else, in words: also those that GOAWAY had named as taken, and that were refused later. */
  readonly lost: string[];
}

export function noFates(): Fates {
  return { answered: 0, unsent: 0, refused: 0, lost: [] };
}

/** What a visitor asks for. The origin may answer late, and the edge may not store what it answers. */
export interface Wish {
  readonly path: string;
  /** The body that is sent, piece by piece; `null` for a GET. */
  readonly body: string | null;
  /** The text of the answer. */
  readonly expected: string;
}

/**
 * Asks on one connection all the time, and on a new one as soon as the server says that this one ends, as browsers do. The old
 * one carries its last answers meanwhile.
 */
export class Http2Visitor {
  readonly #url: string;
  readonly #fates: Fates;
  #session: ClientHttp2Session | undefined;
  /** The last stream that GOAWAY has named, by connections: up to it the server has taken all. */
  readonly #promised = new WeakMap<ClientHttp2Session, number>();

  constructor(url: string, fates: Fates) {
    this.#url = url;
    this.#fates = fates;
  }

  /** Asks for all of these at a time, again and again. Resolves when it is over, and the last answers have come. Never rejects. */
  async visit(wishes: readonly Wish[], isOver: () => boolean): Promise<void> {
    const askOn = async (wish: Wish) => {
      while (!isOver()) {
        await this.#ask(wish);
        await breath();
      }
    };
    await Promise.all(wishes.map(askOn));
    this.#session?.destroy();
  }

  async #ask({ path, body, expected }: Wish): Promise<void> {
    const session = this.#open();
    const stream = session.request({ ":path": path, ":method": body === null ? "GET" : "POST" });
    if (body !== null) void send(stream, body);
    let isUnsent = false;
    stream.on("frameError", () => {
      isUnsent = true;
    });
    const got = await received(stream);
    if (got.status === 200 && got.body === expected) this.#fates.answered++;
    else if (isUnsent) this.#fates.unsent++;
    else if (got.rstCode === constants.NGHTTP2_REFUSED_STREAM && stream.id! > this.#promisedOn(session)) {
      this.#fates.refused++;
    } else this.#fates.lost.push(`${path}, stream ${stream.id}: ${JSON.stringify({ ...got, body: got.body.length })}`);
  }

  #promisedOn(session: ClientHttp2Session): number {
    return this.#promised.get(session) ?? 0;
  }

  #open(): ClientHttp2Session {
    const now = this.#session;
    if (now && !now.closed && !now.destroyed) return now;
    const session = connect(this.#url, { rejectUnauthorized: false });
    session.on("error", (error) => this.#fates.lost.push(`connection: ${error.message}`));
    session.once("goaway", (_code, lastStream) => this.#promised.set(session, lastStream));
    this.#session = session;
    return session;
  }
}

/** Sends the halves one after the other, with a turn between them, unless the stream has ended. */
async function send(stream: ClientHttp2Stream, body: string): Promise<void> {
  const half = body.length / 2;
  stream.write(body.slice(0, half));
  await breath();
  if (!stream.destroyed) stream.end(body.slice(half));
}

interface Received {
  readonly status: number | null;
  readonly body: string;
  readonly rstCode: number | undefined;
  readonly error: string | null;
}

async function received(stream: ClientHttp2Stream): Promise<Received> {
  let status: number | null = null;
  let body = "";
  let error: string | null = null;
  stream.on("response", (fields) => {
    status = fields[":status"] ?? null;
  });
  stream.setEncoding("latin1").on("data", (piece: string) => {
    body += piece;
  });
  stream.on("error", ({ message }) => {
    error = message;
  });
  await new Promise((resolve) => stream.on("close", resolve));
  return { status, body, rstCode: stream.rstCode, error };
}

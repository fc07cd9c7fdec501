import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { nodeBody } from "../../../server/bodies/node-body.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import type { BytePart } from "../../../worker/rules/ranges/range.ts";

/** A body that a tier is taking, of which others read what has come, as a disk permits. */
export class GrowingCopy {
  readonly #bodyBytes: number;
  readonly #pieces: Uint8Array[] = [];
  #state: "grows" | "is whole" | "was cut off" = "grows";
  #change = Promise.withResolvers<void>();

  constructor(body: StreamedBody) {
    this.#bodyBytes = nodeBody(body).lengthBytes!;
  }

  get wasCutOff(): boolean {
    return this.#state === "was cut off";
  }

  /** The same body as the tier in memory reads it. */
  taken(body: StreamedBody): StreamedBody {
    const reader = nodeBodies.read(body);
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const piece = await reader.next();
          if (piece) {
            this.#pieces.push(piece);
            controller.enqueue(piece);
          } else {
            this.#state = "is whole";
            controller.close();
          }
        } catch (cause) {
          this.#state = "was cut off";
          controller.error(cause);
        }
        this.#change.resolve();
        this.#change = Promise.withResolvers();
      },
      cancel: () => reader.cancel(),
    });
  }

  /** A body for one who reads it meanwhile. */
  read(part: BytePart | null): StreamedBody {
    const { first, last } = part ?? { first: 0, last: this.#bodyBytes - 1 };
    const { readable, writable } = nodeBodies.pipe(last - first + 1);
    const send = async () => {
      let at = 0;
      for (let index = 0; at <= last; index++) {
        while (index === this.#pieces.length && this.#state === "grows") await this.#change.promise;
        const piece = this.#pieces[index];
        if (!piece) throw new Error("the body was cut off");
        const wanted = piece.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at));
        if (wanted.byteLength > 0) await writable.write(wanted);
        at += piece.byteLength;
      }
      await writable.close();
    };
    void send().catch((cause) => writable.abort(cause));
    return readable;
  }
}

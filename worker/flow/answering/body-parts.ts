import type { BodyReader, BodyWriter, StreamedBody } from "../../ports/bodies.ts";
import type { Ports } from "../../ports/ports.ts";
import type { BytePart } from "../../rules/ranges/range.ts";

/** Sends one part of a body after the other to a client; `null` in place of a part stands for the whole. */
export interface BodyParts {
  send(part: BytePart | null, to: BodyWriter): Promise<void>;
  /** No more parts are sent. */
  end?(): unknown;
}

/** Whether each part lies behind the one before it. */
export function areInOrder(parts: readonly BytePart[]): boolean {
  return parts.every((part, index) => index === 0 || parts[index - 1]!.last < part.first);
}

/**
 * Parts of a body whose pieces follow each other, cut out of them without a copy: `piece`, and then those of `reader`.
 * Memory holds one piece, however slowly the client reads. Each part comes after the previous one, unless all of the
 * body is in `piece`.
 */
export function partsOf(piece: Uint8Array, reader?: BodyReader): BodyParts {
  /** Where the piece begins. */
  let at = 0;
  return {
    send: async (part, to) => {
      let { first, last } = part!;
      while (first <= last) {
        const cut = piece.subarray(first - at, last + 1 - at);
        first += cut.byteLength;
        if (cut.byteLength > 0) await to.write(cut);
        else {
          at += piece.byteLength;
          at += reader?.skip?.(first - at) ?? 0;
          const next = await reader?.next();
          if (!next) throw new Error("a stored body was cut off");
          piece = next;
        }
      }
    },
    end: () => reader?.cancel(),
  };
}

/** Parts of a body that is stored apart: only they are read. `undefined` if the first of them is gone. */
export async function partsStoredApart(
  { store, bodies }: Pick<Ports, "store" | "bodies">,
  bodyKey: string,
  firstPart: BytePart | null,
): Promise<BodyParts | undefined> {
  const read = (part: BytePart | null) => store.readBody(bodyKey, part);
  let first: StreamedBody | undefined = await read(firstPart);
  if (!first) return undefined;
  return {
    send: async (part, to) => {
      const body = first ?? (await read(part));
      first = undefined;
      if (!body) throw new Error("a body that was stored separately is missing");
      await bodies.copy(body, to);
    },
  };
}

import type { Bodies } from "../../worker/ports/bodies.ts";
import { HeldBodies, type RoomForBodies } from "./held-bodies.ts";
import { keptPiece } from "./kept-piece.ts";
import { LaterBody } from "./later-body.ts";
import { nodeBody } from "./node-body.ts";
import { makePipe } from "./pipe.ts";

/** The bodies of this platform. */
export const nodeBodies: Bodies = {
  pipe: makePipe,
  later: (lengthBytes, make, drop) => new LaterBody(lengthBytes, make, drop),
  read: (body) => {
    const reader = nodeBody(body).read();
    return {
      next: async () => {
        const piece = await reader.next();
        return piece && keptPiece(piece);
      },
      cancel: () => reader.cancel(),
    };
  },
  readThrough: (body) => nodeBody(body).read(),
  copy: async (body, to) => {
    const reader = nodeBody(body).read();
    try {
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) await to.write(piece);
    } catch (cause) {
      await reader.cancel().catch(() => undefined);
      throw cause;
    }
  },
  takeWhole: (body, lengthBytes) => nodeBody(body).takeWhole?.(lengthBytes),
};

/** The same, with the room for bodies of requests and for answers that are read ahead. */
export function nodeBodiesHeldIn(room: RoomForBodies): Bodies {
  const bodies = new HeldBodies(room);
  return {
    ...nodeBodies,
    hold: (body, maxBytes) => bodies.hold(body, maxBytes),
    readAhead: (body, maxBytes) => bodies.readAhead(body, maxBytes),
  };
}

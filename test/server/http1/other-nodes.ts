import { Server, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { Socket } from "node:net";

/** How Node could be in another version, for the fast way to fail there. It changes the Node of this thread. */
export interface OtherNode {
  change(): void;
  /** What the trial says of it. */
  readonly because: string;
}

type Callback = (...args: unknown[]) => unknown;

/** The parts of Node that are not documented. */
const { HTTPParser, parsers } = createRequire(import.meta.url)("node:_http_common") as {
  readonly HTTPParser: { readonly kOnHeadersComplete: number; readonly prototype: { finish: Callback } };
  readonly parsers: { alloc(): Record<number, Callback> };
};

export const otherNodes = {
  "has another name for its callback": {
    because: "0 of 5 hits were answered in the faster way",
    change: () => {
      const callback = parsers.alloc()[HTTPParser.kOnHeadersComplete]!; // the same of all parsers
      Object.defineProperty(callback, "name", { value: "onHead" });
    },
  },
  "tells late that a client has ended its half": {
    because: "2 of 1 misses were answered in the faster way",
    change: () => {
      beforeEvents(Server.prototype, "connection", (socket: Socket) => {
        beforeEvents(socket, "end", () => {
          const isEarly = socket.bytesWritten === 0 && !socket.destroyed;
          if (isEarly) setImmediate(() => socket.emit("end"));
          return isEarly;
        });
      });
    },
  },
  "adds a field to its answers": {
    because: "its answers differ from those of Node's own server",
    change: () => {
      const { writeHead } = ServerResponse.prototype;
      Object.assign(ServerResponse.prototype, {
        writeHead(this: ServerResponse, status: number, reason: string, fields: readonly string[]) {
          return Reflect.apply(writeHead, this, [status, reason, [...fields, "x-node", "another"]]);
        },
      });
    },
  },
  "does not tell whether a head is unfinished": {
    because: "the faster way did not notice a head that takes too long",
    change: () => {
      HTTPParser.prototype.finish = () => undefined;
    },
  },
  "loses requests with bodies": {
    because: "Error: no answer in time",
    change: () => {
      beforeEvents(Server.prototype, "request", ({ method }: { readonly method: string }) => method === "POST");
      const { setTimeout } = globalThis;
      const soon = (call: () => void, ms: number) => setTimeout(call, ms / 20);
      Object.assign(globalThis, { setTimeout: soon }); // so that no test waits for the trial's deadline
    },
  },
  "resets clients that end their half": {
    because: "Error: read ECONNRESET",
    change: () => {
      beforeEvents(Server.prototype, "connection", (socket: Socket) => {
        beforeEvents(socket, "end", () => {
          if (!socket.writableEnded) socket.resetAndDestroy();
        });
      });
    },
  },
} satisfies Record<string, OtherNode>;

/** Calls a function before each event of this name. If it returns true, nobody else is told of the event. */
function beforeEvents<Of>(emitter: NodeJS.EventEmitter, name: string, look: (of: Of) => unknown): void {
  const { emit } = emitter;
  Object.assign(emitter, {
    emit(this: NodeJS.EventEmitter, event: string, ...args: unknown[]) {
      return (event === name && look(args[0] as Of) === true) || emit.call(this, event, ...args);
    },
  });
}

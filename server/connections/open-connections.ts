import type { Duplex } from "node:stream";
import type { Connection } from "../http1/connection.ts";

const openConnection = Symbol("open connection");

type ConnectedSocket = Duplex & { [openConnection]?: Connection | undefined };

/**
 * The open connections of a listener. Not a `Map` by sockets: whenever V8 makes such a map a new table, the old table goes on
 * holding what it held, until the old generation is collected. So most connections would be copied there before they go.
 */
export class OpenConnections {
  readonly #all: Connection[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(connection: Connection): void {
    connection.place = this.#all.length;
    this.#all.push(connection);
    (connection.socket as ConnectedSocket)[openConnection] = connection;
  }

  remove(connection: Connection): void {
    const last = this.#all.pop()!;
    if (last !== connection) {
      this.#all[connection.place] = last;
      last.place = connection.place;
    }
    (connection.socket as ConnectedSocket)[openConnection] = undefined;
  }

  /** The open connection on a socket. */
  on(socket: Duplex): Connection | undefined {
    return (socket as ConnectedSocket)[openConnection];
  }

  /** The connections that are open now, in no order. The caller may end each while it iterates. */
  all(): readonly Connection[] {
    return [...this.#all];
  }
}

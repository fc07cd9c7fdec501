import type { Socket } from "node:net";
import type { buildConnector, Client as ClientType, Dispatcher } from "undici";
import Client from "undici/lib/dispatcher/client.js";
import { systemClock } from "../system-clock.ts";

/** How long a connection is given requests: milliseconds. Its name may lead elsewhere since, and a busy one would never end. */
const RENEWED_AFTER_MS = 60_000;

type PoolsOptions = Omit<ClientType.Options, "connect"> & { readonly connect: buildConnector.connector };

/** Makes a client of undici's pool. */
export function renewingClient(url: URL, options: object): Dispatcher {
  return new RenewingClient(url, options as PoolsOptions);
}

/** One that connects anew before a request if its connection is old. */
class RenewingClient extends Client {
  #socket: Socket | null = null;
  #connectedAt = 0;

  constructor(url: URL, { connect, ...options }: PoolsOptions) {
    const noted: buildConnector.connector = (target, callback) =>
      connect(target, (...outcome) => {
        this.#socket = outcome[1];
        this.#connectedAt = systemClock.elapsed();
        callback(...outcome);
      });
    super(url, { ...options, connect: noted });
    // A socket that now speaks another protocol is no longer the client's.
    this.on("disconnect", () => {
      this.#socket = null;
    });
  }

  /** The pool calls this only while no other request is under way, so that none is cut off. */
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (systemClock.elapsed() - this.#connectedAt > RENEWED_AFTER_MS) this.#socket?.destroy();
    return super.dispatch(options, handler);
  }
}

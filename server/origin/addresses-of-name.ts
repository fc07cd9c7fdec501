import type { LookupAddress } from "node:dns";
import type { Socket } from "node:net";
import { codeOrMessageOf } from "../message-of.ts";
import { FailedAddresses } from "./failed-addresses.ts";
import { ownLack } from "./origin-failure.ts";

/** This failure comes at once, so the next address is tried without a wait. A restart of the origin is no news, either. */
const REFUSED = "ECONNREFUSED";

/** The addresses of an origin's name. One that let a connection wait comes after the others for a while. */
export class AddressesOfName {
  readonly #name: string;
  readonly #failed: FailedAddresses;

  /** `now` and `say`: as in `FailedAddresses`. */
  constructor(name: string, now: () => number, say: (line: string) => void) {
    this.#name = name;
    this.#failed = new FailedAddresses(now, say);
  }

  inOrder(found: readonly LookupAddress[]): readonly LookupAddress[] {
    return this.#failed.inOrder(found, ({ address }) => this.#written(address));
  }

  /** Sees which addresses a socket tries that is about to connect. */
  watch(socket: Socket): void {
    let tried = "";
    let isTrial = false;
    const fails = (address: string, why: string) => {
      // Node sets this if the name has several addresses.
      const isOneOfSeveral = (socket.autoSelectFamilyAttemptedAddresses as string[] | undefined) !== undefined;
      if (isOneOfSeveral && why !== REFUSED) this.#failed.fails(this.#written(address), why);
    };
    socket.on("connectionAttempt", (address) => {
      tried = this.#written(address);
      isTrial = this.#failed.isTrial(tried);
    });
    socket.on("connectionAttemptTimeout", (address) => fails(address, "ETIMEDOUT"));
    socket.on("connectionAttemptFailed", (address, _port, _family, error) => {
      if (ownLack(error) === null) fails(address, codeOrMessageOf(error)); // what is lacking here says nothing of it
    });
    socket.once("connect", () => {
      if (isTrial) this.#failed.works(tried);
    });
  }

  #written(address: string): string {
    return `${address} of ${this.#name}`;
  }
}

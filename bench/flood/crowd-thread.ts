import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Crowd, paced } from "./crowd.ts";

/** What the clients of a thread ask for. */
export interface Asking {
  readonly edge: string;
  /** The number of their addresses, which ask in turn. */
  readonly addresses: number;
  readonly timesASecond: number;
  readonly seconds: number;
  /** The number of pages, which are stored; `null`: each time another page. */
  readonly pages: number | null;
}

/*
 * Clients in a thread of their own, so that no other answers wait behind theirs in this process. Tells what they got.
 */
const { edge, addresses, timesASecond, seconds, pages } = workerData as Asking;
const crowd = new Crowd();
let asked = 0;
await paced(timesASecond, AbortSignal.timeout(seconds * 1000), () => {
  const from = asked % addresses;
  const page = pages === null ? `/flood/${Date.now()}-${asked}` : `/hot/${asked % pages}`;
  asked++;
  void crowd.ask(new URL(page, edge), `10.1.${from >> 8}.${from & 255}`, { isHit: pages !== null });
});
await wait(11_000);
parentPort!.postMessage((pages === null ? crowd.misses : crowd.hits).toJSON());

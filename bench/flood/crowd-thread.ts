import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Crowd, LAST_ANSWERS_MS, PRACTICE_MS, paced } from "./crowd.ts";

/** What the clients of a thread ask for. */
export interface Asking {
  readonly edge: string;
  /** The number of their addresses, which ask in turn. */
  readonly addresses: number;
  readonly timesASecond: number;
  readonly seconds: number;
  /** Milliseconds before that in which they ask already, and no answer counts: the server's code is compiled. */
  readonly warmUpMs: number;
  /** The number of pages, which are stored; `null`: each time another page. */
  readonly pages: number | null;
  /** Another server, on which the clients' own code is compiled before their answers count. */
  readonly practice: string;
  /** Whether they leave the processor to others first: real clients have machines of their own. */
  readonly isIdle: boolean;
}

/*
 * Clients in a thread of their own, so that no other answers wait behind theirs in this process. Says when they are ready,
 * begins at the next message, and tells what they got.
 */
const { edge, addresses, timesASecond, seconds, pages, practice, isIdle, warmUpMs } = workerData as Asking;
if (isIdle) setPriority(constants.priority.PRIORITY_LOW); // of this thread
let asked = 0;
const askAt = (server: string, crowd: Crowd, forMs: number) =>
  paced(timesASecond, AbortSignal.timeout(forMs), () => {
    const from = asked % addresses;
    const page = pages === null ? `/flood/${Date.now()}-${asked}` : `/hot/${asked % pages}`;
    asked++;
    void crowd.ask(new URL(page, server), `10.1.${from >> 8}.${from & 255}`, { isHit: pages !== null });
  });
await askAt(practice, new Crowd(), PRACTICE_MS);
parentPort!.postMessage("ready");
await once(parentPort!, "message");
await askAt(edge, new Crowd(), warmUpMs);
const crowd = new Crowd();
await askAt(edge, crowd, seconds * 1000);
await wait(LAST_ANSWERS_MS);
parentPort!.postMessage((pages === null ? crowd.misses : crowd.hits).toJSON());

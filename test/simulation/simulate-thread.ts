/** A thread of `npm run simulate`: runs the worlds that it is told, and answers with what it has found in them. */
import { parentPort } from "node:worker_threads";
import { explore, seedsFrom } from "./explore.ts";

/** Neighbouring seeds. */
interface Piece {
  readonly first: number;
  readonly count: number;
}

parentPort!.on("message", async ({ first, count }: Piece) => {
  parentPort!.postMessage(await explore(seedsFrom(first, count)));
});

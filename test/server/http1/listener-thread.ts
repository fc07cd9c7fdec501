/** Starts a listener, on another Node if one is named, asks it for a hit and a miss, and tells how it has answered. */
import { subscribe } from "node:diagnostics_channel";
import { parentPort, workerData } from "node:worker_threads";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { startListener } from "../../../server/connections/start-listener.ts";
import { freePort } from "../../suite/free-ports.ts";
import { RawClient } from "../raw-client.ts";
import { otherNodes } from "./other-nodes.ts";
import { answer } from "./running-listener.ts";

export interface ListenerStart {
  /** `null`: this Node, as it is. */
  readonly node: keyof typeof otherNodes | null;
  readonly usesFastAnswers: boolean;
}

export interface ListenerReport {
  readonly warnings: readonly string[];
  readonly received: readonly string[];
  /** For how many of the two requests Node has made its own objects. */
  readonly ofNode: number;
  readonly fastHits: number;
  readonly lateAnswers: number;
}

const { node, usesFastAnswers } = workerData as ListenerStart;
if (node !== null) otherNodes[node].change();

const warnings: string[] = [];
const warn = (line: string) => void warnings.push(line);
const page = answer("page");
const isolate = { fetch: ({ url }: { url: string }) => (url.endsWith("/hit") ? page : Promise.resolve(page)) };
const where = { host: "127.0.0.1", port: await freePort() };
const listener = await startListener({ isolate, bodies: nodeBodies, warn, usesFastAnswers }, [where], false);

let ofNode = 0;
subscribe("http.server.request.start", () => ofNode++);
const received: string[] = [];
for (const path of ["/hit", "/miss"]) {
  const client = new RawClient(where);
  await client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await client.closed;
  received.push(client.received);
}
await listener.close(0);
const { fastHits, lateAnswers } = listener;
parentPort!.postMessage({ warnings, received, ofNode, fastHits, lateAnswers } satisfies ListenerReport);

import { setTimeout as wait } from "node:timers/promises";
import { BenchFailure } from "../frame/bench-failure.ts";
import { fieldOf, type RequestOptions, rawRequest, type WireAnswer } from "../load/raw-request.ts";
import type { RunningPeer } from "../peers/peer.ts";
import { fileBody, filePath, missBody, missPath } from "./static-origin.ts";

const TRIES = 100;
const REQUESTS_AT_A_TIME = 8;
/** How many of the files are requested once more, to see that they are hits. */
const FILE_SAMPLES = 50;

/** Has the page of requests with these fields stored. Fails unless it comes whole, and finally from the store. */
export async function assertStored(
  server: RunningPeer,
  path: string,
  body: string,
  fields: RequestOptions["fields"] = {},
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await rightAnswer(server, path, body, fields);
    if (isHit(server, answer) ?? true) return;
    await wait(10); // an answer may be stored in the background
  }
  throw new BenchFailure(`${server.peer.name} does not store ${path}.`);
}

/** Fails unless the page comes whole, and never from the store. */
export async function assertNeverStored(server: RunningPeer, path: string, body: string): Promise<void> {
  for (let tries = 0; tries < 3; tries++) {
    const answer = await rightAnswer(server, path, body);
    if (isHit(server, answer)) throw new BenchFailure(`${server.peer.name} stores ${path}.`);
  }
}

/** Has all files stored. Fails unless each comes whole, and those of a sample from the store. */
export async function assertFilesStored(server: RunningPeer, files: number, bytes: number): Promise<void> {
  const numbers = Array.from({ length: files }, (_, number) => number).values();
  const getAll = async () => {
    for (const number of numbers) await rightAnswer(server, filePath(number), fileBody(filePath(number), bytes));
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_A_TIME }, getAll));
  for (let sample = 0; sample < FILE_SAMPLES; sample++) {
    const path = filePath(Math.floor((sample * files) / FILE_SAMPLES));
    await assertStored(server, path, fileBody(path, bytes));
  }
}

/** Fails unless new pages come from the origin, each with its own body, and a stored page from the store. */
export async function assertMissesAndHits(server: RunningPeer, storedPath: string, body: string): Promise<void> {
  await assertStored(server, storedPath, body);
  for (let number = 0; number < 3; number++) {
    const path = missPath("_new", number);
    const answer = await rightAnswer(server, path, missBody(path));
    if (isHit(server, answer)) throw new BenchFailure(`${server.peer.name} had ${path} already.`);
    await assertStored(server, path, missBody(path));
  }
}

/** `undefined` if its fields do not say. The origin's count shows whether requests under load are hits. */
function isHit({ peer }: RunningPeer, answer: WireAnswer): boolean | undefined {
  return peer.isHit?.((name) => fieldOf(answer, name));
}

async function rightAnswer(
  { peer, url }: RunningPeer,
  path: string,
  body: string,
  fields: RequestOptions["fields"] = {},
): Promise<WireAnswer> {
  const answer = await rawRequest(new URL(path, url), { fields });
  if (answer.status === 200 && answer.body === body) return answer;
  const found = answer.body.length === body.length ? "with another body" : `with ${answer.body.length} bytes`;
  throw new BenchFailure(`${peer.name} answers ${path} with ${answer.status}, ${found}, not ${body.length} bytes.`);
}

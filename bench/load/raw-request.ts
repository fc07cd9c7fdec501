import { request as plainRequest } from "node:http";
import { request as encryptedRequest } from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import { BenchFailure } from "../frame/bench-failure.ts";

/** An answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  /** Names in lower case, in the order of the wire. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const TIMEOUT_MS = 30_000;

/** Sends one request on a separate connection, so that no field of the answer comes from reuse. */
export async function rawRequest(
  url: URL,
  { method = "GET", fields = {}, body }: RequestOptions = {},
): Promise<WireAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WireAnswer>();
  const request = url.protocol === "https:" ? encryptedRequest : plainRequest;
  const options = { method, headers: fields, agent: false, rejectUnauthorized: false } as const;
  const outgoing = request(url, options, async (incoming) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const raw = incoming.rawHeaders;
      resolve({
        status: incoming.statusCode ?? 0,
        fields: raw.flatMap((name, index) => (index % 2 ? [] : [[name.toLowerCase(), raw[index + 1]!] as const])),
        body: Buffer.concat(chunks).toString(),
      });
    } catch (cause) {
      reject(cause);
    }
  });
  outgoing.on("error", reject);
  outgoing.setTimeout(TIMEOUT_MS, () => {
    outgoing.destroy(new BenchFailure(`${url.href} was not answered within ${TIMEOUT_MS / 1000} s.`));
  });
  outgoing.end(body);
  return promise;
}

/** Repeats a request until the edge answers with a hit, because an answer is stored in the background. */
export async function requestUntilHit(name: string, url: URL, options: RequestOptions = {}): Promise<WireAnswer> {
  for (let tries = 0; tries < 50; tries++) {
    const answer = await rawRequest(url, options);
    if (fieldOf(answer, "x-cache") === "HIT") return answer;
    await wait(10);
  }
  throw new BenchFailure(`${name} does not store ${url.pathname}.`);
}

export function fieldOf(answer: WireAnswer, name: string): string | undefined {
  return answer.fields.find(([each]) => each === name)?.[1];
}

import { request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { BenchFailure } from "./bench-failure.ts";

/** An answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  /** Names in lower case, in the order in which they came. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface Question {
  readonly method?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One exchange on a connection of its own, so that nothing but the server's fields comes back. */
export async function ask(url: URL, { method = "GET", fields = {}, body }: Question = {}): Promise<WireAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WireAnswer>();
  const outgoing = request(url, { method, headers: fields, agent: false }, async (incoming) => {
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
  outgoing.end(body);
  return promise;
}

/** Asks until the edge answers from store: an answer is kept behind the one that brought it. */
export async function askUntilHit(name: string, url: URL, question: Question = {}): Promise<WireAnswer> {
  for (let tries = 0; tries < 50; tries++) {
    const answer = await ask(url, question);
    if (fieldOf(answer, "x-cache") === "HIT") return answer;
    await wait(10);
  }
  throw new BenchFailure(`${name} does not store ${url.pathname}.`);
}

export function fieldOf(answer: WireAnswer, name: string): string | undefined {
  return answer.fields.find(([each]) => each === name)?.[1];
}

import type { SeenRequest } from "../../local/cdn/scripted-origin.ts";
import type { ClientAnswer } from "../engine/engine.ts";
import type { ClientRequest } from "../engine/scenario.ts";
import { answering, type Encounter } from "./fuzz.ts";
import type { Meet } from "./meetings/meet.ts";

/** Everything that an encounter shows on one platform: what both visitors got, and what the origin received. */
export interface Account {
  readonly answers: readonly unknown[];
  readonly origin: readonly unknown[];
}

/** The second visitor comes twice, so that there is a hit among the answers if there can be one. */
export async function accountOf({ origin, first, second }: Encounter, meet: Meet): Promise<Account> {
  const seen: unknown[] = [];
  const answer = answering(origin);
  const meeting = await meet({}, (request) => {
    const received = withoutFraming(request);
    seen.push(received);
    return answer(received);
  });
  const answers: unknown[] = [];
  for (const each of [first, second, second]) answers.push(answerSeen(each, await meeting.send(each)));
  await meeting.stop();
  return { answers, origin: seen };
}

/** Fields by which each platform frames a message and keeps its connections, and those of its own. */
const OF_THE_PLATFORM = new Set([
  "cf-worker",
  "connection",
  "content-length",
  "date",
  "host",
  "keep-alive",
  "transfer-encoding",
]);

function answerSeen({ method }: ClientRequest, { status, body, fields, cutOff }: ClientAnswer): unknown {
  const kept = Object.entries(fields)
    .filter(([name]) => !OF_THE_PLATFORM.has(name))
    .map(([name, value]) => [name, comparable(name, value)]);
  // Only sockets keep the body of an answer to HEAD from its client.
  const received = method === "HEAD" ? "" : body;
  return { status, body: received, fields: Object.fromEntries(kept.toSorted()), cutOff };
}

/**
 * Without times, and without the name of an unkeyed field: of several, the first one is named, and each platform has an
 * order of its own.
 */
function comparable(name: string, value: string): string {
  if (name === "age") return "…";
  return name === "cache-status" ? value.replace(/ttl=-?\d+/, "ttl=…").replace(/unkeyed-field:[^"]+/, "…") : value;
}

function withoutFraming({ method, target, fields, body }: SeenRequest): SeenRequest {
  const kept = Object.entries(fields).filter(([name]) => !OF_THE_PLATFORM.has(name));
  return { method, target, fields: Object.fromEntries(kept.toSorted()), body };
}

import type { ClientAnswer } from "../../engine/engine.ts";
import type { ClientRequest } from "../../engine/scenario.ts";
import type { Meeting } from "../meetings/meet.ts";
import { KINDS, type SessionKind } from "./kinds.ts";
import { answerOf } from "./site.ts";
import { Visit } from "./visit.ts";

/** What the sessions of one kind got. */
export interface Tally {
  requests: number;
  /** The requests for which the origin was not asked at all. */
  hits: number;
  /** The requests that reached the origin beyond one for each of these: those that an edge adds on its own. */
  added: number;
  /** Answers that a field, a cookie or a token of another visitor has made. */
  foreign: number;
  /** Answers for a visitor without any such field, where the site makes another one for this visitor. */
  plain: number;
}

export type Tallies = ReadonlyMap<string, Tally>;

export interface Mix {
  readonly seed: number;
  /** How many sessions there are of each kind. */
  readonly sessions: number;
  readonly kinds?: readonly SessionKind[];
}

/** One request of the mix, with the kind of its session. */
interface Step {
  readonly kind: string;
  readonly request: ClientRequest;
}

/** All sessions, mixed: each keeps its order. */
export function mixOf({ seed, sessions, kinds = KINDS }: Mix): Step[] {
  const open = kinds.flatMap(({ name, session }, kind) =>
    Array.from({ length: sessions }, (_, number) => ({
      kind: name,
      requests: [...session(new Visit(seed * 1_000_003 + kind * 10_007 + number))],
    })),
  );
  const order = new Visit(seed);
  const steps: Step[] = [];
  while (open.length > 0) {
    const at = order.below(open.length);
    const { kind, requests } = open[at]!;
    steps.push({ kind, request: requests.shift()! });
    if (requests.length === 0) open.splice(at, 1);
  }
  return steps;
}

/** Sends the mix to a cache, one request after the other, and counts what the origin and the visitors saw. */
export async function measure(
  { send, asked }: Pick<Meeting, "send" | "asked">,
  steps: readonly Step[],
): Promise<Tallies> {
  const tallies = new Map<string, Tally>();
  for (const { kind, request } of steps) {
    const tally = tallies.get(kind) ?? { requests: 0, hits: 0, added: 0, foreign: 0, plain: 0 };
    tallies.set(kind, tally);
    const before = asked();
    const answer = await send(request);
    tally.requests++;
    const cost = asked() - before;
    if (cost === 0) tally.hits++;
    else tally.added += cost - 1;
    const maker = makerOf(request, answer);
    if (maker !== "own") tally[maker]++;
  }
  return tallies;
}

/** The share of the requests for which the origin was not asked. */
export function hitRatio({ requests, hits }: Tally): number {
  return hits / requests;
}

/** By whose request a body was made. Throws for an answer that no visitor of this site can get. */
function makerOf(request: ClientRequest, { status, body }: ClientAnswer): "own" | "plain" | "foreign" {
  const { method = "GET", path, fields = {} } = request;
  if (status === 304 || (status === 200 && method === "HEAD")) return "own";
  if (status !== 200) throw new Error(`${method} ${path} was answered with ${status}: ${body}`);
  const bodyFor = (by: ClientRequest["fields"] & object) =>
    answerOf({ method, target: path, fields: withoutConditions(by), body: "" }).body;
  if (body === bodyFor(fields)) return "own";
  return body === bodyFor({}) ? "plain" : "foreign";
}

function withoutConditions(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith("if-")));
}

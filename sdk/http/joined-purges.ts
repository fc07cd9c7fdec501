import { unseenWarning } from "../../wire/text/unseen-warning.ts";
import { type Item, itemsOf, PURGE_LIMITS, Purge } from "../batch/divide.ts";
import type { Clock } from "../clock.ts";
import { isOfItsItems, PurgeError, PurgeRejected } from "../errors.ts";
import { ITEM_KINDS, type PurgeCall, type PurgeRequest } from "../purge-request.ts";
import type { Receipt } from "../receipt.ts";
import { beginProgress, type Progress } from "./attempts.ts";
import { withDeadline } from "./deadline.ts";
import { contextOfNow } from "./diagnostics.ts";
import { timedOut } from "./failures.ts";

/** The most purges of one purger to one edge that run at once. Others wait meanwhile, and are joined into one. */
export const MAX_UNDER_WAY = 8;

/** A call to one edge. */
export interface EdgeCall extends PurgeCall {
  /**
   * The caller's id, or a fresh one that it has at every edge where it is sent alone. Absent for a joined purge, which
   * gets its own: the edge does not learn the ids of the calls in it, and purges again if one is sent with its id.
   */
  readonly id?: string;
  readonly deadlineMs: number;
  /** Default: those of the purger. */
  readonly retries?: number | undefined;
  readonly progress?: Progress;
}

export type SendToEdge = (call: EdgeCall) => Promise<Receipt>;

interface Waiting {
  readonly call: EdgeCall;
  /** Purges with the same one may be joined; `null` for a purge that must be sent alone. */
  together: string | readonly Waiting[] | null;
  readonly items: readonly Item[];
  /** Aborted when this caller has left, or its deadline has passed. */
  readonly signal: AbortSignal;
  readonly leftMs: () => number;
  /** Does work as a part of what this caller does, for those who trace it. */
  readonly inContext: <T>(work: () => T) => T;
  /** That of the purge it was sent with. */
  progress: Progress;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Sends a few purges to an edge at a time. Waiting purges that differ only in their items are joined into one, and each
 * caller gets a receipt with the number of its own items. So a thousand calls at once are about ten requests.
 */
class JoinedPurges {
  readonly #sendOne: SendToEdge;
  readonly #endpoint: string;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  /** Those whose items were refused, which are sent when nobody else waits, each alone. */
  readonly #refused = new Set<Waiting>();
  #underWay = 0;

  constructor(sendOne: SendToEdge, endpoint: string, clock: Clock) {
    this.#sendOne = sendOne;
    this.#endpoint = endpoint;
    this.#clock = clock;
  }

  /** May throw as well as reject. */
  send(call: EdgeCall): Promise<Receipt> {
    return this.#underWay < MAX_UNDER_WAY ? this.#counted(this.#sendOne(call)) : this.#wait(call);
  }

  #wait(call: EdgeCall): Promise<Receipt> {
    const { deadlineMs } = call;
    const { promise, resolve, reject } = Promise.withResolvers<Receipt>();
    let waiting: Waiting | undefined;
    const options = {
      clock: this.#clock,
      deadlineMs,
      signals: call.signal ? [call.signal] : [],
      timedOut: () => {
        const { attempts = 0, lastError } = waiting?.progress ?? {};
        return timedOut(this.#endpoint, deadlineMs, attempts, lastError);
      },
    };
    return withDeadline(options, ({ signal, leftMs }) => {
      const items = itemsOf(call.request);
      const [together, inContext] = [whatTheyShare(call), contextOfNow()];
      const own = { call, together, items, signal, leftMs, inContext, progress: beginProgress(), resolve, reject };
      waiting = own;
      this.#waiting.add(own);
      signal.addEventListener("abort", () => this.#forget(own));
      return promise;
    });
  }

  /** Counts a running purge until it has ended, and then lets others begin. It adds no call to an error's stack. */
  #counted<T>(sent: Promise<T>): Promise<T> {
    this.#underWay++;
    return sent.finally(() => {
      this.#underWay--;
      this.#next();
    });
  }

  #next(): void {
    while (this.#underWay < MAX_UNDER_WAY) {
      const [first] = this.#waiting.size > 0 ? this.#waiting : this.#refused;
      if (first === undefined) return;
      if (first.leftMs() <= 0) {
        this.#forget(first); // Its timer is late. Otherwise each of many would begin a request at its end.
        continue;
      }
      const { group, request } = groupOf(first, this.#waiting);
      for (const each of group) this.#forget(each);
      void this.#counted(this.#sendGroup(group, request));
    }
  }

  async #sendGroup(group: readonly Waiting[], request: PurgeRequest): Promise<void> {
    const { id, ...call } = group[0]!.call;
    const isJoined = group.length > 1;
    const progress = beginProgress();
    for (const each of group) each.progress = progress;
    // Its own deadline begins now. Those of the callers, which have begun earlier, end it.
    const sent = { ...call, request, ...(!isJoined && { id }), signal: whenAllHaveLeft(group), progress };
    try {
      const receipt = await group[0]!.inContext(() => this.#sendOne(sent));
      const receipts = isJoined ? ownReceipts(receipt, group) : [receipt];
      for (const [at, each] of group.entries()) each.resolve(receipts[at]!);
    } catch (cause) {
      if (isJoined && cause instanceof PurgeError && isOfItsItems(cause))
        this.#sendAgain(afterRefusal(group, request, cause));
      else for (const each of group) each.reject(cause);
    }
  }

  /** A part takes no other callers, whose items may be refused as well. */
  #sendAgain({ parts, alone }: AfterRefusal): void {
    for (const part of parts) for (const each of part) this.#waitAgain(each, part, this.#waiting);
    for (const each of alone) this.#waitAgain(each, null, this.#refused);
  }

  #waitAgain(each: Waiting, together: Waiting["together"], place: Set<Waiting>): void {
    if (each.signal.aborted) return;
    each.together = together;
    place.add(each);
  }

  #forget(each: Waiting): void {
    this.#waiting.delete(each);
    this.#refused.delete(each);
  }
}

/** The same call to an edge, with a limit on how many purges run at once. */
export function joinPurges(sendOne: SendToEdge, endpoint: string, clock: Clock): SendToEdge {
  const joined = new JoinedPurges(sendOne, endpoint, clock);
  return (call) => joined.send(call);
}

/** A purge with its own id, a dry run and the like cannot be part of another purge. */
function whatTheyShare({ request, deadlineMs, retries, traceparent }: EdgeCall): string | null {
  const { id, dryRun, refresh, repeatAfterMs, everything, mode = "hard", reason } = request;
  const isAlone = [id, dryRun, refresh, repeatAfterMs, everything].some(Boolean);
  return isAlone ? null : JSON.stringify([mode, reason, deadlineMs, retries, traceparent]);
}

/** The first waiting purge, the others that can be joined with it, and the joined purge. */
function groupOf(first: Waiting, waiting: ReadonlySet<Waiting>): { group: readonly Waiting[]; request: PurgeRequest } {
  const { request } = first.call;
  if (first.together === null) return { group: [first], request };
  const purge = new Purge(PURGE_LIMITS);
  const group = [...waiting].filter((each) => {
    if (each !== first && (each.together !== first.together || !purge.hasRoomFor(each.items))) return false;
    for (const item of each.items) purge.add(item);
    return true;
  });
  return { group, request: { ...request, ...purge.request() } };
}

interface AfterRefusal {
  /** The callers that are sent together. */
  readonly parts: readonly (readonly Waiting[])[];
  readonly alone: readonly Waiting[];
}

/**
 * How the callers of a refused purge are sent again: those whose items the refusal does not name together, in two halves if
 * it leaves out some, and each other one alone. If it names no item, each alone; if it says nothing, two halves.
 */
function afterRefusal(group: readonly Waiting[], request: PurgeRequest, refusal: PurgeError): AfterRefusal {
  const errors = refusal instanceof PurgeRejected ? refusal.errors : [];
  if (errors.length === 0) return { parts: halves(group), alone: [] };
  const paths = new Set(errors.map(({ path }) => path));
  const isRefused = (kind: Item["kind"]) => (_: string, at: number) => paths.has(`${kind}[${at}]`);
  const refused = new Map(ITEM_KINDS.map((kind) => [kind, new Set(request[kind]?.filter(isRefused(kind)))]));
  const isNamed = ({ items }: Waiting) => items.some(({ kind, text }) => refused.get(kind)?.has(text));
  const named = group.filter(isNamed);
  if (named.length === 0) return { parts: [], alone: group };
  const others = group.filter((each) => !isNamed(each));
  // An edge lists a few faults, and says of the whole how many more there are.
  return { parts: paths.has("") ? halves(others) : [others], alone: named };
}

function halves(group: readonly Waiting[]): Waiting[][] {
  const half = Math.ceil(group.length / 2);
  return [group.slice(0, half), group.slice(half)];
}

/** A signal that is aborted once no caller waits any more. */
function whenAllHaveLeft(group: readonly Waiting[]): AbortSignal {
  const all = new AbortController();
  let waiting = group.length;
  for (const { signal } of group) {
    signal.addEventListener("abort", () => {
      waiting -= 1;
      if (waiting === 0) all.abort(signal.reason);
    });
  }
  return all.signal;
}

/** How the edge begins the name of an item, unless it quotes what it was given. */
const KIND_PREFIXES = { urls: "", tags: "tag:", prefixes: "prefix:", hosts: "host:" } as const;

/**
 * The receipt of a joined purge for each of its callers, which tells of that caller's items alone. What names no item as a
 * caller gave it is for all.
 */
function ownReceipts(receipt: Receipt, group: readonly Waiting[]): Receipt[] {
  const callersOf = new Map<string, Set<Waiting>>();
  for (const each of group) {
    for (const { kind, text } of each.items) {
      for (const name of [JSON.stringify(text), KIND_PREFIXES[kind] + text]) {
        callersOf.set(name, (callersOf.get(name) ?? new Set()).add(each));
      }
    }
  }
  return group.map((each) => {
    const isOwn = (name: string | undefined) => callersOf.get(name ?? "")?.has(each) ?? true;
    const { request } = each.call;
    const counts = Object.fromEntries(ITEM_KINDS.map((kind) => [kind, request[kind]?.length ?? 0]));
    const { warnings = [], unseen = [], ...part } = receipt;
    const unseenBy = new Map(unseen.map((about) => [unseenWarning(about), about.item]));
    const ownWarnings = warnings.filter((text) => isOwn(unseenBy.get(text) ?? QUOTED.exec(text)?.[0]));
    const ownUnseen = unseen.filter(({ item }) => isOwn(item));
    return {
      ...part,
      accepted: { ...part.accepted, ...counts },
      ...(ownWarnings.length > 0 && { warnings: ownWarnings }),
      ...(ownUnseen.length > 0 && { unseen: ownUnseen }),
    };
  });
}

/** The item that a warning begins with. */
const QUOTED = /^"(?:[^"\\]|\\.)*"/;

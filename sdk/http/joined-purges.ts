import { unseenWarning } from "../../wire/text/unseen-warning.ts";
import { type Item, itemsOf, PURGE_LIMITS, Purge } from "../batch/divide.ts";
import { PurgeIncomplete } from "../batch/purge-incomplete.ts";
import { PurgeRejected } from "../errors.ts";
import { ITEM_KINDS, type PurgeCall, type PurgeRequest } from "../purge-request.ts";
import type { Receipt, ReceiptBody } from "../receipt.ts";

/** The most purges of one purger that run at once. Purges that arrive meanwhile wait, and are joined into one. */
export const MAX_UNDER_WAY = 8;

interface Waiting {
  readonly call: PurgeCall;
  /** The key under which purges may be joined; `null` for a purge that must be sent alone. */
  readonly together: string | null;
  readonly items: readonly Item[];
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (cause: unknown) => void;
  readonly stopListening: () => void;
}

/**
 * Sends a few purges at a time. Waiting purges that differ only in their items are joined into one, and each caller
 * gets a receipt with the number of its own items. So a thousand calls at once are about ten requests, and none uses up
 * its deadline before it is sent.
 */
class JoinedPurges {
  readonly #sendOne: (call: PurgeCall) => Promise<Receipt>;
  #waiting: Waiting[] = [];
  #underWay = 0;

  constructor(sendOne: (call: PurgeCall) => Promise<Receipt>) {
    this.#sendOne = sendOne;
  }

  /** May throw as well as reject. */
  send(call: PurgeCall): Promise<Receipt> {
    if (this.#underWay < MAX_UNDER_WAY || call.signal?.aborted) return this.#counted(this.#sendOne(call));
    return new Promise((resolve, reject) => this.#wait(call, whatTheyShare(call), resolve, reject));
  }

  #wait(call: PurgeCall, together: Waiting["together"], resolve: Waiting["resolve"], reject: Waiting["reject"]): void {
    const { signal } = call;
    const leave = () => {
      const at = this.#waiting.indexOf(waiting);
      if (at >= 0) this.#waiting.splice(at, 1);
      reject(signal!.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    const waiting: Waiting = {
      call,
      together,
      items: itemsOf(call.request),
      resolve,
      reject,
      stopListening: () => signal?.removeEventListener("abort", leave),
    };
    this.#waiting.push(waiting);
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
    while (this.#waiting.length > 0 && this.#underWay < MAX_UNDER_WAY) {
      const { group, request } = groupOf(this.#waiting);
      this.#waiting = this.#waiting.filter((each) => !group.has(each));
      void this.#counted(this.#sendGroup([...group], request));
    }
  }

  async #sendGroup(group: readonly Waiting[], request: PurgeRequest): Promise<void> {
    const { call } = group[0]!;
    const all = whenAllHaveLeft(group);
    try {
      const receipt = await this.#sendOne(group.length === 1 ? call : { ...call, request, signal: all.signal });
      const receipts = group.length === 1 ? [receipt] : ownReceipts(receipt, group);
      for (const [at, each] of group.entries()) each.resolve(receipts[at]!);
    } catch (cause) {
      // One caller's item may be the invalid one, so each purge is sent again by itself.
      const isForEach = group.length > 1 && isRefusal(cause);
      for (const { call, resolve, reject } of group) {
        if (isForEach && !call.signal?.aborted) this.#wait(call, null, resolve, reject);
        else reject(cause);
      }
    } finally {
      all.stopListening();
      for (const each of group) each.stopListening();
    }
  }
}

/** The same call, with a limit on how many purges run at once. */
export function joinPurges(sendOne: (call: PurgeCall) => Promise<Receipt>): (call: PurgeCall) => Promise<Receipt> {
  const joined = new JoinedPurges(sendOne);
  return (call) => joined.send(call);
}

/** A purge with its own id, a dry run and the like cannot be part of another purge. */
function whatTheyShare({ request, deadlineMs, traceparent }: PurgeCall): string | null {
  const { id, dryRun, refresh, repeatAfterMs, everything, mode = "hard", reason } = request;
  const isAlone = [id, dryRun, refresh, repeatAfterMs, everything].some(Boolean);
  return isAlone ? null : JSON.stringify([mode, reason, deadlineMs, traceparent]);
}

/** The first waiting purge, the others that can be joined with it, and the joined purge. */
function groupOf(waiting: readonly Waiting[]): { group: ReadonlySet<Waiting>; request: PurgeRequest } {
  const first = waiting[0]!;
  const { request } = first.call;
  if (first.together === null) return { group: new Set([first]), request };
  const purge = new Purge(PURGE_LIMITS);
  const group = waiting.filter((each) => {
    if (each !== first && (each.together !== first.together || !purge.hasRoomFor(each.items))) return false;
    for (const item of each.items) purge.add(item);
    return true;
  });
  return { group: new Set(group), request: { ...request, ...purge.request() } };
}

/** A signal that is aborted once no caller waits any more. */
function whenAllHaveLeft(group: readonly Waiting[]): { signal: AbortSignal; stopListening: () => void } {
  const all = new AbortController();
  const signals = group.map(({ call }) => call.signal);
  const check = () => {
    if (signals.every((signal) => signal?.aborted)) all.abort(signals[0]!.reason);
  };
  for (const signal of signals) signal?.addEventListener("abort", check);
  return {
    signal: all.signal,
    stopListening: () => {
      for (const signal of signals) signal?.removeEventListener("abort", check);
    },
  };
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
    const ownPart = <Part extends ReceiptBody>({ warnings = [], unseen = [], ...part }: Part) => {
      const unseenBy = new Map(unseen.map((about) => [unseenWarning(about), about.item]));
      const ownWarnings = warnings.filter((text) => isOwn(unseenBy.get(text) ?? QUOTED.exec(text)?.[0]));
      const ownUnseen = unseen.filter(({ item }) => isOwn(item));
      return {
        ...part,
        accepted: { ...part.accepted, ...counts },
        ...(ownWarnings.length > 0 && { warnings: ownWarnings }),
        ...(ownUnseen.length > 0 && { unseen: ownUnseen }),
      };
    };
    const edges = receipt.edges?.map((edge) => ownPart(edge));
    return { ...ownPart(receipt), ...(edges && { edges }) };
  });
}

/** The item that a warning begins with. */
const QUOTED = /^"(?:[^"\\]|\\.)*"/;

function isRefusal(cause: unknown): boolean {
  if (cause instanceof PurgeIncomplete) return cause.failures.some(({ error }) => error instanceof PurgeRejected);
  return cause instanceof PurgeRejected;
}

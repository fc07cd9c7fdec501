import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Clock, Wait } from "../../worker/ports/clock.ts";
import type {
  BeingStored,
  EndedElsewhere,
  Failing,
  FetchesElsewhere,
  FetchTurn,
  SharedFetchOutcome,
} from "../../worker/ports/fetches-elsewhere.ts";
import { ExpiringKeys } from "../../worker/rules/key/expiring-keys.ts";
import { fetchKeyText } from "../../worker/rules/key/fetch-key.ts";
import { within } from "../../worker/within.ts";
import { messageOf } from "../message-of.ts";
import { isPaused } from "../pause.ts";
import { byLines, type FetchNews, writeNews } from "./fetch-news.ts";
import { LockFolder, lockNameOf } from "./lock-folder.ts";
import { type Heard, isListening, Neighbour } from "./neighbour.ts";

/**
 * Other workers cannot read the body while it streams. Beyond these limits a waiting worker gets it sooner from the
 * origin.
 */
const MAX_AWAITED_BYTES = 1024 * 1024;
const MAX_BODY_MS = 1_000;
/** The same for the disk, to which a worker comes late while it answers all who have waited. */
const MAX_WRITE_MS = 5_000;
/**
 * A lock outlives its fetch by this long, and up to twice as long: another worker may have looked for the page shortly
 * before it was stored, and comes for the lock shortly after. Then it looks again.
 */
const LINGERS_MS = 50;
/** How long others do not wait for a key after a fetch that they could not use. */
const USELESS_MS = 5_000;
/** Nobody waits for a fetch that has taken longer. */
const MAX_FETCH_MS = 10_000;
/** How long a fetch may go on after an unsafe request has outdated it, or while its worker is silent. */
const OUTDATED_MS = 60_000;
/** While the folder fails, one call per this time checks whether it works again. */
const RETRY_MS = 5_000;
/** The time in which another worker removes the lock of a dead one, on a busy machine, too. */
const REMOVAL_MS = 50;
/** The most locks that are remembered for one reason. */
const MAX_REMEMBERED = 2_000;
/** Longer paths of sockets are cut by some systems. */
const MAX_SOCKET_PATH = 100;

const NEWS_OF_FAILURE = {
  error: "failed-by-origin",
  disconnected: "origin-disconnected",
  busy: "origin-busy",
} as const;

/** What those do who have waited. */
const AFTER: Readonly<Record<Heard, EndedElsewhere>> = {
  stored: { kind: "look-again" },
  useless: { kind: "look-again" },
  lost: { kind: "look-again" },
  "not-shareable": { kind: "not-shareable" },
  failed: { kind: "failed", byOrigin: false },
  dead: { kind: "failed", byOrigin: false },
  "failed-by-origin": { kind: "failed", byOrigin: "error" },
  "origin-disconnected": { kind: "failed", byOrigin: "disconnected" },
  "origin-busy": { kind: "failed", byOrigin: "busy" },
};

export interface MachineFetchesParts {
  /** Folders for the locks, the best first. */
  readonly places: readonly string[];
  readonly clock: Clock;
  /** Gets a line for the owner's log when the locks cannot be used, and when that is over. */
  readonly say: (line: string) => void;
}

/** A lock that this worker has. */
interface OwnLock {
  readonly lock: string;
  readonly isStored: (key: string) => boolean;
  readonly takenAt: number;
  /** Workers that wait for its fetch. */
  readonly waiting: Socket[];
  /** Since when the body, or then the disk, is waited for. `head`: `null` once the body has come. */
  underWay: { readonly since: number; readonly head: BeingStored | null } | null;
  /** Ends the wait for a body that takes too long to come, or to be written. */
  patience: Wait | undefined;
  /** The key of the entry once it is stored. The lock then stays only for workers that looked too early. */
  storedKey: string | null;
  hasEnded: boolean;
}

/**
 * Coordinates the fetches of all workers of a machine. Each fetch has a lock, which is taken at once and costs no other
 * worker anything. A worker that finds it taken asks the owner over a socket, and hears when the fetch has ended.
 */
export class MachineFetches {
  readonly #folder: LockFolder;
  readonly #owner: string;
  /** `null` before the folder could be used for the first time. */
  #server: Server | null = null;
  readonly #clock: Clock;
  readonly #say: (line: string) => void;
  readonly #held = new Map<string, OwnLock>();
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #sockets = new Set<Socket>();
  readonly #useless = new ExpiringKeys(MAX_REMEMBERED, USELESS_MS);
  readonly #silent = new ExpiringKeys(MAX_REMEMBERED, OUTDATED_MS);
  readonly #outdatedPages = new ExpiringKeys(MAX_REMEMBERED, OUTDATED_MS);
  /** Locks whose entries are stored, since the last sweep and before it. */
  #lingering: OwnLock[] = [];
  #lingeringLonger: OwnLock[] = [];
  #sweeping: Wait | undefined;
  #retryAt: number | null = null;
  #isRetired = false;
  #isClosed = false;

  private constructor(folder: LockFolder, owner: string, { clock, say }: MachineFetchesParts) {
    this.#folder = folder;
    this.#owner = owner;
    this.#clock = clock;
    this.#say = say;
  }

  /** If no place can be used, it says so, and tries the last one again later, or the one where other workers are. */
  static async start(parts: MachineFetchesParts): Promise<MachineFetches> {
    const owner = `${process.pid}-${randomUUID().slice(0, 8)}`;
    const faults: string[] = [];
    let place = "";
    for (place of parts.places) {
      try {
        const { folder, server } = await listenIn(place, owner);
        const fetches = new MachineFetches(folder, owner, parts);
        fetches.#listensWith(server);
        void fetches.#sweepAll().catch(() => undefined);
        return fetches;
      } catch (cause) {
        faults.push(`${place} (${messageOf(cause)})`);
        if (LockFolder.isInUse(place)) break;
      }
    }
    parts.say(`${EACH_FOR_ITSELF}, because they cannot keep locks in ${faults.join(" or in ")}.`);
    const fetches = new MachineFetches(LockFolder.at(place), owner, parts);
    fetches.#retryAt = parts.clock.now() + RETRY_MS;
    return fetches;
  }

  /** `isStored`: whether the shared tier has an entry under a key. */
  ofSite(site: string, isStored: (key: string) => boolean): FetchesElsewhere {
    const lockOf = (key: string) => lockNameOf(`${site}\n${key}`);
    return {
      take: (key) => {
        const outdated = this.#outdatedPages;
        const isOutdated = outdated.size > 0 && outdated.has(lockOf(key.page), this.#clock.now());
        return isOutdated ? undefined : this.#take(lockOf(fetchKeyText(key)), isStored);
      },
      avoid: (page) => this.#outdatedPages.remember(lockOf(page), this.#clock.now()),
    };
  }

  /**
   * This worker finishes its answers, and ends. After an upgrade the new server owns the room on the disk, so what this
   * worker fetches may not be stored: then the others share another fetch.
   */
  retire(): void {
    this.#isRetired = true;
  }

  /**
   * Closes it after the last fetch, without waiting for other workers: one may hang, and learns the same from the
   * kernel. The last worker removes the folder, with what killed workers left there.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sweeping?.cancel();
    for (const held of [...this.#held.values()]) this.#end(held, "failed");
    for (const neighbour of this.#neighbours.values()) neighbour.close();
    for (const socket of this.#sockets) socket.destroySoon();
    this.#server?.close();
    if (this.#server === null || this.#folder.leave()) return;
    await this.#sweepFolder();
    this.#folder.leave();
  }

  async #sweepFolder(folder = this.#folder): Promise<void> {
    const isAlive = (other: string) => isListening(folder.socketOf(other));
    await folder.sweep(this.#owner, isAlive).catch(() => undefined);
  }

  /** A server that was killed leaves a folder in memory, and perhaps no other one ever uses its cache. */
  async #sweepAll(): Promise<void> {
    await this.#sweepFolder();
    for (const path of this.#folder.others()) {
      try {
        const other = LockFolder.open(path);
        await this.#sweepFolder(other);
        other.leave();
      } catch {
        // It is not this user's.
      }
    }
  }

  #take(lock: string, isStored: OwnLock["isStored"]): FetchTurn | Promise<EndedElsewhere> | undefined {
    const now = this.#clock.now();
    if (this.#isClosed || this.#useless.has(lock, now) || this.#silent.has(lock, now)) return undefined;
    const held = this.#held.get(lock);
    if (held) {
      // A fetch keeps its lock when nobody here waits for it any more, and passes it to the next fetch when it ends.
      if (held.storedKey === null) return undefined;
      held.hasEnded = true;
      return this.#turn(lock, isStored);
    }
    const owner = this.#tryFolder(now, () => this.#folder.take(lock, this.#owner));
    if (owner === undefined) return undefined;
    return owner === this.#owner ? this.#turn(lock, isStored) : this.#follow(lock, owner);
  }

  #turn(lock: string, isStored: OwnLock["isStored"]): FetchTurn {
    const held: OwnLock = {
      lock,
      isStored,
      takenAt: this.#clock.now(),
      waiting: [],
      underWay: null,
      patience: undefined,
      storedKey: null,
      hasEnded: false,
    };
    this.#held.set(lock, held);
    return { tell: (news) => this.#hear(held, news) };
  }

  #hear(held: OwnLock, news: SharedFetchOutcome | BeingStored | Failing): void {
    if (held.hasEnded || held.storedKey !== null) return;
    switch (news.kind) {
      case "being-stored":
        held.underWay = { since: this.#clock.now(), head: news };
        if (held.waiting.length > 0) this.#weigh(held);
        break;
      case "storable": {
        held.underWay = { since: this.#clock.now(), head: null };
        held.patience?.cancel();
        held.patience = undefined;
        if (held.waiting.length > 0) this.#weigh(held);
        const onKept = () => this.#onStored(held, news.stored.head.key);
        void news.kept.then(onKept, onKept);
        break;
      }
      case "look-again":
        this.#end(held, "stored");
        break;
      case "not-shareable":
        this.#end(held, "not-shareable");
        break;
      case "failed":
        this.#end(held, news.byOrigin ? NEWS_OF_FAILURE[news.byOrigin] : "failed");
        break;
    }
  }

  /** Somebody waits for a body that is on its way, or is being written. */
  #weigh(held: OwnLock): void {
    if (held.underWay === null) return;
    const { since, head } = held.underWay;
    if (head && ((head.lengthBytes ?? 0) > MAX_AWAITED_BYTES || !head.isReusable())) this.#end(held, "useless");
    if (held.hasEnded || held.patience) return;
    const mostMs = head === null ? MAX_WRITE_MS : MAX_BODY_MS;
    held.patience = this.#clock.wait(Math.max(0, since + mostMs - this.#clock.now()));
    void held.patience.over.then(() => this.#end(held, "useless"));
  }

  #onStored(held: OwnLock, key: string): void {
    if (held.hasEnded) return;
    held.storedKey = key;
    if (held.waiting.length > 0) this.#endStored(held, key);
    else {
      this.#lingering.push(held);
      if (!this.#sweeping) this.#sweepLater();
    }
  }

  #sweep(): void {
    const ending = this.#lingeringLonger;
    this.#lingeringLonger = this.#lingering;
    this.#lingering = [];
    for (const held of ending) this.#end(held, "stored");
    this.#sweeping = undefined;
    if (this.#lingeringLonger.length > 0) this.#sweepLater();
  }

  #sweepLater(): void {
    this.#sweeping = this.#clock.wait(LINGERS_MS);
    void this.#sweeping.over.then(() => this.#sweep());
  }

  /** The disk may be full, or may have failed: then no worker can use another one's fetch. */
  #endStored(held: OwnLock, key: string): void {
    const otherwise = this.#isRetired ? "failed" : "useless";
    this.#end(held, held.isStored(key) ? "stored" : otherwise);
  }

  /** Releases the lock, and tells the waiting workers. */
  #end(held: OwnLock, news: FetchNews): void {
    if (held.hasEnded) return;
    held.hasEnded = true;
    held.patience?.cancel();
    this.#held.delete(held.lock);
    this.#release(held.lock);
    for (const socket of held.waiting) socket.write(writeNews(held.lock, news));
  }

  async #follow(lock: string, owner: string): Promise<EndedElsewhere> {
    let neighbour = this.#neighbours.get(owner);
    if (!neighbour) {
      neighbour = new Neighbour(this.#folder.socketOf(owner), () => this.#neighbours.delete(owner));
      this.#neighbours.set(owner, neighbour);
    }
    // A worker may hang, and say nothing.
    const said = await within(this.#clock, MAX_FETCH_MS, neighbour.ended(lock), () => null);
    if (said === null) neighbour.forget(lock);
    const heard = said ?? "lost";
    if (heard === "lost") this.#silent.remember(lock, this.#clock.now());
    if (heard === "useless") this.#useless.remember(lock, this.#clock.now());
    if (heard === "dead") {
      const remove = () => this.#folder.removeOfDead(lock, owner, this.#owner);
      const isGone = this.#tryFolder(this.#clock.now(), remove) ?? true;
      if (!isGone) await this.#clock.wait(REMOVAL_MS).over;
    }
    return AFTER[heard];
  }

  /** Another worker has connected. It sends the names of the locks that it waits for. */
  #welcome(socket: Socket): void {
    socket.setEncoding("latin1").unref();
    this.#sockets.add(socket);
    socket.on("error", () => undefined); // it closes
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on(
      "data",
      byLines((lock) => this.#onAsked(lock, socket)),
    );
  }

  #onAsked(lock: string, socket: Socket): void {
    const held = this.#held.get(lock);
    if (!held) {
      // The fetch has ended meanwhile and nothing is stored, or the folder failed at its end.
      const isLeftOver = this.#tryFolder(this.#clock.now(), () => this.#folder.isOf(lock, this.#owner));
      if (isLeftOver) this.#release(lock);
      return void socket.write(writeNews(lock, "failed"));
    }
    held.waiting.push(socket);
    if (held.storedKey !== null) this.#endStored(held, held.storedKey);
    else if (this.#clock.now() - held.takenAt > MAX_FETCH_MS) this.#end(held, "useless");
    else this.#weigh(held);
  }

  #release(lock: string): void {
    try {
      this.#folder.release(lock);
    } catch {
      // The next attempt to take a lock reports the failure.
    }
  }

  /** `undefined` if the folder fails, or has failed. */
  #tryFolder<T>(now: number, act: () => T): T | undefined {
    if (this.#retryAt !== null) {
      if (!isPaused(this.#retryAt, now, RETRY_MS)) void this.#reopen(now);
      return undefined;
    }
    try {
      return act();
    } catch (cause) {
      this.#say(`${EACH_FOR_ITSELF} for now: the locks in ${this.#folder.path} fail (${messageOf(cause)}).`);
      this.#retryAt = now + RETRY_MS;
      return undefined;
    }
  }

  /**
   * Starts again in the folder. If somebody removed the folder, the socket is gone with it, and without a socket this
   * worker counts as dead.
   */
  async #reopen(now: number): Promise<void> {
    this.#retryAt = now + RETRY_MS;
    try {
      LockFolder.open(this.#folder.path).tryOut(this.#owner); // while the folder is full, waiting workers keep their connections to this socket
      this.#server?.close();
      const { server } = await listenIn(this.#folder.path, this.#owner);
      if (this.#isClosed) return void server.close();
      this.#listensWith(server);
      this.#retryAt = null;
      this.#say("Workers share their fetches again.");
    } catch {
      // The failure has been reported.
    }
  }

  #listensWith(server: Server): void {
    this.#server = server.on("connection", (socket) => this.#welcome(socket));
  }
}

const EACH_FOR_ITSELF = "Each worker asks the origin for itself";

async function listenIn(place: string, owner: string): Promise<{ folder: LockFolder; server: Server }> {
  for (let tries = 0; ; tries++) {
    const folder = LockFolder.open(place);
    const path = folder.socketOf(owner);
    if (path.length > MAX_SOCKET_PATH) throw new Error("its path is too long for a socket");
    const server = createServer().unref();
    try {
      server.listen(path);
      await once(server, "listening");
      server.on("error", () => undefined);
      return { folder, server };
    } catch (cause) {
      // A worker that ended may have removed the folder meanwhile.
      if (tries > 2) throw cause;
    }
  }
}

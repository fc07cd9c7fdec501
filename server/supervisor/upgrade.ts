import type { ChildProcess } from "node:child_process";
import { OwnerError } from "../../package/owner-error.ts";
import type { Scheme } from "../connections/arrival.ts";
import type { ToldSessions } from "../origin/origin-news-office.ts";
import type { PermitMessage, PermitNews } from "../permits/permit-messages.ts";
import { type Handle, type HeldSocket, heldSocket } from "./listening-sockets.ts";
import { AnswersInTurn } from "./worker-process.ts";

/*
 * An upgrade in place: the supervisor starts the new version of itself, its successor, and hands over its sockets and its
 * log. They speak over the channel that Node opens between a process and its child. In order:
 *
 * 1. The successor has read its settings, and says so. Until here nothing has happened to the old server.
 * 2. It gets the sockets. The old workers hold back their calls of the log, the log is closed, and the successor opens it.
 * 3. The old workers go on with the successor's log: it knows them as readers, so that purges wait for them as well.
 * 4. Its workers accept connections. The old ones finish their answers and end, and the old supervisor with them. Until
 *    then the successor tells it what it is told itself: to open log files anew, and to stop.
 */

/** A new server did not get what it needs. The message is for the owner. */
export class UpgradeError extends OwnerError {
  override readonly name = "UpgradeError";
}

/** The variable that tells a process that it is a successor, and where its predecessor listens: JSON. */
export const SUCCEEDS = "TIDEMARK_SUCCEEDS";

type ToSuccessor =
  | { readonly kind: "socket"; readonly address: string; readonly scheme: Scheme; readonly isOurs: boolean }
  | (Omit<HandOver, "sockets"> & { readonly kind: "log"; readonly sockets: number })
  /** What the old workers want of the permits, and give back. */
  | { readonly kind: "permits"; readonly message: PermitMessage }
  | { readonly kind: "reader-ended"; readonly reader: string }
  /** The log files were moved away while the successor was starting. */
  | { readonly kind: "reopen" }
  /** What became of a "reopen". `hasWorked`: absent from an older version. */
  | { readonly kind: "reopened"; readonly hasWorked?: boolean }
  /** The settings may have changed while the successor was starting. */
  | { readonly kind: "reload" };

type Step = "prepared" | "log-open" | "listening";

type FromSuccessor =
  | { readonly kind: Step }
  | { readonly kind: "reopen" }
  /** Only to a server that has told of its permits: an older version does not know this. */
  | { readonly kind: "permits"; readonly news: PermitNews }
  | { readonly kind: "stop"; readonly withinMs: number };

/** What a successor may ask of the old server while that finishes its answers. */
export interface OldWorkers {
  /** Resolves to whether they write to log files that they have opened anew, and to no old one. */
  reopen(): Promise<boolean>;
  /** They have no more time than this for their answers. */
  finishWithin(ms: number): void;
  hearOfPermits(news: PermitNews): void;
}

/** The new server, as the old supervisor sees it. */
export class Successor {
  /** Each resolves when the successor says so, and rejects if it ends before. */
  readonly prepared = Promise.withResolvers<void>();
  readonly logOpen = Promise.withResolvers<void>();
  readonly listening = Promise.withResolvers<void>();
  /** Never rejects. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, workers: OldWorkers) {
    this.#child = child;
    const steps = { prepared: this.prepared, "log-open": this.logOpen, listening: this.listening };
    for (const { promise } of Object.values(steps)) promise.catch(() => undefined);
    child.on("message", (message: FromSuccessor) => {
      if (message.kind === "reopen")
        void workers.reopen().then((hasWorked) => this.#tell({ kind: "reopened", hasWorked }));
      else if (message.kind === "stop") workers.finishWithin(message.withinMs);
      else if (message.kind === "permits") workers.hearOfPermits(message.news);
      else steps[message.kind].resolve();
    });
    const ended = Promise.withResolvers<void>();
    this.ended = ended.promise;
    const end = (because: string) => {
      for (const { reject } of Object.values(steps)) reject(new Error(`the new server exited: ${because}`));
      ended.resolve();
    };
    child.on("exit", (code, signal) => end(signal ?? `exit code ${code}`));
    child.on("error", (error) => {
      if (child.pid === undefined) end(error.message);
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The log is closed. */
  give({ sockets, ...rest }: HandOver): void {
    for (const { handle, address, scheme, isOurs } of sockets) {
      this.#tell({ kind: "socket", address, scheme, isOurs }, handle);
    }
    this.#tell({ kind: "log", ...rest, sockets: sockets.length });
  }

  tellOfPermits(message: PermitMessage): void {
    this.#tell({ kind: "permits", message });
  }

  tellEnded(reader: string): void {
    this.#tell({ kind: "reader-ended", reader });
  }

  /** Its workers may have opened the files before they were moved away. */
  reopen(): void {
    this.#tell({ kind: "reopen" });
  }

  /** It may have read its settings before they changed. Only after it listens: an older version does not know this. */
  reload(): void {
    this.#tell({ kind: "reload" });
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Lets this process end before the successor. */
  leave(): void {
    if (this.#child.connected) this.#child.disconnect();
    this.#child.unref();
  }

  #tell(message: ToSuccessor, handle?: object): void {
    if (this.#child.connected) this.#child.send(message, handle as never, {}, () => undefined); // "exit" tells
  }
}

/** What a successor gets. */
export interface HandOver {
  readonly sockets: readonly HeldSocket[];
  /** The readers of the log that are alive. */
  readonly readers: readonly string[];
  /** The file that they lock. */
  readonly lock: string;
  /** The permits for the origin that its workers hold, by site; absent from an older version. */
  readonly permits?: Readonly<Record<string, number>> | undefined;
  /** The sessions that its workers have told; absent from an older version. */
  readonly sessions?: ToldSessions | undefined;
}

/** The old supervisor, as its successor sees it. */
export class Predecessor {
  /** Where it listens. */
  readonly addresses: readonly string[];
  readonly #sockets: HeldSocket[] = [];
  readonly #handOver = Promise.withResolvers<HandOver>();
  /** Readers that ended before anybody followed. */
  readonly #ended: string[] = [];
  #onReaderEnded: (reader: string) => void = (reader) => void this.#ended.push(reader);
  #onGone: () => void = () => undefined;
  /** What came of permits before anybody listened. */
  readonly #ofPermits: PermitMessage[] = [];
  #onPermits: (message: PermitMessage) => void = (message) => void this.#ofPermits.push(message);
  readonly #reopened = new AnswersInTurn<boolean>(true);

  /** `null` for a process that nobody started as a successor. */
  static find(): Predecessor | null {
    const addresses = process.env[SUCCEEDS];
    delete process.env[SUCCEEDS];
    if (addresses === undefined || process.send === undefined) return null;
    return new Predecessor(JSON.parse(addresses) as string[]);
  }

  private constructor(addresses: readonly string[]) {
    this.addresses = addresses;
    this.#handOver.promise.catch(() => undefined);
    process.on("message", (message: ToSuccessor, handle: unknown) => this.#take(message, handle as Handle));
    process.on("disconnect", () => {
      this.#handOver.reject(new UpgradeError("The old server exited before it had handed over."));
      this.#reopened.end();
      this.#onGone();
    });
    process.channel?.unref();
  }

  /** Takes the sockets and the log. The old server serves on from here, but without a log. */
  takeOver(): Promise<HandOver> {
    process.channel?.ref();
    this.#tell({ kind: "prepared" });
    return this.#handOver.promise.finally(() => process.channel?.unref());
  }

  /** `onGone`: the old server has ended, whatever became of its readers. */
  follow(onReaderEnded: (reader: string) => void, onGone: () => void): void {
    this.#onReaderEnded = onReaderEnded;
    for (const reader of this.#ended.splice(0)) onReaderEnded(reader);
    this.#onGone = onGone;
    if (!process.connected) onGone();
  }

  /** `onPermits`: what its workers want of the permits for the origin, and give back. */
  followPermits(onPermits: (message: PermitMessage) => void): void {
    this.#onPermits = onPermits;
    for (const message of this.#ofPermits.splice(0)) onPermits(message);
  }

  tellOfPermits(news: PermitNews): void {
    this.#tell({ kind: "permits", news });
  }

  tellLogIsOpen(): void {
    this.#tell({ kind: "log-open" });
  }

  tellIsListening(): void {
    this.#tell({ kind: "listening" });
  }

  /** Lets the old workers open their log files anew. Resolves to whether none writes an old file, as when they have ended. */
  reopen(): Promise<boolean> {
    if (!process.connected) return Promise.resolve(true);
    this.#tell({ kind: "reopen" });
    return this.#reopened.next();
  }

  /** Gives the old workers this time for the answers under way. `follow` tells when they have ended. */
  stop(withinMs: number): void {
    process.channel?.ref(); // this process has to wait for it
    this.#tell({ kind: "stop", withinMs });
  }

  #take(message: ToSuccessor, handle: Handle): void {
    if (message.kind === "socket") {
      this.#sockets.push(heldSocket(message.address, handle, message.isOurs, message.scheme));
    } else if (message.kind === "reader-ended") this.#onReaderEnded(message.reader);
    else if (message.kind === "permits") this.#onPermits(message.message);
    else if (message.kind === "reopened") this.#reopened.take(message.hasWorked ?? true);
    else if (message.kind === "reopen") process.emit("SIGUSR1", "SIGUSR1");
    else if (message.kind === "reload") process.emit("SIGHUP", "SIGHUP");
    else if (this.#sockets.length === message.sockets) this.#handOver.resolve({ ...message, sockets: this.#sockets });
    else this.#handOver.reject(new UpgradeError("The old server could not hand over its sockets."));
  }

  #tell(message: FromSuccessor): void {
    if (process.connected) process.send!(message, undefined, undefined, () => undefined); // "disconnect" tells
  }
}

import type { ChildProcess } from "node:child_process";
import { OwnerError } from "../../package/owner-error.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import { within } from "../../worker/within.ts";
import { computedMs, Pulse } from "../machine/pulse.ts";
import { messageOf } from "../message-of.ts";
import type { HeldSocket } from "./listening-sockets.ts";
import type { ServedWorker } from "./process-line.ts";
import type { ToSupervisor, ToWorker } from "./process-messages.ts";
import { handlesOf } from "./socket-handles.ts";

/** A worker that takes longer to start hangs. Milliseconds. */
export const START_WITHIN_MS = 60_000;

/** A worker that takes longer to say how it is is busy, or hangs. Milliseconds. */
const SURVEYED_WITHIN_MS = 1_000;

/** How a worker's process has ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it said of its failure; `null` if it said nothing. */
  readonly because: string | null;
}

/** The worker ended before it had done what was waited for. */
export class WorkerEndedError extends Error {
  override readonly name = "WorkerEndedError";
  readonly ending: Ending;

  constructor(name: string, ending: Ending) {
    super(`${name} ended: ${endingInWords(ending)}`);
    this.ending = ending;
  }
}

/** Workers end before they accept connections, again and again. Of the last one, all has been told when it died. */
export class NoWorkerStartsError extends OwnerError {
  override readonly name = "NoWorkerStartsError";

  constructor(last: string, ending: Ending) {
    const [because] = endingInWords(ending).split("\n", 1);
    super(`no worker starts, so the server ends; the last one, ${last}, ended: ${because}`);
  }
}

/** A worker does not come to accept connections. */
export class NotUpError extends OwnerError {
  override readonly name = "NotUpError";
  /** It has started, and its log lets it answer nobody. */
  readonly waitsForLog: boolean;

  constructor(name: string, waitsForLog: boolean) {
    const seconds = START_WITHIN_MS / 1000;
    super(
      waitsForLog
        ? `the purge log did not answer for ${seconds} s, and without it ${name} may serve no page`
        : `${name} did not start within ${seconds} s`,
    );
    this.waitsForLog = waitsForLog;
  }
}

export function endingInWords({ code, signal, because }: Ending): string {
  if (because !== null) return because;
  if (signal === "SIGKILL") return "SIGKILL (out of memory? see dmesg)";
  return signal ?? `exit code ${code}`;
}

/** What a worker's process gets from its pool. */
export interface Surroundings {
  readonly clock: Clock;
  /** `null` if there is none. */
  readonly service: ServedWorker | null;
  /** A survey of the machine, which never rejects: plain data. */
  readonly survey: (lookedFor: unknown) => Promise<unknown>;
  /** For how long it may compute without a sign. */
  readonly hangsAfterMs: number;
}

/** What a process answers in turn. Its end answers those who wait, and whoever asks later. */
export class AnswersInTurn<Answer> {
  readonly #atEnd: Answer;
  readonly #waiting: ((answer: Answer) => void)[] = [];
  #hasEnded = false;

  constructor(atEnd: Answer) {
    this.#atEnd = atEnd;
  }

  next(): Promise<Answer> {
    if (this.#hasEnded) return Promise.resolve(this.#atEnd);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  take(answer: Answer): void {
    this.#waiting.shift()?.(answer);
  }

  end(): void {
    this.#hasEnded = true;
    for (const resolve of this.#waiting.splice(0)) resolve(this.#atEnd);
  }
}

/** One worker's process, from its start to its end. */
export class WorkerProcess {
  readonly name: string;
  /** The sites that it serves. */
  readonly sites: readonly string[];
  /** Resolves when the process is gone, so that nothing of it can answer any more. Never rejects. */
  readonly ended: Promise<Ending>;
  /** `null` if the system has refused it, for want of memory for instance. */
  readonly #child: ChildProcess | null;
  readonly #clock: Clock;
  readonly #service: ServedWorker | null;
  /** Makes a survey of the machine, for a worker that wants one. */
  readonly #survey: Surroundings["survey"];
  readonly #started = Promise.withResolvers<void>();
  readonly #listening = Promise.withResolvers<void>();
  readonly #reopened = new AnswersInTurn<boolean>(true);
  readonly #held = new AnswersInTurn<void>(undefined);
  readonly #surveyed = new AnswersInTurn<unknown>(null);
  readonly #pulse: Pulse;
  #because: string | null = null;
  #hasEnded = false;
  isListening = false;
  /** It was told to end. */
  isDraining = false;
  /** It was killed because its time was over. */
  isLate = false;
  /** It could not lock its files. If the disk failed only for a moment, the next one can. */
  isLockedOut = false;

  /** `fork`: starts the process, or throws. */
  constructor(
    fork: () => ChildProcess,
    start: Extract<ToWorker, { kind: "start" }>,
    { clock, service, survey, hangsAfterMs }: Surroundings,
  ) {
    const computed = () => (this.pid === undefined ? null : computedMs(this.pid));
    this.#pulse = new Pulse({ now: () => clock.now(), computedMs: computed, hangsAfterMs });
    this.#service = service;
    this.#survey = survey;
    this.name = start.name;
    this.sites = start.logs.map(({ site }) => site);
    this.#clock = clock;
    const { promise, resolve } = Promise.withResolvers<Ending>();
    this.ended = promise;
    for (const { promise: awaited } of [this.#started, this.#listening]) awaited.catch(() => undefined);
    const end = (ending: Ending) => {
      this.#hasEnded = true;
      service?.close();
      this.isListening = false;
      const error = new WorkerEndedError(this.name, ending);
      this.#started.reject(error);
      this.#listening.reject(error);
      for (const answers of [this.#reopened, this.#held, this.#surveyed]) answers.end();
      resolve(ending);
    };
    const refused = (cause: unknown) => end({ code: null, signal: null, because: messageOf(cause) });
    let child: ChildProcess | null = null;
    try {
      child = fork();
    } catch (cause) {
      refused(cause); // of some errors Node tells by "error", and others it throws
    }
    this.#child = child;
    child?.on("message", (message) => this.#take(message as ToSupervisor));
    child?.on("exit", (code, signal) => end({ code, signal, because: this.#because }));
    child?.on("error", (error) => {
      // It could not be started, or not be told something; in the second case "exit" follows.
      if (this.pid === undefined) refused(error);
    });
    this.#tell(start);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when its program has started. Rejects with a `WorkerEndedError` if it never does. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /**
   * Gives it the sockets, which it shares with the other workers; there are `workers` in all. Resolves when it accepts
   * connections; rejects like `started`. The sites of `notAdmitted` are not served until `admit`.
   */
  listen(sockets: readonly HeldSocket[], workers: number, notAdmitted: readonly string[]): Promise<void> {
    if (notAdmitted.length > 0) this.#tell({ kind: "not-admitted", sites: notAdmitted });
    const handles = sockets.flatMap((socket) => Array<HeldSocket>(handlesOf(socket.scheme, workers)).fill(socket));
    for (const { address, scheme, handle } of handles) {
      this.#tell({ kind: "socket", address, scheme, count: handles.length }, handle);
    }
    return this.#listening.promise;
  }

  admit(site: string): void {
    this.#tell({ kind: "admitted", site });
  }

  /** Lets it finish its answers. It is killed if that takes longer than `withinMs`. */
  async drain(withinMs: number): Promise<void> {
    this.isDraining = true;
    this.#tell({ kind: "drain", withinMs });
    const wait = this.#clock.wait(withinMs);
    void wait.over.then(() => {
      this.isLate = true;
      this.kill();
    });
    await this.ended;
    wait.cancel();
  }

  /** Lets it hold back its calls of the log. Resolves when none is under way, or when it has ended. */
  hold(): Promise<void> {
    this.#tell({ kind: "hold" });
    return this.#held.next();
  }

  /** Lets it call the log again. */
  resume(): void {
    this.#tell({ kind: "resume" });
  }

  /** Lets it open its log files anew. Resolves to whether it writes no old file any more, as when it has ended. */
  reopen(): Promise<boolean> {
    this.#tell({ kind: "reopen" });
    return this.#reopened.next();
  }

  /** What it says of itself; `null` if it has ended, or does not answer within a second. */
  survey(lookedFor: readonly unknown[]): Promise<unknown> {
    this.#tell({ kind: "survey", lookedFor });
    return within(this.#clock, SURVEYED_WITHIN_MS, this.#surveyed.next(), () => null);
  }

  /** Asks it for a sign that it does not compute for ever. Kills it if it does. */
  beat(): void {
    const since = this.#pulse.beat(() => this.#tell({ kind: "give-sign" }));
    if (since === null) return;
    this.kill(`it had computed since ${new Date(since).toISOString()} without answering, and was killed`);
  }

  /** `because`: what is told of its end. */
  kill(because: string | null = null): void {
    this.#because ??= because;
    this.#child?.kill("SIGKILL");
  }

  async #answer(number: number, found: Promise<unknown> | undefined): Promise<void> {
    this.#tell({ kind: "answer", number, answer: await found });
  }

  #tell(message: ToWorker, handle?: object): void {
    if (this.#hasEnded || !this.#child?.connected) return;
    // If the worker dies meanwhile, "exit" tells.
    this.#child.send(message, handle as never, {}, () => undefined);
  }

  #take(message: ToSupervisor): void {
    if (message.kind === "started") this.#started.resolve();
    if (message.kind === "reopened") this.#reopened.take(message.hasWorked);
    if (message.kind === "sign") this.#pulse.sign();
    if (message.kind === "held") this.#held.take();
    if (message.kind === "failed") ({ because: this.#because, isLockedOut: this.isLockedOut } = message);
    if (message.kind === "tell") this.#service?.tell(message.message);
    if (message.kind === "ask") void this.#answer(message.number, this.#service?.ask(message.question));
    if (message.kind === "survey-asked") void this.#answer(message.number, this.#survey(message.lookedFor));
    if (message.kind === "surveyed") this.#surveyed.take(message.said);
    if (message.kind !== "listening") return;
    this.isListening = true;
    this.#listening.resolve();
  }
}

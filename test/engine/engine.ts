import type { Reply, SeenRequest } from "../../cdn/scripted-origin.ts";
import type { Held } from "./holds.ts";
import type { ClientRequest, LogChange, SiteChange } from "./scenario.ts";

/** What a client got. */
export interface ClientAnswer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
  /** True if the body visibly ended before its time. */
  readonly cutOff: boolean;
}

/** What happens beneath the isolates, where all of it is ours. */
export interface Beneath {
  changeLog(change: LogChange): void;
  /** How long a call of the log takes. */
  setLogDelay(ms: number): void;
  /** The next of its kind arrives when it is released. */
  holdNext(held: Held, until: string): void;
  setClock(isolate: string, aheadMs: number): void;
  /** Isolates that start from now on run the site with this change; those that run go on as they are. */
  deploy(change: SiteChange): void;
  /** The client of a request goes away: nothing that the request waits for comes back to it. */
  cancel(answer: Promise<ClientAnswer>): void;
}

/** One edge with its origin and its time. Both engines are driven through this. */
export interface Engine {
  readonly name: "memory" | "runtime";
  send(request: ClientRequest): Promise<ClientAnswer>;
  /** Lets everything go on that can, until the promise settles. */
  settle<T>(promise: Promise<T>): Promise<T>;
  advance(ms: number): Promise<void>;
  /** Only an engine whose origin may be a function of what it is asked. */
  answerBy?(answering: (request: SeenRequest) => Reply): void;
  reply(target: string, replies: readonly Reply[]): void;
  release(hold: string): void;
  originSees(target: string, count: number): Promise<void>;
  readonly seen: readonly SeenRequest[];
  originDown(): Promise<void>;
  originUp(): Promise<void>;
  restartIsolate(): Promise<void>;
  /** Waits until nothing goes on behind the answers. */
  finishWork(): Promise<void>;
  emptySharedTier(): Promise<void>;
  /** The bytes that were read of bodies stored apart, where the tier counts them. */
  readonly bodyBytesRead?: number;
  /** Only an engine whose log can be taken away. */
  setLogReachable?(reachable: boolean): void;
  /** Only an engine whose log can lose its storage: it is another log then. */
  makeLogAnew?(): Promise<void>;
  /** Only an engine in which what happens beneath the isolates is ours. */
  readonly beneath?: Beneath;
  /** How often the seed has chosen between the work of two requests. Only an engine whose order of events is a seed's. */
  readonly choicesBetweenRequests?: number;
  stop(): Promise<void>;
}

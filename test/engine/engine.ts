import type { Interim, Reply, SeenRequest } from "../../local/cdn/scripted-origin.ts";
import type { Held } from "./holds.ts";
import type { ClientRequest, LogChange, SiteChange } from "./scenario.ts";

/** An answer as the client received it. */
export interface ClientAnswer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
  /** True if the client could see that the body was cut off. */
  readonly cutOff: boolean;
  /** The interim responses before it, in order; absent where the client cannot tell. */
  readonly interims?: readonly Interim[];
}

/** Control over the events below the isolates, which only the memory engine has. */
export interface Beneath {
  changeLog(change: LogChange): void;
  /** How long a call of the log takes. */
  setLogDelay(ms: number): void;
  /** Holds back the next event of this kind until it is released. */
  holdNext(held: Held, until: string): void;
  /** Holds back all events of this kind until they are released. */
  holdAll(held: Held, until: string): void;
  /** The number of pushes that the log has sent over connections. */
  readonly pushes: number;
  setClock(isolate: string, aheadMs: number): void;
  /** Isolates that start from now on run the site with this change; running isolates keep their site. */
  deploy(change: SiteChange): void;
  /** The client of a request goes away. Nothing that the request waits for resumes it. */
  cancel(answer: Promise<ClientAnswer>): void;
}

/** An edge with its origin and its time. Both engines have this interface. */
export interface Engine {
  readonly name: "memory" | "runtime" | "server";
  send(request: ClientRequest): Promise<ClientAnswer>;
  /** Waits until all requests that were sent have arrived, where that takes time. */
  arrival?(): Promise<void>;
  /** Runs everything that can continue, until the promise settles. */
  settle<T>(promise: Promise<T>): Promise<T>;
  advance(ms: number): Promise<void>;
  /** Present if the origin can be a function of the request. */
  answerBy?(answering: (request: SeenRequest) => Reply): void;
  reply(target: string, replies: readonly Reply[]): void;
  release(hold: string): void;
  originSees(target: string, count: number): Promise<void>;
  readonly seen: readonly SeenRequest[];
  originDown(): Promise<void>;
  originUp(): Promise<void>;
  restartIsolate(): Promise<void>;
  /** Waits until no background work is left. */
  finishWork(): Promise<void>;
  emptySharedTier(): Promise<void>;
  /** The number of bytes read of bodies stored apart, if the tier counts them. */
  readonly bodyBytesRead?: number;
  /** Present if the log can be made unreachable. */
  setLogReachable?(reachable: boolean): void;
  /** Present if the log can lose its storage and thereby become another log. */
  makeLogAnew?(): Promise<void>;
  /** Present if scenarios control the events below the isolates. */
  readonly beneath?: Beneath;
  /**
   * The number of times that the seed has chosen between the work of two requests. Present if a seed decides the order
   * of events.
   */
  readonly choicesBetweenRequests?: number;
  stop(): Promise<void>;
}

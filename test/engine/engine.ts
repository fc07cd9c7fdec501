import type { Reply, SeenRequest } from "../../local/scripted-origin.ts";
import type { ClientRequest } from "./scenario.ts";

/** What a client got. */
export interface ClientAnswer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
  /** True if the body visibly ended before its time. */
  readonly cutOff: boolean;
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
  stop(): Promise<void>;
}

import type { EdgeAnswer } from "../../worker/isolate.ts";
import type { Answer } from "../../worker/ports/answer.ts";
import type { Bodies } from "../../worker/ports/bodies.ts";
import type { MadeAnswers } from "../http1/made-answers.ts";
import type { NodeRequest } from "../http1/node-request.ts";
import type { ExchangeLog } from "./access-log.ts";
import type { Scheme } from "./arrival.ts";

/** The parts of a listener by which requests are answered, in either protocol. */
export interface Answering {
  /** Never throws. */
  ask(request: NodeRequest, url: string): EdgeAnswer | Promise<EdgeAnswer>;
  failed(cause: unknown): Answer;
  readonly bodies: Bodies;
  /** By the scheme that the client used, which may differ from that of this connection if a proxy is in front. */
  readonly made: Readonly<Record<Scheme, MadeAnswers>>;
  /** `null` if nothing is logged. */
  readonly log: ExchangeLog | null;
  readonly warn: (line: string) => void;
}

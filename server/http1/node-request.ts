import type { ClientRequest, Turn } from "../../worker/ports/answer.ts";
import type { InterimResponse } from "../../worker/ports/origin.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { nodeBody } from "../bodies/node-body.ts";
import type { PushedBody } from "../bodies/pushed-body.ts";
import type { Arrival } from "../connections/arrival.ts";
import { type AnswerHead, interimHead } from "./answer-head.ts";
import type { ClientFields } from "./client-fields.ts";

/** Writes interim responses to a client until its answer begins. */
export interface InterimWriter {
  /** Browsers act on Early Hints over HTTP/2 alone. Over HTTP/1.1, nginx and Varnish may take them for the answer. */
  readonly takesHints?: boolean;
  writeInterim(head: AnswerHead): void;
}

/** The client's side of a request. */
export interface ClientSide {
  /** Calls back when the client has closed it, at once if it has already. Returns what ends this. */
  onceLeft(tell: () => void): () => void;
}

/** A request as it arrived. */
export class NodeRequest implements ClientRequest {
  readonly method: string;
  readonly headers: ClientFields;
  readonly body: PushedBody | null;
  readonly arrival: Arrival;
  /** The client waits for a 100 before it sends the body, and has not got one. RFC 9110 §10.1.1. */
  awaitsContinue = false;
  /** `null` after the answer has begun, and for a client without interim responses (HTTP/1.0). */
  interims: InterimWriter | null = null;
  /** `null` if nobody can tell when the client leaves. */
  client: ClientSide | null = null;
  /** How it waited for the origin; absent if it did not. */
  declare turn?: Turn;

  constructor(method: string, headers: ClientFields, body: PushedBody | null, arrival: Arrival) {
    this.method = method;
    this.headers = headers;
    this.body = body;
    this.arrival = arrival;
  }

  get bodyUsed(): boolean {
    return this.body?.isRead ?? false;
  }

  inform(interim: InterimResponse): void {
    this.interims?.writeInterim(interimHead(interim));
  }

  hint(link: string): void {
    if (this.interims?.takesHints) this.inform({ status: 103, fields: Fields.of(["link", link]) });
  }

  onceLeft(tell: () => void): () => void {
    return this.client?.onceLeft(tell) ?? (() => undefined);
  }

  noteTurn(turn: Turn): void {
    this.turn = turn;
  }
}

/** Methods that `Request` forbids to protect browsers. In HTTP/2 a client may send them. */
const REFUSED_BY_CLASS = /^(?:CONNECT|TRACE|TRACK)$/i;

/** A request as the web's class, for the control plane. Its body becomes a stream that reads only what is asked for. */
export function toWebRequest({ request, url }: { readonly request: ClientRequest; readonly url: string }): Request {
  const { method, headers, body } = request;
  const fields = [...headers].map(([name, value]): [string, string] => [name, value]);
  if (REFUSED_BY_CLASS.test(method))
    return Object.defineProperty(new Request(url, { headers: fields }), "method", { value: method });
  if (body === null || method === "GET" || method === "HEAD") return new Request(url, { method, headers: fields });
  const { next, cancel } = nodeBody(body).read();
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await next();
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
  const init: RequestInit & { duplex: "half" } = { method, headers: fields, body: stream, duplex: "half" };
  return new Request(url, init);
}

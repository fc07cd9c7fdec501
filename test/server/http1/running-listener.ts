import type { AddressInfo } from "node:net";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { PushedBody } from "../../../server/bodies/pushed-body.ts";
import { Listener, type ListenerParts } from "../../../server/connections/listener.ts";
import type { IncomingRequest } from "../../../worker/flow/request-context.ts";
import type { EdgeAnswer } from "../../../worker/isolate.ts";
import type { Answer } from "../../../worker/ports/answer.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";

export type Answering = (incoming: IncomingRequest) => EdgeAnswer | Promise<EdgeAnswer>;

/** A listener on a free port of the loopback interface, in front of a function. */
export interface RunningListener {
  readonly listener: Listener;
  readonly where: { readonly host: string; readonly port: number };
  readonly warnings: string[];
  stop(): Promise<void>;
}

export async function startTestListener(
  answering: Answering,
  parts: Partial<ListenerParts> = {},
): Promise<RunningListener> {
  const warnings: string[] = [];
  const warn = (line: string) => void warnings.push(line);
  const isolate = { fetch: answering };
  const listener = new Listener({ isolate, bodies: nodeBodies, warn, usesFastAnswers: true, ...parts });
  const { address, port } = (await listener.listen({ host: "127.0.0.1", port: 0 })) as AddressInfo;
  return {
    listener,
    where: { host: address, port },
    warnings,
    stop: async () => {
      await listener.close(0);
    },
  };
}

export const DATE = "Tue, 01 Jan 2030 00:00:00 GMT";

/** An answer as the corridor makes them. */
export function answer(
  body: string | Answer["body"],
  fields: Readonly<Record<string, string>> = {},
  status = 200,
  statusText = "OK",
): Answer {
  const bytes = typeof body === "string" ? Buffer.from(body, "latin1") : body;
  return { status, statusText, fields: new Fields(Object.entries({ date: DATE, ...fields })), body: bytes };
}

/** A body that comes in pieces; it is cut off after them if `isCut`. */
export function streamed(pieces: readonly string[], lengthBytes: number | null = null, isCut = false): PushedBody {
  const body = new PushedBody(lengthBytes, {
    begin: () => {
      for (const piece of pieces) body.push(Buffer.from(piece, "latin1"));
      if (isCut) body.fail(new Error("cut off"));
      else body.end();
    },
    pause: () => undefined,
    resume: () => undefined,
    cancel: () => undefined,
  });
  return body;
}

/** A body of which these pieces have come, and the end with them, before anybody reads it. */
export function arrived(pieces: readonly string[], lengthBytes: number, isCut = false): PushedBody {
  const none = () => undefined;
  const body = new PushedBody(lengthBytes, { pause: none, resume: none, cancel: none });
  for (const piece of pieces) body.push(Buffer.from(piece, "latin1"));
  if (isCut) body.fail(new Error("cut off"));
  else body.end();
  return body;
}

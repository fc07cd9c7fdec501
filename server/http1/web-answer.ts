import type { Answer } from "../../worker/ports/answer.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { PushedBody } from "../bodies/pushed-body.ts";

/** An answer of the control plane, which is made of the web's classes, as plain values. */
export function fromWebResponse({ status, statusText, headers, body }: Response): Answer {
  const fields = new Fields([...headers].filter(([name]) => name !== "set-cookie"));
  for (const cookie of headers.getSetCookie()) fields.append("set-cookie", cookie);
  return { status, statusText, fields, body: body && fromWebStream(body) };
}

/** Reads a stream only as fast as its own reader. */
function fromWebStream(stream: ReadableStream<Uint8Array>): PushedBody {
  const reader = stream.getReader();
  let isPaused = false;
  const pull = async () => {
    try {
      while (!isPaused) {
        const { done, value } = await reader.read();
        if (done) {
          body.end();
          break;
        }
        body.push(value);
      }
    } catch (cause) {
      body.fail(cause);
    }
  };
  const resume = () => {
    isPaused = false;
    void pull();
  };
  const body = new PushedBody(null, {
    begin: resume,
    pause: () => {
      isPaused = true;
    },
    resume,
    cancel: (cause) => void reader.cancel(cause).catch(() => undefined),
  });
  return body;
}

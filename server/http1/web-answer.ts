import type { EdgeAnswer } from "../../worker/isolate.ts";
import type { Answer } from "../../worker/ports/answer.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { PushedBody } from "../bodies/pushed-body.ts";

/**
 * Whether the control plane made this answer, of the web's classes. It is told by its properties, because Node loads all of its
 * own `fetch` for whoever names the class `Response`: 50 ms at the first answer of each worker, and memory.
 */
export function isOfControlPlane(answered: EdgeAnswer): answered is Response {
  return !("fields" in answered);
}

/** An answer as plain values, whoever made it. */
export function plainAnswer(answered: EdgeAnswer): Answer {
  return isOfControlPlane(answered) ? fromWebResponse(answered) : answered;
}

function fromWebResponse({ status, statusText, headers, body }: Response): Answer {
  return { status, statusText, fields: Fields.ofHeaders(headers), body: body && fromWebStream(body) };
}

/** Reads the source only as fast as its own reader reads. */
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

import type { Answer } from "../../worker/ports/answer.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { cacheStatusMember } from "../../worker/rules/forwarding/cache-status.ts";
import { EDGE_ANSWER_FIELDS } from "../../worker/rules/forwarding/edge-answer-fields.ts";

/** An answer that the listener makes itself: a text for a person. `detail` is its `Cache-Status`. */
export function ownAnswer(status: number, detail: string, words: string): Answer {
  return {
    status,
    statusText: "",
    fields: new Fields([
      ...Object.entries(EDGE_ANSWER_FIELDS),
      ["content-type", "text/plain; charset=utf-8"],
      ["cache-status", cacheStatusMember({ kind: "answered-by-edge", detail })],
    ]),
    body: Buffer.from(`${status}: ${words}.\n`),
  };
}

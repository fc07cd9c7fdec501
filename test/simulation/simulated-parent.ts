import { ParentOrigin } from "../../server/tiers/parent-origin.ts";
import type { Origin } from "../../worker/ports/origin.ts";
import type { Fields } from "../../worker/rules/fields/fields.ts";
import type { Fate } from "./fate.ts";
import { FETCH_FIELD, VALIDATION_FIELD } from "./log/answer-numbers.ts";
import type { SimulatedIsolate } from "./simulated-isolate.ts";

/** How long a message between a child and its parent takes at most, in milliseconds. */
const MESSAGE_MS = 60;
/** The share of messages that are lost. */
const LOST = 0.02;

/** One of the isolates of another PoP in place of the origin, as an isolate reaches it. */
export function simulatedParent(
  fate: Fate,
  name: string,
  now: () => number,
  anyParent: () => SimulatedIsolate,
): Origin {
  return new ParentOrigin({
    parent: {
      url: "http://parent.internal",
      fetch: async (request) => {
        await fate.delay(MESSAGE_MS);
        const target = request.pathAndQuery;
        const { failures } = fate.history;
        const askedAt = fate.now();
        const unreached = () => {
          fate.count("fetches from a parent that did not answer");
          failures.push({ target, at: fate.now() });
          return { kind: "failed", because: "unreachable", cause: "simulated" } as const;
        };
        fate.count("fetches from a parent");
        if (fate.chance(LOST)) return unreached();
        const parent = anyParent();
        fate.tell(`${name} asks its parent ${parent.name} for ${target}`);
        const response = await parent.answerChild(request);
        if (parent.hasEnded) {
          void response.body?.cancel();
          return unreached();
        }
        const fields = response.fields;
        if (response.status === 304 || request.method === "HEAD") confirmByOneNumber(fields);
        // The parent's knowledge when it gave the answer, for the checker.
        fields.set(TOLD_FIELD, String(fate.history.parents.push(parent.told.soFar()) - 1));
        const hasFailed =
          response.status >= 500 && failures.some((each) => each.target === target && each.at >= askedAt);
        await fate.delay(MESSAGE_MS);
        // Who joins the child's fetch until then has joined one that fails.
        if (hasFailed) failures.push({ target, at: fate.now() });
        return { kind: "answered", response };
      },
    },
    origin: null,
    token: "token",
    node: name,
    rules: "same",
    originFields: [],
    now,
    say: () => undefined,
  });
}

/** As the origin's own: the child's bytes are those that it has, and what confirms them is the parent's latest fetch. */
function confirmByOneNumber(fields: Fields): void {
  const confirmed = fields.get(VALIDATION_FIELD) ?? fields.get(FETCH_FIELD);
  fields.delete(FETCH_FIELD);
  if (confirmed !== null) fields.set(VALIDATION_FIELD, confirmed);
}

/** In which an answer names its parent's knowledge in the record. */
export const TOLD_FIELD = "x-parent-told";

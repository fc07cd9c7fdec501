import type { Answer } from "../../worker/ports/answer.ts";
import type { Bodies } from "../../worker/ports/bodies.ts";
import { bodyLength } from "./answer-head.ts";

/**
 * An answer with its body in memory, if all of the body has arrived; `null` otherwise. Most small answers of an origin
 * arrive in one piece, before they are written.
 */
export function wholeAnswer(answer: Answer, bodies: Bodies): Answer | null {
  const { body } = answer;
  if (body === null || body instanceof Uint8Array) return answer;
  const bytes = bodyLength(answer);
  const whole = bytes === null ? undefined : bodies.takeWhole?.(body, bytes);
  return whole === undefined ? null : { ...answer, body: whole, isOnce: true };
}

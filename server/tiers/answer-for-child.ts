import type { Answer } from "../../worker/ports/answer.ts";
import type { ParentAge } from "../../worker/ports/origin.ts";
import { Fields, inPairs } from "../../worker/rules/fields/fields.ts";
import { currentAgeMs } from "../../worker/rules/freshness/current-age.ts";
import { isFramed } from "../../worker/rules/storing/framing.ts";
import { type Stamp, storedField, tagsOf } from "../../worker/rules/storing/stored-response.ts";
import { TAG_FIELDS } from "../../worker/rules/storing/tags.ts";
import { PARENT_FIELD, writeParent } from "./parent-fields.ts";

export interface ForChild {
  /** The position of the child, as it came. */
  readonly after: string;
  /** When the request arrived: epoch milliseconds. */
  readonly arrivedAt: number;
  readonly now: () => number;
  readonly hasSameRules: boolean;
  /** How far this server has read the log. */
  readonly position: Stamp | null;
  readonly hiddenFields: readonly string[];
  readonly maxFieldBytes: number;
}

/** The age of an answer that was fetched for this request. */
const FETCHED_NOW: ParentAge = { fetchedBeforeMs: 0, ageMs: 0 };

/** The `Cache-Status` of an answer that this server makes because it got none of the origin. */
const OF_LOST_ORIGIN = /^tidemark; detail=origin-(?:unreachable|timed-out|bad-response|down)$/;

/** Fields in which a route's lifetime for browsers may stand, which is not for a cache. */
const OF_BROWSERS = ["cache-control", "expires"];

/**
 * An answer as a child gets it: with the fields that the origin has sent to caches, which visitors do not get, and with
 * the origin's lifetimes.
 */
export function answerForChild(answer: Answer, child: ForChild): Answer {
  if (answer.switchedTo !== undefined) return answer;
  const fields = Fields.copy(answer.fields);
  const { source } = answer;
  let parentAge = FETCHED_NOW;
  let hasEnd = true;
  let isOriginLost = !source && OF_LOST_ORIGIN.test(fields.get("cache-status") ?? "");
  if (source && "head" in source) {
    const { head, isOfEarlierFetch } = source;
    const fetchedBeforeMs = Math.max(isOfEarlierFetch ? 1 : 0, child.arrivedAt - head.fetchedAt);
    const ageMs = currentAgeMs(head.initialAgeMs, head.receivedAt, child.now());
    parentAge = { fetchedBeforeMs, ageMs: Math.ceil(ageMs) };
    for (const name of OF_BROWSERS) {
      const value = storedField(head, name);
      if (value === null) fields.delete(name);
      else fields.set(name, value);
    }
    for (const [name, value] of inPairs(head.hiddenFields)) fields.set(name, value);
    const tags = tagsOf(head);
    if (tags.length > 0) fields.set(TAG_FIELDS[0], tags.join(","));
  } else if (source) {
    const { passedOn } = source;
    parentAge = passedOn.parentAge ?? FETCHED_NOW;
    isOriginLost = passedOn.isOriginLost ?? false;
    hasEnd = isFramed(passedOn.status, (name) => passedOn.fields.get(name));
    for (const name of [...TAG_FIELDS, ...child.hiddenFields]) {
      const value = passedOn.fields.get(name);
      if (value !== null) fields.set(name, value);
    }
  }
  const { after, position, hasSameRules, maxFieldBytes } = child;
  fields.set(PARENT_FIELD, writeParent({ after, position, parentAge, hasSameRules, isFramed: hasEnd, isOriginLost }));
  // A child refuses what exceeds the limit. Without its tags, the page goes to one visitor and is not stored there.
  if (bytesOf(fields) > maxFieldBytes) {
    for (const name of TAG_FIELDS) fields.delete(name);
    fields.append("vary", "*");
  }
  const { source: _, ...rest } = answer;
  return { ...rest, fields, isForCache: true };
}

function bytesOf(fields: Fields): number {
  let bytes = 0;
  for (const [name, value] of fields) bytes += name.length + value.length;
  return bytes;
}

import { purgeRequestSchema } from "../../wire/purge-request.ts";
import { WITHOUT_VALUES } from "../check.ts";
import { shown } from "../errors.ts";

/**
 * The tags of a site by name: each is a string, or a function that makes one, like `(id: number) => \`song:${id}\``.
 */
export type TagVocabulary = Readonly<Record<string, string | ((...parts: never[]) => string)>>;

/** Every tag that a vocabulary can make, as a type: `"songs" | \`song:${number}\``. */
export type TagOf<T extends TagVocabulary> = {
  [Name in keyof T]: T[Name] extends (...parts: never[]) => infer Tag ? Tag : T[Name];
}[keyof T];

/**
 * Names the tags of a site in one place, so that the pages and the purges of a record cannot spell its tag differently:
 *
 * ```ts
 * export const tags = defineTags({
 *   songs: "songs",
 *   song: (id: number) => `song:${id}` as const,
 * });
 * tagResponse(response, tags.songs, tags.song(42));
 * await cdn.purgeTags(tags.song(42));
 * ```
 *
 * A function throws a `TypeError` if the edge would not store the tag, or if a part of it is missing: `null`,
 * `undefined`, `NaN`, an empty string or list. An invalid string is a `TypeError` at once.
 */
export function defineTags<const T extends TagVocabulary>(vocabulary: T): Readonly<T> {
  if (typeof vocabulary !== "object" || vocabulary === null) {
    throw new TypeError("defineTags: the first argument must be an object with a string or a function for each tag");
  }
  const tags = Object.entries(vocabulary).map(([name, make]) => [name, checkedMaker(`tags.${name}`, make)]);
  return Object.freeze(Object.fromEntries(tags)) as Readonly<T>;
}

function checkedMaker(name: string, make: TagVocabulary[string]): string | ((...parts: unknown[]) => string) {
  if (typeof make !== "function") {
    checkTag(name, make);
    return make;
  }
  return (...parts) => {
    const count = Math.max(parts.length, make.length);
    const missing = Array.from({ length: count }, (_, index) => parts[index]).findIndex(isMissing);
    if (missing >= 0)
      throw new TypeError(`${name}: argument ${missing + 1} is ${saidOf(parts[missing])}, so no page has this tag`);
    const tag = make(...(parts as never[]));
    checkTag(name, tag);
    return tag;
  };
}

function isMissing(part: unknown): boolean {
  return part === undefined || part === null || part === "" || Number.isNaN(part) || isEmptyList(part);
}

function saidOf(part: unknown): string {
  return part === "" ? "an empty string" : isEmptyList(part) ? "an empty list" : String(part);
}

function isEmptyList(part: unknown): boolean {
  return Array.isArray(part) && part.length === 0;
}

/** Throws a `TypeError` for a tag that the edge would not store. */
export function checkTag(call: string, tag: unknown): void {
  const issue = purgeRequestSchema.shape.tags.safeParse([tag], WITHOUT_VALUES).error?.issues[0];
  if (issue) throw new TypeError(`${call}: ${shown(tag)} is not a valid tag: ${issue.message}${hintFor(tag)}`);
}

function hintFor(tag: unknown): string {
  return typeof tag === "string" && /[^!-+\--~]/.test(tag) ? "; encode names with encodeURIComponent" : "";
}

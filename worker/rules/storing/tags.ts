import { withoutEscapes } from "../key/without-escapes.ts";

/** The fields in which origins name tags, in lower case. They are read, and hidden from clients. */
export const TAG_FIELDS = [
  "cache-tag",
  "surrogate-key",
  "xkey",
  "cdn-tag",
  "x-cache-tags",
  "cache-tags",
  "purge-cache-tags",
  "x-magento-tags",
  "netlify-cache-tag",
  "vercel-cache-tag",
] as const;

/** The longest tag, in bytes. */
const MAX_TAG_BYTES = 256;

/** The tags of a response, or the reason why it must not be stored: it could not be purged by all of its tags. */
export type TagsVerdict =
  | { readonly kind: "tags"; readonly tags: readonly string[] }
  | { readonly kind: "refused"; readonly because: "tag-invalid" | "too-many-tags" };

/**
 * A route's tags for the parameters of a path: with their printable ASCII as it is, since clients escape it or not, and with
 * the escapes of the path where it has others. A comma is an escape in both.
 */
export function routeTags(
  templates: readonly string[],
  parameters: Readonly<Record<string, string>>,
): readonly string[] {
  const filled = (spelt: (value: string) => string) =>
    templates.map((template) =>
      template.replace(/\{(\w+)\}/g, (_, name: string) => spelt(parameters[name] ?? "").replaceAll(",", "%2C")),
    );
  return [...new Set([...filled(withoutEscapes), ...filled((value) => value)])];
}

/**
 * Collects the tags of a response: those of its route and those in its fields, split on commas and spaces,
 * case-sensitive, each once, in order. `earlierTags` are those of a stored response that this one freshens; they are
 * kept, and count towards the limit (R17).
 */
export function collectTags(
  routeTags: readonly string[],
  fieldTexts: readonly string[],
  maxTags: number,
  earlierTags: readonly string[],
): TagsVerdict {
  if (fieldTexts.length + routeTags.length + earlierTags.length === 0) return { kind: "tags", tags: [] };
  const tags = new Set(routeTags);
  for (const text of fieldTexts) {
    for (const tag of text.split(/[\s,]+/)) if (tag !== "") tags.add(tag);
  }
  if (new Set([...tags, ...earlierTags]).size > maxTags) return { kind: "refused", because: "too-many-tags" };
  for (const tag of tags) if (!isTag(tag)) return { kind: "refused", because: "tag-invalid" };
  return { kind: "tags", tags: [...tags] };
}

/** Printable ASCII without spaces and commas, of 1 to 256 bytes. */
export function isTag(text: string): boolean {
  return text.length <= MAX_TAG_BYTES && /^[!-+\--~]+$/.test(text);
}

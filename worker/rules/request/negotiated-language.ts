/** The longest field that is read: more is no choice among languages. */
const MAX_CHARACTERS = 1024;

/**
 * The language, of those that a site has, for a client: lookup with quality values. RFC 4647 §3.4, RFC 9110 §12.5.4.
 * The client's ranges are tried from the highest weight to the lowest, each of them cut from its end until a language
 * matches. Clients that no language suits get the first one.
 */
export function negotiatedLanguage(field: string | null, languages: readonly string[]): string {
  const known = new Map(languages.map((language) => [language.toLowerCase(), language]));
  for (const range of rangesByWeight(field)) {
    for (let tag = range; tag !== ""; tag = cutOff(tag)) {
      const language = known.get(tag);
      if (language !== undefined) return language;
    }
  }
  return languages[0]!;
}

/** The ranges that are accepted, in lower case, those of one weight in the client's order. `*` chooses nothing. */
function rangesByWeight(field: string | null): string[] {
  if (field === null || field.length > MAX_CHARACTERS) return [];
  const ranges = field.split(",").flatMap((member) => {
    const match = /^([a-z0-9-]+)(?:\s*;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/.exec(
      member.trim().toLowerCase(),
    );
    const weight = Number(match?.[2] ?? 1);
    return match && weight > 0 ? [{ range: match[1]!, weight }] : [];
  });
  return ranges.sort((one, other) => other.weight - one.weight).map(({ range }) => range);
}

/** Without the last subtag, and without a single letter or digit that is then the last. RFC 4647 §3.4. */
function cutOff(tag: string): string {
  const shorter = tag.slice(0, Math.max(0, tag.lastIndexOf("-")));
  return /-[a-z0-9]$/.test(shorter) ? shorter.slice(0, -2) : shorter;
}

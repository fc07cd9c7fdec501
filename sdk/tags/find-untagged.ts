import { TAG_FIELD } from "../../wire/fields.ts";

/** A response of the backend, before the edge removes its tags: a `Response`, or its fields and its body. */
export type TaggedPage =
  | { readonly headers: { get(name: string): string | null }; text(): Promise<string> }
  | { readonly headers: { get(name: string): string | null }; readonly body: string };

/** How to recognize a record on a page. */
export interface RecordOnPage<T> {
  /** One or several tags that a page must have if it shows the record. */
  tags(record: T): string | readonly string[];
  /** Texts that show the record, such as its title. They should differ from all other text. */
  shows(record: T): string | readonly string[];
}

/** The records of a page. */
export interface RecordsOnPage<T> {
  /** The records that the page shows. A test should expect some, so that it cannot pass on an empty page. */
  shown: T[];
  /** The records whose tags the page lacks: a purge by their tag would leave the page as it was. */
  untagged: T[];
}

/**
 * Finds the records that a page shows without their tag, for a test of the backend:
 *
 * ```ts
 * const { shown, untagged } = await findUntagged(await app.request("/songs"), songs, {
 *   tags: (song) => tags.song(song.id),
 *   shows: (song) => song.title,
 * });
 * expect(shown).not.toEqual([]);
 * expect(untagged).toEqual([]);
 * ```
 *
 * Texts are found in HTML and JSON, however their characters are escaped there. The body of the response is read.
 */
export async function findUntagged<T>(
  page: TaggedPage,
  records: Iterable<T>,
  { tags, shows }: RecordOnPage<NoInfer<T>>,
): Promise<RecordsOnPage<T>> {
  if (page instanceof Promise) throw new TypeError("findUntagged: the page is a promise: await it first");
  const held = new Set((page.headers.get(TAG_FIELD) ?? "").split(/[\s,]+/));
  const body = "text" in page ? await page.text() : page.body;
  const readings = [body, withoutEntities(body), withoutJsonEscapes(body)];
  const shown = [...records].filter((record) => {
    const texts = [shows(record)].flat();
    if (texts.some((text) => typeof text !== "string" || text.trim() === "")) {
      throw new TypeError(
        "findUntagged: shows must return strings that are not empty, because every page contains the empty string",
      );
    }
    return texts.some((text) => readings.some((reading) => reading.includes(text)));
  });
  return { shown, untagged: shown.filter((record) => [tags(record)].flat().some((tag) => !held.has(tag))) };
}

/** The names that template engines write; letters with accents are named by rule. HTML §13.5. */
const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", shy: "\u00ad" },
  ...{ szlig: "ß", AElig: "Æ", aelig: "æ", OElig: "Œ", oelig: "œ", Oslash: "Ø", oslash: "ø", thorn: "þ", eth: "ð" },
  ...{ ndash: "–", mdash: "—", hellip: "…", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»" },
  ...{
    sbquo: "‚",
    bdquo: "„",
    middot: "·",
    bull: "•",
    deg: "°",
    euro: "€",
    pound: "£",
    copy: "©",
    reg: "®",
    trade: "™",
  },
};
const ACCENTS = new Map(
  Object.entries({
    ...{ grave: "\u0300", acute: "\u0301", circ: "\u0302", tilde: "\u0303" },
    ...{ uml: "\u0308", ring: "\u030a", caron: "\u030c", cedil: "\u0327" },
  }),
);

function named(name: string): string | undefined {
  const accent = ACCENTS.get(name.slice(1));
  if (accent !== undefined) return (name[0] + accent).normalize("NFC");
  return NAMED_ENTITIES[name] ?? NAMED_ENTITIES[name.toLowerCase()];
}

function withoutEntities(html: string): string {
  return html.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi, (entity, hex, decimal, name) => {
    if (name !== undefined) return named(name) ?? entity;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
  });
}

function withoutJsonEscapes(json: string): string {
  return json.replace(/\\(?:u([0-9a-f]{4})|(["\\/]))/gi, (_, hex, character) =>
    hex === undefined ? character : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

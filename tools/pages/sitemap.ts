import { gunzipSync } from "node:zlib";

/** A sitemap, or an index of sitemaps. https://www.sitemaps.org/protocol.html */
export interface Sitemap {
  readonly kind: "urlset" | "sitemapindex";
  /** The URLs as they stand there. */
  readonly locations: readonly string[];
}

/** The size of a sitemap by its protocol, uncompressed. */
export const MAX_SITEMAP_BYTES = 50 * 1024 * 1024;

/** A URL in a sitemap is shorter than 2,048 characters; escapes make it longer. */
const MAX_LOCATION = 8_192;

/** The first element, behind declarations: millions of those would exhaust the stack of the expression. */
const ROOT = /^\uFEFF?\s*(?:<[?!][^>]*>\s*){0,100}<(?:([\w.-]{1,64}):)?([\w.-]{1,64})/;

/** Reads a sitemap, even one that is compressed with gzip. `null` for any other document. */
export function readSitemap(bytes: Buffer): Sitemap | null {
  const text = textOf(bytes);
  if (text === null) return null;
  const [, prefix = "", name] = ROOT.exec(text) ?? [];
  if (name !== "urlset" && name !== "sitemapindex") return null;
  // Images and videos have their own locations, in other namespaces. No URL has a `<`: without it in CDATA, too, each
  // character is read once, even if no CDATA ends.
  const tag = prefix === "" ? "loc" : `${prefix.replaceAll(".", "\\.")}:loc`;
  const location = new RegExp(
    `<${tag}\\s*>(?:\\s*<!\\[CDATA\\[([^<]{0,${MAX_LOCATION}})\\]\\]>\\s*|([^<]{0,${MAX_LOCATION}}))</${tag}\\s*>`,
    "g",
  );
  const locations = [...text.matchAll(location)].map(([, plain, escaped]) => (plain ?? unescaped(escaped!)).trim());
  return { kind: name, locations };
}

function textOf(bytes: Buffer): string | null {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return withoutComments(bytes.toString());
  try {
    return withoutComments(gunzipSync(bytes, { maxOutputLength: MAX_SITEMAP_BYTES }).toString());
  } catch {
    return null; // It is broken, or larger than a sitemap may be.
  }
}

function withoutComments(text: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    const begin = text.indexOf("<!--", at);
    if (begin === -1) break;
    pieces.push(text.slice(at, begin));
    const end = text.indexOf("-->", begin + 4);
    if (end === -1) return pieces.join("");
    at = end + 3;
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(at);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (entity, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? entity;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

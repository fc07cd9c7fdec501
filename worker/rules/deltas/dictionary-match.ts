/**
 * The URL pattern for which a response may be the dictionary: `match` of `Use-As-Dictionary`. RFC 9842 §2.1.1.
 *
 * A file whose name has a hash of its bytes is never asked for again once it has changed, so its pattern has a `*` in
 * the place of the hash: `/assets/app.4f3a9c1d.js` is the dictionary for `/assets/app.*.js`. Everything else, and each
 * page, is the dictionary of its own next version. `null` for a file whose whole name is a hash: nothing tells which
 * one replaces it. `path`: canonical, as in the key.
 */
export function dictionaryMatch(path: string, isPage: boolean): string | null {
  const slash = path.lastIndexOf("/");
  const folder = path.slice(0, slash + 1);
  const name = path.slice(slash + 1);
  if (isPage || !EXTENSION.test(name)) return patternOf(path);
  const hashed = hashIn(name);
  if (hashed === "whole") return null;
  if (hashed !== null) {
    return `${patternOf(folder + name.slice(0, hashed.from))}*${patternOf(name.slice(hashed.to))}`;
  }
  return inHashedFolder(folder, name) ?? patternOf(path);
}

/** One or two endings: `.js`, `.chunk.js`, `.min.css`, `.digested.js`. */
const EXTENSION = /(?:\.[a-z]{2,9})?\.[a-z][a-z0-9]{0,9}$/;

/** Where a name has its hash, which stands before the endings, behind a dot or a hyphen. */
function hashIn(name: string): { readonly from: number; readonly to: number } | "whole" | null {
  for (const ending of [EXTENSION, SHORT_EXTENSION]) {
    const to = ending.exec(name)?.index ?? -1;
    if (to <= 0) continue;
    const stem = name.slice(0, to);
    if (isHashAlone(stem)) return "whole";
    const from = Math.max(stem.lastIndexOf("."), stem.lastIndexOf("-")) + 1;
    if (from > 1 && isHash(stem.slice(from))) return { from, to };
    // The hashes of Rollup have eight characters, of which some may be hyphens.
    const ofRollup = to - ROLLUP_CHARACTERS;
    if (ofRollup > 1 && /[.-]/.test(name[ofRollup - 1]!) && isMixed(stem.slice(ofRollup)))
      return { from: ofRollup, to };
  }
  return null;
}

const SHORT_EXTENSION = /\.[a-z][a-z0-9]{0,9}$/;
const ROLLUP_CHARACTERS = 8;

/** The same for a file in a folder that is named by a hash: `/static/4f3a9c1d2b/main.js`. The last such folder counts. */
function inHashedFolder(folder: string, name: string): string | null {
  const segments = folder.split("/");
  const at = segments.findLastIndex((segment) => segment.length >= MIN_FOLDER_CHARACTERS && isHash(segment));
  if (at === -1) return null;
  const before = segments.slice(0, at).join("/");
  return `${patternOf(before)}/*${patternOf(`/${segments.slice(at + 1).join("/")}${name}`)}`;
}

/** A shorter name of a folder may be a date or a word. */
const MIN_FOLDER_CHARACTERS = 10;

/** A name without a digit is rather a word, like `mainPage`. */
function isHashAlone(stem: string): boolean {
  return /[0-9]/.test(stem) && isHash(stem) && (stem.length === ROLLUP_CHARACTERS || !stem.includes("-"));
}

/**
 * Whether a part of a name is a hash: hexadecimal digits with a letter and a digit among them, as of webpack, Next, Rails
 * and Django; eight characters of base 32 or base 64, as of esbuild and Vite; or a longer text of mixed characters. Dates,
 * numbers of versions and words are none.
 */
function isHash(text: string): boolean {
  if (/^(?=.*[0-9])(?=.*[a-f])[0-9a-f]{7,128}$/i.test(text)) return true;
  if (/^[A-Z2-7]{8}$/.test(text)) return true;
  if (text.length === ROLLUP_CHARACTERS) return isMixed(text);
  return text.length > ROLLUP_CHARACTERS && text.length <= 64 && /[0-9]/.test(text) && isMixed(text);
}

/** Whether a text is one of base 64 that is no word: letters of both cases behind its first, or a letter behind a digit. */
function isMixed(text: string): boolean {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || /^[-_]|--/.test(text)) return false;
  const rest = text.slice(1);
  return (/[A-Z]/.test(rest) && /[a-z]/.test(text)) || /[0-9][a-z]/i.test(text);
}

/**
 * The pattern that matches this text alone: what a pattern would read as more is escaped (urlpattern.spec.whatwg.org §2). A
 * colon that is only escaped would still end a scheme there, so it stands in a group.
 */
function patternOf(text: string): string {
  return text.replace(/[\\*?+(){}]/g, "\\$&").replaceAll(":", "{\\:}");
}

import { type Exchange, fieldOf } from "./exchange.ts";

/** A part of an answer that shows for whom it was made. */
export interface Mark {
  /** `body`, or the name of a field in its usual spelling. */
  readonly where: string;
  readonly text: string;
  /** True if it stands for the whole body, and need not be shown beside words. */
  readonly isWhole?: true;
}

/** An answer that may have been made for another party, and what both parties get past the cache. */
export interface Suspect {
  readonly answer: Exchange;
  /** The answer that the other party got before from the same URL. */
  readonly earlier: Exchange;
  readonly ofOther: readonly Exchange[];
  readonly own: readonly Exchange[];
}

/** Returns the marks of the other party that an answer has. */
export type Channel = (suspect: Suspect) => readonly Mark[];

/**
 * The answers past the cache that each party needs before its pages can be compared: parts may change with each
 * rendering.
 */
const ENOUGH = 2;

/** Words that are in every page of the other party, and in none of this party. */
export const words: Channel = ({ answer, ofOther, own }) => {
  if (ofOther.length < ENOUGH || own.length < ENOUGH) return [];
  const mine = new Set(own.flatMap((each) => [...wordsOf(each)]));
  const theirs = ofOther.map((each) => wordsOf(each));
  const found = [...wordsOf(answer)].filter((word) => !mine.has(word) && theirs.every((each) => each.has(word)));
  const whole = found.filter((word) => !word.includes(" "));
  return (whole.length > 0 ? whole : found)
    .toSorted((one, other) => other.length - one.length)
    .map((text) => ({ where: "body", text }));
};

/** The same bytes, if the two parties' pages differ and never change. */
export const bytes: Channel = ({ answer, ofOther, own }) => {
  if (ofOther.length < ENOUGH || own.length < ENOUGH) return [];
  const [theirs, ...moreTheirs] = new Set(ofOther.map(({ digest }) => digest));
  const [mine, ...moreMine] = new Set(own.map(({ digest }) => digest));
  if (moreTheirs.length > 0 || moreMine.length > 0 || theirs === mine || answer.digest !== theirs) return [];
  return [{ where: "body", text: `the same ${answer.bytes} bytes`, isWhole: true }];
};

/** Texts that belong to the other party, as the caller says. */
export function canaries(texts: readonly string[]): Channel {
  return ({ answer, own }) =>
    texts.flatMap((text) =>
      placesOf(answer, text)
        .filter((where) => own.every((each) => !placesOf(each, text).includes(where)))
        .map((where) => ({ where, text })),
    );
}

/** The `ETag` of the other's page. A weak one has the same text (RFC 9110 §8.8.3.2). */
export const entityTag: Channel = ({ answer, ofOther, own }) => {
  const tagOf = (each: Exchange) => fieldOf(each, "etag")?.replace(/^W\//, "") ?? null;
  const tag = tagOf(answer);
  if (tag === null || ofOther.length < ENOUGH || own.some((each) => tagOf(each) === tag)) return [];
  return ofOther.every((each) => tagOf(each) === tag) ? [{ where: "ETag", text: tag.replaceAll('"', "") }] : [];
};

/** A cookie that was set for the other. */
export const setCookie: Channel = ({ answer, earlier, own }) => {
  const usual = new Set(own.flatMap(cookiesSet));
  const theirs = new Set(cookiesSet(earlier));
  return cookiesSet(answer)
    .filter((pair) => theirs.has(pair) && !usual.has(pair) && !pair.endsWith("="))
    .map((text) => ({ where: "Set-Cookie", text }));
};

/** Fields that do not show for whom the answer is, or that have their own channel. */
const NEUTRAL =
  /^(?:date|age|expires|last-modified|content-(?:length|encoding|md5|digest)|repr-digest|etag|set-cookie|connection|keep-alive|transfer-encoding|trailer|server|server-timing|via|vary|pragma|cache-control|[\w-]*cache[\w-]*|cf-.*|x-varnish|x-timer|x-served-by|x-runtime|x-amz-cf-.*|[\w-]*(?:request|trace|correlation)-?id|alt-svc|nel|report-to|accept-ranges|tidemark-.*)$/;

/** Other fields, and the status, that every answer of the other party has, and none of this party. */
export const fields: Channel = ({ answer, ofOther, own }) => {
  if (ofOther.length < ENOUGH || own.length < ENOUGH) return [];
  const names = Object.keys(answer.fields).filter((name) => !NEUTRAL.test(name));
  const inFields = names.flatMap((name) => {
    const text = fieldOf(answer, name)!;
    const isTheirs = ofOther.every((each) => fieldOf(each, name) === text);
    return isTheirs && own.every((each) => fieldOf(each, name) !== text) ? [{ where: titleCase(name), text }] : [];
  });
  const { status } = answer;
  const isTheirStatus = ofOther.every((each) => each.status === status) && own.every((each) => each.status !== status);
  return isTheirStatus ? [{ where: "status", text: String(status) }, ...inFields] : inFields;
};

/** A form's token against forged requests, which is new for the visitor in each rendering. */
export const formToken: Channel = ({ answer, earlier, own }) => {
  const usual = new Set(own.flatMap((each) => formTokens(each.text)));
  const theirs = new Set(formTokens(earlier.text));
  return formTokens(answer.text)
    .filter((token) => theirs.has(token) && !usual.has(token))
    .map((text) => ({ where: "form token", text }));
};

/** The channels of parts that stay the same from one rendering to the next. */
const LASTING: readonly Channel[] = [words, bytes, entityTag, fields];

/** Whether an answer has a mark that one party's answers have and the other's lack. */
function hasMarkOf(answer: Exchange, ofOther: readonly Exchange[], own: readonly Exchange[]): boolean {
  return LASTING.some((channel) => channel({ answer, earlier: answer, ofOther, own }).length > 0);
}

/** Whether two parties get answers past the cache that differ in their stable parts. */
export function areToldApart(some: readonly Exchange[], others: readonly Exchange[]): boolean {
  const haveMarks = (ofOther: readonly Exchange[], own: readonly Exchange[]) =>
    ofOther.some((answer) => hasMarkOf(answer, ofOther, own));
  return haveMarks(some, others) || haveMarks(others, some);
}

/** For two parties whose answers differ: whether an answer is like those of the first. */
export function isLike(answer: Exchange, first: readonly Exchange[], second: readonly Exchange[]): boolean {
  return hasMarkOf(answer, first, second) || !hasMarkOf(answer, second, first);
}

/** The words of answers are kept, because each answer is compared with many others. */
const WORDS = new WeakMap<Exchange, ReadonlySet<string>>();

/** The words of a body: names, addresses, numbers. One shorter than three characters goes with the one before. */
function wordsOf(answer: Exchange): ReadonlySet<string> {
  const known = WORDS.get(answer);
  if (known) return known;
  const found = new Set<string>();
  let before = "";
  for (const [word] of answer.text.matchAll(/[\p{L}\p{N}](?:[\p{L}\p{N}@._+-]*[\p{L}\p{N}])?/gu)) {
    found.add(word.length < 3 ? `${before} ${word}`.trim() : word);
    before = word;
  }
  WORDS.set(answer, found);
  return found;
}

const TOKEN_NAME =
  "(?:csrf[\\w-]*|xsrf[\\w-]*|authenticity_token|_token|__RequestVerificationToken|form_?token|_wpnonce|formhash)";
const TOKENS = [
  new RegExp(`name=["']?${TOKEN_NAME}["']?[^>]{0,200}?(?:value|content)=["']?([^"'\\s>]{8,})`, "gi"),
  new RegExp(`(?:value|content)=["']?([^"'\\s>]{8,})["']?[^>]{0,200}?name=["']?${TOKEN_NAME}["'\\s>]`, "gi"),
  new RegExp(`["']${TOKEN_NAME}["']\\s*:\\s*["']([^"']{8,})["']`, "gi"),
];

function formTokens(text: string): readonly string[] {
  return TOKENS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, token]) => token!));
}

/** The cookies that an answer sets, as `name=value`. */
export function cookiesSet({ fields: { "set-cookie": lines = [] } }: Exchange): readonly string[] {
  return lines.map((line) => line.split(";", 1)[0]!.trim());
}

/** The places in an answer that have a text: its body, its fields. */
function placesOf(answer: Exchange, text: string): readonly string[] {
  const inFields = Object.entries(answer.fields).filter(([, lines]) => lines.some((line) => line.includes(text)));
  return [...(answer.text.includes(text) ? ["body"] : []), ...inFields.map(([name]) => titleCase(name))];
}

/** `x-user` as `X-User`. */
function titleCase(name: string): string {
  return name === "etag" ? "ETag" : name.replace(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase());
}

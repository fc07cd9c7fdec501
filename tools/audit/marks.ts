import { type Exchange, fieldOf } from "./exchange.ts";

/** A part of an answer by which it is known whom it was made for. */
export interface Mark {
  /** `body`, or the name of a field as people write it. */
  readonly where: string;
  readonly text: string;
  /** True if it stands for all of the body, and need not be told beside words. */
  readonly isWhole?: true;
}

/** An answer that may have been made for another, and what both parties get past the cache. */
export interface Suspect {
  readonly answer: Exchange;
  /** The answer that the other one got from the same URL before. */
  readonly earlier: Exchange;
  readonly ofOther: readonly Exchange[];
  readonly own: readonly Exchange[];
}

/** Returns the marks of the other party that an answer has. */
export type Channel = (suspect: Suspect) => readonly Mark[];

/** Answers past the cache that each side needs before its pages can be told apart: parts of one may change with each rendering. */
const ENOUGH = 2;

/** Words that stand in each of the other's pages, and in none of one's own. */
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

/** The same bytes, where both sides' pages differ, and never change. */
export const bytes: Channel = ({ answer, ofOther, own }) => {
  if (ofOther.length < ENOUGH || own.length < ENOUGH) return [];
  const [theirs, ...moreTheirs] = new Set(ofOther.map(({ digest }) => digest));
  const [mine, ...moreMine] = new Set(own.map(({ digest }) => digest));
  if (moreTheirs.length > 0 || moreMine.length > 0 || theirs === mine || answer.digest !== theirs) return [];
  return [{ where: "body", text: `the same ${answer.bytes} bytes`, isWhole: true }];
};

/** Texts that the caller says are the other's. */
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

/** Fields that say nothing about whom the answer is for, or that have a channel of their own. */
const NEUTRAL =
  /^(?:date|age|expires|last-modified|content-(?:length|encoding|md5|digest)|repr-digest|etag|set-cookie|connection|keep-alive|transfer-encoding|trailer|server|server-timing|via|vary|pragma|cache-control|[\w-]*cache[\w-]*|cf-.*|x-varnish|x-timer|x-served-by|x-runtime|x-amz-cf-.*|[\w-]*(?:request|trace|correlation)-?id|alt-svc|nel|report-to|accept-ranges|tidemark-.*)$/;

/** Other fields, and the status, that each of the other's answers has, and none of one's own. */
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

/** A form's token against forged requests, which each rendering makes anew for its visitor. */
export const formToken: Channel = ({ answer, earlier, own }) => {
  const usual = new Set(own.flatMap((each) => formTokens(each.text)));
  const theirs = new Set(formTokens(earlier.text));
  return formTokens(answer.text)
    .filter((token) => theirs.has(token) && !usual.has(token))
    .map((text) => ({ where: "form token", text }));
};

/** The channels of what stays the same from one rendering to the next. */
const LASTING: readonly Channel[] = [words, bytes, entityTag, fields];

/** Whether an answer has a mark of one party that the answers of the other lack. */
function hasMarkOf(answer: Exchange, ofOther: readonly Exchange[], own: readonly Exchange[]): boolean {
  return LASTING.some((channel) => channel({ answer, earlier: answer, ofOther, own }).length > 0);
}

/** Whether two parties are answered differently past the cache, in parts that stay. */
export function areToldApart(some: readonly Exchange[], others: readonly Exchange[]): boolean {
  const haveMarks = (ofOther: readonly Exchange[], own: readonly Exchange[]) =>
    ofOther.some((answer) => hasMarkOf(answer, ofOther, own));
  return haveMarks(some, others) || haveMarks(others, some);
}

/** Of two parties that are told apart: whether an answer is like those of the first. */
export function isLike(answer: Exchange, first: readonly Exchange[], second: readonly Exchange[]): boolean {
  return hasMarkOf(answer, first, second) || !hasMarkOf(answer, second, first);
}

/** The words of answers, because each is compared with many others. */
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

/** Where an answer has a text: in its body, in fields. */
function placesOf(answer: Exchange, text: string): readonly string[] {
  const inFields = Object.entries(answer.fields).filter(([, lines]) => lines.some((line) => line.includes(text)));
  return [...(answer.text.includes(text) ? ["body"] : []), ...inFields.map(([name]) => titleCase(name))];
}

/** `x-user` as `X-User`. */
function titleCase(name: string): string {
  return name === "etag" ? "ETag" : name.replace(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase());
}

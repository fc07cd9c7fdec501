import type { Reply, SeenRequest } from "../../../local/cdn/scripted-origin.ts";
import type { Dice } from "../../stories/dice.ts";
import { type Given, textOf } from "./origin-record.ts";
import { HOSTS, TARGETS, withoutTracking } from "./random-request.ts";

/** What the origin says of its page at present. It changes its mind. */
interface Page {
  version: number;
  changedAt: number;
  said: Readonly<Record<string, string>>;
  etag: "none" | "strong" | "weak" | "repeated";
  lastModified: "none" | "true" | "repeated";
  expiresInSeconds: number | null;
  clockAheadSeconds: number | null;
  status: number;
}

const CACHE_CONTROLS: readonly string[] = [
  "max-age=5",
  "max-age=5",
  "max-age=20",
  "max-age=20",
  "max-age=60",
  "public, max-age=20",
  "s-maxage=20",
  "s-maxage=5, stale-while-revalidate=10",
  "max-age=60, s-maxage=3",
  "max-age=5, stale-while-revalidate=10",
  "max-age=5, stale-if-error=30",
  "max-age=5, must-revalidate, stale-if-error=30",
  "max-age=5, proxy-revalidate, stale-while-revalidate=30",
  "public, max-age=5, must-revalidate",
  "no-cache",
  "no-cache, max-age=60",
  "public, no-cache",
  'max-age=20, no-cache="x-price"',
  'max-age=20, private="x-price"',
  "private, max-age=60",
  "no-store",
  "no-store, max-age=60, must-understand",
  "max-age=0",
  "max-age=60, s-maxage=0",
  "",
  "",
];
const VARIES: readonly string[] = [
  ...["", "", "", "", "accept-language", "accept-language", "x-tenant", "accept-language, x-tenant", "accept-encoding"],
  ...["accept-encoding, accept-language", "*", "cookie"],
];
const CLOCKS: readonly (number | null)[] = [0, 0, 0, 0, -3, -30, 30, 3600, null];

/** An origin that says much of its pages, seldom twice the same, and remembers all that it has said. */
export class RandomOrigin {
  readonly record: Given[] = [];
  readonly #dice: Dice;
  readonly #now: () => number;
  readonly #pages = new Map<string, Page>();

  constructor(dice: Dice, now: () => number) {
    this.#dice = dice;
    this.#now = now;
  }

  answer({ method, target: asAsked, fields }: SeenRequest): Reply {
    const dice = this.#dice;
    const target = withoutTracking(asAsked);
    const asked = fields as Readonly<Record<string, string>>;
    const host = asked["x-forwarded-host"] ?? "";
    const page = this.#page(host + target);
    if (dice.isBelow(0.12)) this.#sayOtherwise(page);
    const isSafe = method === "GET" || method === "HEAD";
    if (dice.isBelow(isSafe ? 0.12 : 0.9)) this.#change(page);
    const number = this.record.length + 1;
    const give = (status: number, said: Readonly<Record<string, string>>, text: string, reply: Reply = {}): Reply => {
      const isCutOff = reply.cutAfterBytes !== undefined;
      const all: Readonly<Record<string, string>> = { ...said, "x-fetch": String(number) };
      this.record.push({ number, at: this.#now(), host, target, method, asked, status, fields: all, text, isCutOff });
      return { status, fields: { ...all, ...(all.date === undefined && { date: [] }) }, body: text, ...reply };
    };
    if (dice.isBelow(0.03)) return give(0, {}, "", { failure: "reset" });
    const text = textOf(number, host, target, page.version);
    if (!isSafe) return give(...this.#changed(host, text));
    if (dice.isBelow(0.05)) return give(dice.pick([500, 503]), this.#dated({ "cache-control": "max-age=3" }), text);
    const said = this.#fieldsOf(page, asked);
    const isConditional = (asked["if-none-match"] ?? asked["if-modified-since"]) !== undefined;
    if (isConditional && dice.isBelow(isUnchanged(said, asked) ? 0.95 : 0.03)) {
      const { "content-encoding": _coding, ...of304 } = said;
      return give(304, of304, "");
    }
    if (dice.isBelow(0.03)) said["set-cookie"] = `sid=${number}`;
    const part = /^bytes=(\d+)-(\d+)$/.exec(asked.range ?? "");
    if (part && method === "GET" && page.status === 200 && mayBePart(said, asked) && dice.isBelow(0.7)) {
      const [first, last] = [Number(part[1]), Math.min(Number(part[2]), text.length - 1)];
      const range = { "content-range": `bytes ${first}-${last}/${text.length}` };
      return give(206, { ...said, ...range }, text, { body: text.slice(first, last + 1) });
    }
    const isCutOff = method === "GET" && dice.isBelow(0.05);
    return give(page.status, said, text, isCutOff ? { cutAfterBytes: Math.floor(dice.random() * text.length) } : {});
  }

  #page(of: string): Page {
    const known = this.#pages.get(of);
    if (known) return known;
    const page = { version: 0, changedAt: this.#now() - 3_600_000 } as Page;
    this.#sayOtherwise(page);
    this.#pages.set(of, page);
    return page;
  }

  #change(page: Page): void {
    page.version++;
    page.changedAt = this.#now();
  }

  #sayOtherwise(page: Page): void {
    const dice = this.#dice;
    const cacheControl = dice.pick(CACHE_CONTROLS);
    const vary = dice.pick(VARIES);
    page.said = {
      ...(cacheControl && { "cache-control": cacheControl }),
      ...(vary && { vary }),
      ...(dice.isBelow(0.1) && { "cdn-cache-control": dice.pick(["max-age=3", "no-store", "max-age=30, public"]) }),
      ...(dice.isBelow(0.2) && { age: dice.pick(["2", "4", "100"]) }),
      ...(dice.isBelow(0.4) && { "cache-tag": dice.pick(["t1", "t2", "t1, t2"]) }),
      ...(dice.isBelow(0.4) && { "cache-groups": dice.pick(['"g1"', '"g2"', '"g1", "g2"']) }),
    };
    page.etag = dice.pick(["none", "strong", "strong", "weak", "repeated"]);
    page.lastModified = dice.pick(["none", "true", "repeated"]);
    page.expiresInSeconds = dice.pick([null, null, 5, 20, 0]);
    page.clockAheadSeconds = dice.pick(CLOCKS);
    page.status = dice.pick([200, 200, 200, 200, 200, 200, 203, 404, 410, 299]);
  }

  #fieldsOf(page: Page, asked: Readonly<Record<string, string>>): Record<string, string> {
    const { version, changedAt, etag, lastModified, expiresInSeconds, said } = page;
    const fields = this.#dated({ ...said, "x-price": String(this.record.length + 1) }, page.clockAheadSeconds);
    if (etag !== "none") fields.etag = { strong: `"v${version}"`, weak: `W/"v${version}"`, repeated: '"same"' }[etag];
    if (lastModified !== "none") {
      fields["last-modified"] = utc(lastModified === "true" ? changedAt : Date.UTC(2026, 0, 1, 11));
    }
    if (expiresInSeconds !== null) fields.expires = utc(this.#now() + expiresInSeconds * 1000);
    if (/gzip/.test(asked["accept-encoding"] ?? "") && version % 2 === 1) fields["content-encoding"] = "gzip";
    return fields;
  }

  #dated(fields: Readonly<Record<string, string>>, aheadSeconds: number | null = 0): Record<string, string> {
    return { ...fields, ...(aheadSeconds !== null && { date: utc(this.#now() + aheadSeconds * 1000) }) };
  }

  /** The answer to an unsafe request, which may name other pages, on other hosts, too. */
  #changed(host: string, text: string): [number, Record<string, string>, string] {
    const dice = this.#dice;
    const named = dice.pick(TARGETS);
    const fields = {
      ...(dice.isBelow(0.3) && {
        location: dice.pick([named, `http://${host}${named}`, `http://${dice.pick(HOSTS)}${named}`]),
      }),
      ...(dice.isBelow(0.3) && { "content-location": dice.pick([named, `http://${dice.pick(HOSTS)}${named}`]) }),
      ...(dice.isBelow(0.3) && { "cache-group-invalidation": dice.pick(['"g1"', '"g2"']) }),
    };
    return [dice.pick([200, 200, 303, 404, 500]), this.#dated(fields), text];
  }
}

function utc(at: number): string {
  return new Date(at).toUTCString();
}

/** RFC 9110 §13.2.2. */
function isUnchanged(said: Readonly<Record<string, string>>, asked: Readonly<Record<string, string>>): boolean {
  const held = asked["if-none-match"];
  if (held !== undefined) return said.etag !== undefined && (held === "*" || weakly(held).includes(weakly(said.etag)));
  const since = Date.parse(asked["if-modified-since"] ?? "");
  return said["last-modified"] !== undefined && Date.parse(said["last-modified"]) <= since;
}

function weakly(tags: string): string {
  return tags.replaceAll("W/", "");
}

/** RFC 9110 §13.1.5. */
function mayBePart(said: Readonly<Record<string, string>>, asked: Readonly<Record<string, string>>): boolean {
  const held = asked["if-range"];
  return held === undefined || (held === said.etag && !held.startsWith("W/"));
}

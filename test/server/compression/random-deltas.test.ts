import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { holding } from "../../engine/held-dictionaries.ts";
import { byDepth } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";
import { CompressingIsolate, type Received } from "./compressing-isolate.ts";

/** Requests in the gate, in the complete run, and in each search of `npm run explore`. */
const REQUESTS = byDepth({ test: 300, gate: 300, all: 10_000, explore: 50_000 });

/** As long as a request may take on a busy machine before it counts as hanging. */
const MOST_MS = 20;

const PATHS = ["/page", "/other", "/app.js", "/lib.css"] as const;
const PRIVATE = "/private.js";
const TYPES: Readonly<Record<string, string>> = { "/page": "text/html", "/other": "text/html" };
const CODINGS = ["dcz", "dcb", "br, dcz", "br, dcb, dcz", "br, zstd, gzip", "br;q=0.5, dcz", "dcz;q=0.5, br"];

/** Numbers from a seed. */
function drawing(from: number): (below: number) => number {
  let state = (from % 2_147_483_646) + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const FRESH_FOR_MS = 120_000;

/** The era of bodies that are dictionaries in none. */
const NEVER = -1;

/** A body that a client has got, when it got it last, and after how many purges of everything. */
interface Sent {
  readonly path: string;
  readonly body: string;
  readonly era: number;
  at: number;
}

/** A body that the edge has fetched, when, and whether the origin has encoded it. */
interface Fetched {
  readonly body: string;
  readonly isEncoded: boolean;
  readonly at: number;
}

/** What the site has sent, and to whom. */
class World {
  readonly draw = drawing(seed);
  readonly edge = new CompressingIsolate({ deltas: { keep: "10m" } });
  /** What the origin has now. */
  readonly current = new Map<string, string>();
  /** The paths that the origin encodes now, against the wish of the edge. */
  readonly encoded = new Set<string>();
  /**
   * What the edge has fetched that is fresh and was not purged: the last plain body, which is for all, and each version of
   * what the origin encodes against the wish of the edge, which is for one kind of clients.
   */
  readonly stored = new Map<string, readonly Fetched[]>();
  /** The bodies that were sent last. */
  readonly sent: Sent[] = [];
  era = 0;
  byDictionary = 0;

  change(path: string): void {
    const before = this.current.get(path) ?? this.#text();
    const at = this.draw(before.length);
    const edited = this.draw(8) === 0 ? this.#text() : `${before.slice(0, at)}<${this.draw(1e9)}>${before.slice(at)}`;
    const isEncoded = this.draw(16) === 0;
    this.current.set(path, edited);
    if (isEncoded) this.encoded.add(path);
    else this.encoded.delete(path);
    const fields = {
      "content-type": TYPES[path] ?? "text/javascript",
      "cache-control": `public, max-age=${FRESH_FOR_MS / 1000}`,
    };
    this.edge.page(path, edited, fields, isEncoded ? "always" : "if-accepted");
  }

  async ask(): Promise<void> {
    const path = PATHS[this.draw(PATHS.length)]!;
    const ofPath = this.sent.filter((each) => each.path === path);
    const among = this.draw(4) === 0 ? this.sent : ofPath;
    const known = among[this.draw(Math.max(1, among.length))];
    const held = this.draw(8) === 0 || !known ? `never sent ${this.draw(1e9)}` : known.body;
    const fields = { "accept-encoding": CODINGS[this.draw(CODINGS.length)]!, "available-dictionary": holding(held) };
    this.#check(path, held, await this.edge.ask(path, fields));
    if (this.draw(2) === 0) return;
    // The next visitor of that kind, for whom it may have been made.
    await this.edge.settled();
    this.#check(path, held, await this.edge.ask(path, fields));
  }

  /** A visitor's own page, which happens to be stored, under the same rules. */
  async askPrivately(): Promise<void> {
    const answer = await this.edge.ask(PRIVATE, { authorization: "Basic YTpi", "accept-encoding": "br" });
    this.sent.push({ path: PRIVATE, body: answer.text, era: this.era, at: this.edge.clock.now() });
  }

  #check(path: string, held: string, { xCache, text, coding, bytes, fields }: Received): void {
    const now = this.edge.clock.now();
    let stored = (this.stored.get(path) ?? []).filter(({ at }) => now - at < FRESH_FOR_MS);
    if (xCache !== "HIT") {
      const fetched = { body: this.current.get(path)!, isEncoded: this.encoded.has(path), at: now };
      stored = [...stored.filter(({ isEncoded }) => isEncoded || fetched.isEncoded), fetched];
      expect(text, `the body of ${path}`).toBe(fetched.body);
    }
    this.stored.set(path, stored);
    const shown = stored.find(({ body }) => body === text);
    expect(shown, `${path} is fresh, and was not purged`).toBeDefined();
    if (shown!.isEncoded) {
      expect([coding, fields.vary, fields["use-as-dictionary"]]).toEqual(["gzip", undefined, undefined]);
      // The edge has never had its plain bytes, so nothing may be sent by it.
      this.#remember({ path, body: text, era: NEVER, at: now });
      return;
    }
    if (coding === "dcz" || coding === "dcb") {
      this.byDictionary++;
      const at = coding === "dcz" ? 8 : 4;
      expect(bytes.subarray(at, at + 32)).toEqual(createHash("sha256").update(held).digest());
      const as = this.sent.filter((each) => each.body === held && each.path === path);
      expect(as.length, `${path} was sent by a version of itself`).toBeGreaterThan(0);
      expect(
        as.some(({ era }) => era === this.era),
        "nothing from before a purge of everything",
      ).toBe(true);
      expect(
        as.some((each) => now - each.at <= 600_000),
        "nothing older than the route says",
      ).toBe(true);
    }
    expect(fields.vary).toBe("Accept-Encoding, Available-Dictionary");
    this.#remember({ path, body: text, era: this.era, at: now });
  }

  async purge(path: string): Promise<void> {
    await this.edge.purge({ urls: [path] });
    this.stored.delete(path);
  }

  async purgeEverything(): Promise<void> {
    await this.edge.purge();
    this.stored.clear();
    this.era++;
  }

  #remember(sent: Sent): void {
    const { body, path, era, at } = sent;
    const known = this.sent.find((each) => each.body === body && each.path === path && each.era === era);
    if (known) known.at = at;
    else this.sent.push(sent);
    if (this.sent.length > 60) this.sent.shift();
  }

  #text(): string {
    return Array.from({ length: 100 + this.draw(200) }, () => `word${this.draw(500)} = ${this.draw(1e6)};\n`).join("");
  }
}

const title = `${REQUESTS} random requests get the right bytes, and never by a dictionary that they may not have`;

test(title, { timeout: 60_000 + REQUESTS * MOST_MS }, async () => {
  const world = new World();
  for (const path of [...PATHS, PRIVATE]) world.change(path);
  for (let request = 0; request < REQUESTS; request++) {
    const event = world.draw(40);
    if (event < 4) world.change(PATHS[event]!);
    if (event === 4) world.change(PRIVATE);
    if (event === 5) await world.purge(PATHS[world.draw(PATHS.length)]!);
    if (event === 6) await world.edge.clock.advance(1 + world.draw(300_000));
    if (event === 7 && world.draw(4) === 0) await world.purgeEverything();
    if (event === 8) await world.askPrivately();
    if (event % 3 === 0) await world.edge.settled();
    await world.ask();
  }
  await world.edge.settled();
  expect(world.edge.failures).toEqual([]);
  process.stdout.write(`of ${REQUESTS} requests, ${world.byDictionary} were answered by a dictionary\n`);
  expect(world.byDictionary).toBeGreaterThan(REQUESTS / 20);
});

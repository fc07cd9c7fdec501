import { describe, expect, test } from "vitest";
import { OriginGate } from "../../worker/flow/origin/origin-gate.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import { chances } from "../engine/chances.ts";
import { byDepth } from "../suite/depth.ts";
import { seed } from "../suite/seed.ts";

const TICK_MS = 20;
/** In which people browse alone, and in which the edge learns what the flood asks for; then it is counted. */
const [ALONE_MS, LEARNING_MS, COUNTED_MS] = [
  660_000,
  60_000,
  byDepth({ test: 60_000, gate: 60_000, all: 60_000, explore: 1_000_000 }),
];
/** Ten at a time, of which each takes 200 ms: 50 pages a second. */
const PAGE = { route: null, asksForStream: false, isForOthers: true };
const CAPACITY = { concurrency: 10, ofRoutes: new Map(), streams: null, queue: { maxMs: 5000, maxWaiting: 250 } };
const PAGE_MS = 200;
const PEOPLE = 200;
/** Of them come after the flood has begun. */
const NEWCOMERS = 50;
/** A person opens a page that is not stored so often. */
const MEAN_PAUSE_MS = 20_000;
const REQUESTS_OF_A_FLOOD = 1000; // a second

/** Time that passes in ticks, and wakes those whose wait is over. */
class Ticks implements Clock {
  #now = 0;
  readonly #waits = new Map<() => void, number>();

  now(): number {
    return this.#now;
  }

  wait(ms: number) {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.#waits.set(resolve, this.#now + ms);
    return { over, cancel: () => void this.#waits.delete(resolve) };
  }

  pass(): void {
    this.#now += TICK_MS;
    for (const [wake, at] of this.#waits) {
      if (at > this.#now) break; // all wait equally long, so that they are over in the order in which they began
      this.#waits.delete(wake);
      wake();
    }
  }
}

interface Crowd {
  served: number;
  turnedAway: number;
  readonly waitsMs: number[];
}

/** Who floods: from so many addresses in turn, and with which cookie, if any. */
interface Flood {
  readonly addresses: number;
  readonly cookie?: (site: FloodedSite, address: number) => string | null;
  /** What it does before: once for each of its addresses. */
  readonly prepare?: (site: FloodedSite, address: number) => void;
}

/** A site under people who browse, of whom all but a few were there before, and a flood. */
class FloodedSite {
  readonly #clock = new Ticks();
  readonly #random = chances(seed);
  readonly gate = new OriginGate(CAPACITY, { clock: this.#clock, random: this.#random });
  readonly known = crowd();
  readonly newcomers = crowd();
  readonly flood = crowd();
  readonly #ends: { readonly at: number; readonly end: () => void }[] = [];
  readonly #tellsAddresses: boolean;
  mostAtOrigin = 0;
  #sent = 0;
  #sessions = 0;

  constructor({ tellsAddresses = true } = {}) {
    this.#tellsAddresses = tellsAddresses;
  }

  async play({ addresses, cookie, prepare }: Flood): Promise<this> {
    for (let person = 0; person < PEOPLE - NEWCOMERS; person++) this.login(addressOf(person), `person ${person}`);
    for (let address = 0; prepare && address < addresses; address++) prepare(this, address);
    await this.#pass(ALONE_MS, () => this.#browse(PEOPLE - NEWCOMERS));
    const flood = () => this.#flood(addresses, (address) => cookie?.(this, address) ?? null);
    await this.#pass(LEARNING_MS + COUNTED_MS, () => {
      const arrivals = [() => this.#browse(PEOPLE), flood];
      if (this.#random() < 0.5) arrivals.reverse(); // nobody is always the first of a tick
      for (const arrive of arrivals) arrive();
    });
    return this;
  }

  /** The site gives a session to a client of this address. */
  login(address: string, name: string): void {
    this.gate.noteSessions([sessionOf(name)], { ...NOBODY, address });
  }

  /** One that nobody has had before. */
  newSession(address: string): string {
    const name = `${this.#sessions++}`;
    this.login(address, name);
    return sessionOf(name);
  }

  async #pass(ms: number, arrive: () => void): Promise<void> {
    for (const end = this.#clock.now() + ms; this.#clock.now() < end; ) {
      arrive();
      await new Promise(setImmediate);
      this.mostAtOrigin = Math.max(this.mostAtOrigin, this.gate.counts.running);
      this.#clock.pass();
      while (this.#ends[0] && this.#ends[0].at <= this.#clock.now()) this.#ends.shift()!.end();
    }
  }

  #browse(people: number): void {
    for (let person = 0; person < people; person++) {
      if (this.#random() >= TICK_MS / MEAN_PAUSE_MS) continue;
      const isKnown = person < PEOPLE - NEWCOMERS;
      const cookie = isKnown ? sessionOf(`person ${person}`) : null;
      void this.#visit(addressOf(person), cookie, isKnown ? this.known : this.newcomers);
    }
  }

  #flood(addresses: number, cookieOf: (address: number) => string | null): void {
    for (let each = 0; each < (REQUESTS_OF_A_FLOOD * TICK_MS) / 1000; each++) {
      const from = this.#sent++ % addresses;
      void this.#visit(floodAddress(from), cookieOf(from), this.flood);
    }
  }

  async #visit(from: string, cookieField: string | null, crowd: Crowd): Promise<void> {
    const address = this.#tellsAddresses ? from : null;
    const since = this.#clock.now();
    const place = this.gate.placeOf({ ...NOBODY, address, cookieField });
    const permit = await this.gate.enter(place, PAGE, { report: () => undefined }, {});
    if (since >= ALONE_MS + LEARNING_MS) note(crowd, permit !== null, this.#clock.now() - since);
    if (permit === null) return;
    this.#ends.push({ at: this.#clock.now() + PAGE_MS, end: permit.end });
  }
}

const NOBODY = { address: null, cookieField: null, isRefresh: false, hasReceipt: false };

function crowd(): Crowd {
  return { served: 0, turnedAway: 0, waitsMs: [] };
}

function addressOf(person: number): string {
  return `198.51.100.${person}`;
}

function floodAddress(index: number): string {
  return `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
}

function sessionOf(name: string): string {
  return `session=${name.padStart(16, "-")}`;
}

function note(crowd: Crowd, isServed: boolean, waitedMs: number): void {
  if (isServed) crowd.waitsMs.push(waitedMs);
  if (isServed) crowd.served++;
  else crowd.turnedAway++;
}

function partServed({ served, turnedAway }: Crowd): number {
  return served / (served + turnedAway);
}

function told(people: Crowd): string {
  const [half, most] = [0.5, 0.99].map((part) => quantile(people.waitsMs, part));
  const part = (100 * partServed(people)).toFixed(1);
  return `${part} % of ${people.served + people.turnedAway} pages, after ${half} ms (median) and ${most} ms (p99)`;
}

/** The wait that so large a part did not exceed. */
function quantile(waitsMs: readonly number[], part: number): number {
  return [...waitsMs].sort((a, b) => a - b)[Math.floor(waitsMs.length * part)]!;
}

/** What each kind of attacker knows of the rules. */
const FLOODS: readonly (Flood & { readonly name: string; readonly newcomersGet: number })[] = [
  { name: "one address", addresses: 1, newcomersGet: 0.99 },
  { name: "10,000 addresses in turn", addresses: 10_000, newcomersGet: 0.5 },
  { name: "a million addresses, each of which comes once", addresses: 1_000_000, newcomersGet: 0 },
  { name: "the 65,536 networks of a /48 in turn", addresses: 65_536, newcomersGet: 0 },
  {
    name: "10,000 addresses with invented cookies",
    addresses: 10_000,
    cookie: (_, address) => sessionOf(`invented ${address}`),
    newcomersGet: 0.5,
  },
  {
    name: "10,000 addresses that share one bought session",
    addresses: 10_000,
    cookie: () => sessionOf("person 0"),
    newcomersGet: 0.5,
  },
  {
    name: "10,000 addresses that ask for a session each time",
    addresses: 10_000,
    cookie: (site, address) => site.newSession(floodAddress(address)),
    newcomersGet: 0.5,
  },
  {
    name: "500 addresses that collected sessions before",
    addresses: 500,
    prepare: (site, address) => {
      for (let each = 0; each < 9; each++) site.login(floodAddress(address), `bought ${address}-${each}`);
    },
    cookie: (_, address) => sessionOf(`bought ${address}-${address % 4}`),
    newcomersGet: 0.2,
  },
];

/** The one whose attacker has most is enough for the gate. */
const IN_GATE = "10,000 addresses that share one bought session";

describe(`a site that makes 50 pages a second, for people who request 10 and a flood that requests 1,000 (TEST_SEED=${seed})`, () => {
  for (const { name, newcomersGet, ...flooding } of FLOODS) {
    test(`serves earlier visitors despite ${name}`, { tags: [name === IN_GATE ? "gate" : "deep"] }, async () => {
      const { known, newcomers, flood, mostAtOrigin } = await new FloodedSite().play(flooding);
      process.stdout.write(
        `flood from ${name}: known ${told(known)}; new ${told(newcomers)}; the flood got ${flood.served}\n`,
      );
      expect(mostAtOrigin).toBe(CAPACITY.concurrency);
      expect(partServed(known)).toBeGreaterThan(0.97);
      expect(quantile(known.waitsMs, 0.99)).toBeLessThanOrEqual(PAGE_MS);
      expect(partServed(newcomers)).toBeGreaterThanOrEqual(newcomersGet);
      // What people leave, and a twentieth in any case, is for the rest.
      expect(flood.served).toBeGreaterThan((COUNTED_MS / 1000) * 50 * 0.05);
    });
  }

  test("control: without addresses, requests are served in order of arrival, and people wait too long", {
    tags: ["deep"],
  }, async () => {
    const { newcomers, flood } = await new FloodedSite({ tellsAddresses: false }).play({ addresses: 1 });
    process.stdout.write(`flood, first come first served: new ${told(newcomers)}; the flood got ${flood.served}\n`);
    expect(partServed(newcomers)).toBeLessThan(0.2);
  });
});

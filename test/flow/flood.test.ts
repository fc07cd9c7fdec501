import { describe, expect, test } from "vitest";
import { OriginGate } from "../../worker/flow/origin/origin-gate.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import { chances } from "../engine/chances.ts";
import { seed } from "../suite/seed.ts";

const TICK_MS = 20;
const MINUTES = 2;
/** Before them, in which the edge learns who asks for how much. */
const MINUTES_BEFORE = 3;
/** Ten at a time, of which each takes 200 ms: 50 pages a second. */
const CAPACITY = { concurrency: 10, queue: { maxMs: 5000, maxWaiting: 1000 } };
const PAGE_MS = 200;
const PEOPLE = 200;
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

/** A site under people who browse, and a flood from so many addresses in turn. */
class FloodedSite {
  readonly #clock = new Ticks();
  readonly #random = chances(seed);
  readonly #gate = new OriginGate(CAPACITY, { clock: this.#clock, random: this.#random });
  readonly people: Crowd = { served: 0, turnedAway: 0, waitsMs: [] };
  readonly flood: Crowd = { served: 0, turnedAway: 0, waitsMs: [] };
  readonly #ends: { readonly at: number; readonly end: () => void }[] = [];
  readonly #tellsAddresses: boolean;
  mostAtOrigin = 0;
  #sent = 0;

  constructor({ tellsAddresses = true } = {}) {
    this.#tellsAddresses = tellsAddresses;
  }

  async play(addresses: number): Promise<this> {
    for (let tick = 0; tick < ((MINUTES_BEFORE + MINUTES) * 60_000) / TICK_MS; tick++) {
      const arrivals = [() => this.#browse(), () => this.#flood(addresses)];
      if (this.#random() < 0.5) arrivals.reverse(); // nobody is always the first of a tick
      for (const arrive of arrivals) arrive();
      await new Promise(setImmediate);
      this.mostAtOrigin = Math.max(this.mostAtOrigin, this.#gate.counts.running);
      this.#clock.pass();
      while (this.#ends[0] && this.#ends[0].at <= this.#clock.now()) this.#ends.shift()!.end();
    }
    return this;
  }

  #browse(): void {
    for (let person = 0; person < PEOPLE; person++)
      if (this.#random() < TICK_MS / MEAN_PAUSE_MS) void this.#visit(`198.51.100.${person}`, this.people);
  }

  #flood(addresses: number): void {
    for (let each = 0; each < (REQUESTS_OF_A_FLOOD * TICK_MS) / 1000; each++) {
      const from = this.#sent++ % addresses;
      void this.#visit(`10.${from >> 8}.${from & 255}.1`, this.flood);
    }
  }

  async #visit(address: string, crowd: Crowd): Promise<void> {
    const clientAddress = this.#tellsAddresses ? address : null;
    const since = this.#clock.now();
    const permit = await this.#gate.enter(this.#gate.placeOf(clientAddress), { report: () => undefined });
    if (since >= MINUTES_BEFORE * 60_000) note(crowd, permit !== null, this.#clock.now() - since);
    if (permit === null) return;
    this.#ends.push({ at: this.#clock.now() + PAGE_MS, end: permit.end });
  }
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
  return `people got ${people.served} of ${people.served + people.turnedAway} pages, after ${half} ms (median) and ${most} ms (p99)`;
}

/** The wait that so large a part did not exceed. */
function quantile(waitsMs: readonly number[], part: number): number {
  return [...waitsMs].sort((a, b) => a - b)[Math.floor(waitsMs.length * part)]!;
}

describe(`a site that makes 50 pages a second, under people who want 10 and a flood that wants 1,000 (TEST_SEED=${seed})`, {
  tags: ["gate"],
}, () => {
  test.each([
    { name: "one address", addresses: 1, leastPart: 0.99 },
    { name: "10,000 addresses in turn, each with twice the misses of a person", addresses: 10_000, leastPart: 0.9 },
  ])("serves people as if there was no flood from $name", async ({ name, addresses, leastPart }) => {
    const { people, flood, mostAtOrigin } = await new FloodedSite().play(addresses);
    process.stdout.write(`flood from ${name}: ${told(people)}; the flood got ${flood.served}\n`);
    expect(mostAtOrigin).toBe(CAPACITY.concurrency);
    expect(partServed(people)).toBeGreaterThan(leastPart);
    expect(quantile(people.waitsMs, 0.99)).toBeLessThanOrEqual(2 * PAGE_MS);
    // What people leave, and a twentieth in any case, is for the rest.
    expect(flood.served).toBeGreaterThan(MINUTES * 60 * 50 * 0.05);
  });

  test("control: who comes first is served first where nobody's address is known, and people drown", async () => {
    const { people, flood } = await new FloodedSite({ tellsAddresses: false }).play(1);
    process.stdout.write(`flood, first come first served: ${told(people)}; the flood got ${flood.served}\n`);
    expect(partServed(people)).toBeLessThan(0.1);
  });
});

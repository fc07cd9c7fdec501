import { describe, expect, test } from "vitest";
import { PermitLeases } from "../../../server/permits/leased-permits.ts";
import { ASKS_FOR_PERMITS } from "../../../server/permits/permit-messages.ts";
import { PermitOffice } from "../../../server/permits/permit-office.ts";
import type { ServedWorker } from "../../../server/supervisor/process-line.ts";
import { type Permit, PermitQueue, type Place } from "../../../worker/flow/origin/permit-queue.ts";
import { chances } from "../../engine/chances.ts";
import { byDepth } from "../../suite/depth.ts";
import { seed as first } from "../../suite/seed.ts";

const SEEDS = byDepth({ test: 20, gate: 20, all: 60 });

const SITE = "only";

/** Messages between processes: those of one channel stay in order, and any channel may be late. */
class Channels {
  readonly #waiting = new Map<object, (() => void)[]>();

  send(channel: object, deliver: () => void): void {
    const queue = this.#waiting.get(channel) ?? [];
    queue.push(deliver);
    this.#waiting.set(channel, queue);
  }

  /** Delivers one message. Returns whether there was any. */
  async deliver(random: () => number): Promise<boolean> {
    for (let turn = 0; turn < 8; turn++) await Promise.resolve();
    const busy = [...this.#waiting.values()].filter((queue) => queue.length > 0);
    if (busy.length === 0) return false;
    busy[Math.floor(random() * busy.length)]!.shift()!();
    return true;
  }
}

/** A machine with its workers, of which each has requests at the origin. */
class Machine {
  now = 0;
  readonly #channels = new Channels();
  readonly #workers = new Set<Worker>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  startWorker(office: PermitOffice, limit: number, workers: number): Worker {
    const served = office.connect();
    const [up, down] = [{}, {}];
    const leases = new PermitLeases({
      tell: (message) => this.#channels.send(up, () => served.tell(message)),
      ask: (question) =>
        new Promise((resolve, reject) => {
          worker.loseOffice = () => reject(new Error("the supervisor has died"));
          const answer = (given: unknown) => this.#channels.send(down, () => !worker.isDead && resolve(given));
          this.#channels.send(up, () => void served.ask(question).then(answer));
        }),
    });
    const worker = new Worker(served, leases, () => this.now);
    const clock = {
      now: () => this.now,
      wait: () => ({ over: new Promise<void>(() => undefined), cancel: () => undefined }),
    };
    const permits = leases.of(SITE, limit, workers);
    worker.queue = new PermitQueue(permits, { maxMs: 1e9, maxWaiting: 1e9 }, clock);
    this.#workers.add(worker);
    return worker;
  }

  /** The new office takes over from the old one, and hears of it over channels. */
  handOver(from: PermitOffice, to: PermitOffice): void {
    const [up, down] = [{}, {}];
    const held = from.giveAway((message) => this.#channels.send(up, () => to.takeOfPredecessor(message)));
    to.follow(held, (news) => this.#channels.send(down, () => from.hear(news)));
  }

  get atOrigin(): number {
    return [...this.#workers].reduce((sum, { running }) => sum + running.length, 0);
  }

  kill(worker: Worker): void {
    worker.isDead = true;
    worker.running.length = 0;
    this.#workers.delete(worker);
    worker.served.close();
  }

  deliver(): Promise<boolean> {
    return this.#channels.deliver(this.#random);
  }
}

class Worker {
  isDead = false;
  queue!: PermitQueue;
  readonly running: Permit[] = [];
  /** Its supervisor dies. */
  loseOffice: () => void = () => undefined;
  asked = 0;
  answered = 0;
  readonly #places: Place[] = [];

  readonly served: ServedWorker;
  readonly leases: PermitLeases;
  readonly now: () => number;

  constructor(served: ServedWorker, leases: PermitLeases, now: () => number) {
    this.served = served;
    this.leases = leases;
    this.now = now;
  }

  async ask(recentMisses = 0): Promise<void> {
    this.asked++;
    const place: Place = { client: "other", since: this.now(), recentMisses };
    this.#places.push(place);
    const permit = await this.queue.enter(place);
    if (permit === null || this.isDead) return;
    this.running.push(permit);
  }

  /** Somebody who has had nothing lately joins one of its requests, which may have had its turn. */
  joinOne(random: () => number): void {
    const place = this.#places[Math.floor(random() * this.#places.length)];
    if (place) this.queue.improve(place, { client: "known", recentMisses: 0 });
  }

  /** The first request that waits is given up. */
  giveUpOne(): void {
    this.queue.giveUp(this.#places.find((place) => this.queue.has(place))!);
    this.answered++;
  }

  refresh(): void {
    const permit = this.queue.enterIfIdle();
    if (permit === null) return;
    this.asked++;
    this.running.push(permit);
  }

  endOne(random: () => number): void {
    const [permit] = this.running.splice(Math.floor(random() * this.running.length), 1);
    if (permit === undefined) return;
    this.answered++;
    permit.end();
  }
}

describe("the permits of a machine", () => {
  test.each(Array.from({ length: SEEDS }, (_, each) => first + each))(
    "are never more than the limit, and everybody who waits gets one (seed %i)",
    async (seed) => {
      const random = chances(seed);
      const machine = new Machine(random);
      const limit = 1 + Math.floor(random() * 5);
      const count = 1 + Math.floor(random() * 3);
      const start = (office: PermitOffice) =>
        Array.from({ length: count }, () => machine.startWorker(office, limit, count));
      let office = new PermitOffice();
      let workers = start(office);
      let all = [...workers];
      const expectBound = () => expect(machine.atOrigin).toBeLessThanOrEqual(limit);
      for (let step = 0; step < 400; step++) {
        if (random() < 0.2) machine.now++; // several requests may come in the same millisecond
        const worker = all[Math.floor(random() * all.length)]!;
        const chance = random();
        if (chance < 0.2) void workers[Math.floor(random() * workers.length)]!.ask(Math.floor(random() * 3));
        else if (chance < 0.25) worker.refresh();
        else if (chance < 0.28) worker.joinOne(random);
        else if (chance < 0.45) worker.endOne(random);
        else for (let message = 0; message < 6; message++) await machine.deliver();
        if (step === 150 && random() < 0.5) {
          const [dead] = workers.splice(0, 1, machine.startWorker(office, limit, count));
          all = all.filter((each) => each !== dead).concat(workers[0]!);
          machine.kill(dead!);
        }
        if (step === 250 && random() < 0.6) {
          const next = new PermitOffice();
          machine.handOver(office, next);
          office = next;
          for (const each of workers) each.leases.retire();
          workers = start(next);
          all = [...all, ...workers];
        }
        expectBound();
      }
      for (let idle = 0; idle < 3; ) {
        const wasBusy = await machine.deliver();
        expectBound();
        for (const worker of all) worker.endOne(random);
        idle = wasBusy || machine.atOrigin > 0 ? 0 : idle + 1;
      }
      expect(all.map(({ asked, answered }) => asked - answered)).toEqual(all.map(() => 0));
    },
  );

  test("go round among the workers of a server that hands over, before its successor has any of its own", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const worker = machine.startWorker(office, 2, 1);
    while (await machine.deliver());
    for (let asked = 0; asked < 4; asked++) void worker.ask();
    while (await machine.deliver());
    machine.handOver(office, new PermitOffice());
    while (await machine.deliver());
    for (let answered = 0; answered < 2; answered++) worker.endOne(() => 0);
    while (await machine.deliver());
    expect(worker.running).toHaveLength(2);
  });

  test.each([
    ["more", 2, 5],
    ["fewer", 5, 2],
  ])("are as many as before when a worker that wanted %s has failed", async (_, before, wanted) => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const worker = machine.startWorker(office, before, 1);
    while (await machine.deliver());
    const failing = machine.startWorker(office, wanted, 1);
    while (await machine.deliver());
    machine.kill(failing);
    while (await machine.deliver());
    for (let asked = 0; asked < 9; asked++) void worker.ask();
    while (await machine.deliver());
    expect(worker.running).toHaveLength(before);
  });

  test("go to those who wait when a worker that has them dies", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const [one, other] = [machine.startWorker(office, 1, 2), machine.startWorker(office, 1, 2)];
    void one.ask();
    while (await machine.deliver());
    void other.ask();
    while (await machine.deliver());
    machine.kill(one);
    while (await machine.deliver());
    expect(other.running).toHaveLength(1);
  });

  test("are not given to a worker that has died, whose request is heard late", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const [one, other] = [machine.startWorker(office, 1, 2), machine.startWorker(office, 1, 2)];
    while (await machine.deliver());
    void one.ask();
    machine.kill(one);
    while (await machine.deliver());
    void other.ask();
    while (await machine.deliver());
    expect(other.running).toHaveLength(1);
  });

  test("go to a new server's requests when a worker of the old one dies that has them", async () => {
    const machine = new Machine(chances(1));
    const [office, next] = [new PermitOffice(), new PermitOffice()];
    const old = machine.startWorker(office, 1, 1);
    void old.ask();
    while (await machine.deliver());
    machine.handOver(office, next);
    const fresh = machine.startWorker(next, 1, 1);
    void fresh.ask();
    while (await machine.deliver());
    expect(fresh.running).toHaveLength(0);
    machine.kill(old);
    while (await machine.deliver());
    expect(fresh.running).toHaveLength(1);
  });

  test("are all the new server's when the old one has died with its workers", async () => {
    const machine = new Machine(chances(1));
    const [office, next] = [new PermitOffice(), new PermitOffice()];
    void machine.startWorker(office, 2, 1).ask();
    while (await machine.deliver());
    machine.handOver(office, next);
    const fresh = machine.startWorker(next, 2, 1);
    for (let asked = 0; asked < 3; asked++) void fresh.ask();
    while (await machine.deliver());
    expect(fresh.running).toHaveLength(1);
    next.predecessorEnded();
    while (await machine.deliver());
    expect(fresh.running).toHaveLength(2);
  });

  test("are not kept for an old server that has died, of which a worker's request is heard late", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    office.follow({ [SITE]: 1 }, () => undefined);
    const fresh = machine.startWorker(office, 1, 2);
    while (await machine.deliver());
    office.predecessorEnded();
    office.takeOfPredecessor({ kind: "waits", site: SITE, client: "other", recentMisses: 0, since: 0 });
    void fresh.ask();
    while (await machine.deliver());
    expect(fresh.running).toHaveLength(1);
  });

  test("are given out again by a server whose successor has failed", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const worker = machine.startWorker(office, 2, 1);
    while (await machine.deliver());
    await worker.ask();
    machine.handOver(office, new PermitOffice());
    while (await machine.deliver());
    office.takeBack();
    void worker.ask();
    void worker.ask();
    while (await machine.deliver());
    expect(worker.running).toHaveLength(2);
    worker.endOne(() => 0);
    while (await machine.deliver());
    expect(worker.running).toHaveLength(2);
  });

  test("stay as many when the word of a successor that has failed comes late", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const worker = machine.startWorker(office, 2, 1);
    while (await machine.deliver());
    machine.handOver(office, new PermitOffice());
    while (await machine.deliver());
    office.takeBack();
    office.hear({ site: SITE, granted: 1, turns: [], isShort: true });
    for (let asked = 0; asked < 3; asked++) void worker.ask();
    while (await machine.deliver());
    expect(worker.running).toHaveLength(2);
  });

  test.each([
    { limit: 4, workers: 2, share: 2 },
    { limit: 1, workers: 2, share: 1 },
  ])(
    "of $workers workers with a limit of $limit are $share for one whose server has died",
    async ({ limit, workers, share }) => {
      const machine = new Machine(chances(1));
      const office = new PermitOffice();
      const [one, other] = [machine.startWorker(office, limit, workers), machine.startWorker(office, limit, workers)];
      for (let asked = 0; asked < limit; asked++) void other.ask();
      while (await machine.deliver());
      expect(other.running).toHaveLength(limit);
      for (let asked = 0; asked < 3; asked++) void one.ask();
      while (await machine.deliver());
      one.loseOffice();
      while (await machine.deliver());
      expect(one.running).toHaveLength(share);
      one.endOne(() => 0);
      while (await machine.deliver());
      expect(one.running).toHaveLength(share);
    },
  );

  test("are no more than before for one whose server has died and who has its share", async () => {
    const machine = new Machine(chances(1));
    const worker = machine.startWorker(new PermitOffice(), 2, 1);
    for (let asked = 0; asked < 3; asked++) void worker.ask();
    while (await machine.deliver());
    worker.loseOffice();
    while (await machine.deliver());
    expect(worker.running).toHaveLength(2);
  });

  // `a` has the only one. Then one request comes to each worker, the first of them to the one that is named first.
  test.each<[string, [worker: "a" | "b", recentMisses: number][]]>([
    [
      "that came first",
      [
        ["b", 0],
        ["a", 0],
      ],
    ],
    [
      "of the client that has had least of the origin",
      [
        ["a", 2],
        ["b", 1],
      ],
    ],
  ])("go to the request %s, in whichever worker", async (_, requests) => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const workers = { a: machine.startWorker(office, 1, 2), b: machine.startWorker(office, 1, 2) };
    void workers.a.ask();
    while (await machine.deliver());
    for (const [index, [worker, recentMisses]] of requests.entries()) {
      machine.now = index + 1;
      void workers[worker].ask(recentMisses);
    }
    while (await machine.deliver());
    workers.a.endOne(() => 0);
    while (await machine.deliver());
    expect([workers.a.running.length, workers.b.running.length]).toEqual([0, 1]);
  });

  test("go to the requests of a worker that ends before those of a new one, which has counted no misses yet", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const [old, next] = [machine.startWorker(office, 1, 1), machine.startWorker(office, 1, 1)];
    const served: string[] = [];
    const ask = async (worker: Worker, recentMisses: number, name: string) => {
      await worker.ask(recentMisses);
      served.push(name);
    };
    void ask(old, 1, "first");
    while (await machine.deliver());
    old.refresh();
    for (const misses of [9, 5]) void ask(old, misses, `old, ${misses} misses`);
    while (await machine.deliver());
    old.leases.retire();
    void ask(old, 7, "old, 7 misses");
    void ask(next, 1, "new, 1 miss");
    while (await machine.deliver());
    for (const worker of [old, old, old, old, next]) {
      worker.endOne(() => 0);
      while (await machine.deliver());
    }
    old.refresh();
    expect(old.running).toHaveLength(1);
    expect(served).toEqual(["first", "old, 5 misses", "old, 7 misses", "old, 9 misses", "new, 1 miss"]);
  });

  test("stay where they are while nobody else needs one, and go to another worker's refresh, too", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const [a, b] = [machine.startWorker(office, 1, 2), machine.startWorker(office, 1, 2)];
    void a.ask();
    while (await machine.deliver());
    a.endOne(() => 0);
    b.refresh();
    expect(b.running).toHaveLength(0);
    while (await machine.deliver());
    b.refresh();
    expect(b.running).toHaveLength(1);
  });

  test("stay where they are when a worker ends whose requests have given up", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const [old, next] = [machine.startWorker(office, 1, 2), machine.startWorker(office, 1, 2)];
    void next.ask();
    while (await machine.deliver());
    void old.ask();
    while (await machine.deliver());
    old.giveUpOne();
    old.leases.retire();
    while (await machine.deliver());
    next.endOne(() => 0);
    while (await machine.deliver());
    next.refresh();
    expect(next.running).toHaveLength(1);
  });

  test("do not go round between workers that refresh by turns, if there is one for each", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const [a, b] = [machine.startWorker(office, 2, 2), machine.startWorker(office, 2, 2)];
    for (let asked = 0; asked < 2; asked++) void a.ask();
    while (await machine.deliver());
    for (let asked = 0; asked < 2; asked++) a.endOne(() => 0);
    for (let turn = 0; turn < 2; turn++) {
      for (const worker of [b, a]) {
        worker.refresh();
        while (await machine.deliver());
      }
    }
    expect([a.running.length, b.running.length]).toEqual([1, 1]);
  });

  test("are asked for once by refreshes that find none, however many there are", async () => {
    const machine = new Machine(chances(1));
    const office = new PermitOffice();
    const [a, b] = [machine.startWorker(office, 1, 2), machine.startWorker(office, 1, 2)];
    void a.ask();
    while (await machine.deliver());
    b.refresh();
    while (await machine.deliver());
    b.refresh();
    expect(await machine.deliver()).toBe(false); // the supervisor would keep each of them
    a.endOne(() => 0);
    while (await machine.deliver());
    b.refresh();
    expect(b.running).toHaveLength(1);
  });

  test("are told of in few words to a worker that hangs, however often others wait meanwhile", async () => {
    const office = new PermitOffice();
    const [hanging, other] = [office.connect(), office.connect()];
    hanging.tell({ kind: "joins", site: SITE, limit: 2, share: 1 });
    other.tell({ kind: "joins", site: SITE, limit: 2, share: 1 });
    for (let since = 0; since < 1000; since++) {
      const place = { site: SITE, client: "other", recentMisses: 0, since };
      other.tell({ kind: "waits", ...place });
      other.tell({ kind: "leaves", ...place });
    }
    const granted = { site: SITE, granted: 1, turns: [], isShort: false };
    expect(await hanging.ask(ASKS_FOR_PERMITS)).toEqual([granted, { ...granted, granted: 0 }]);
  });
});

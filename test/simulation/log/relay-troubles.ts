import { type Backend, EVERYTHING, type Items, itemsOf, OTHERS, UNRELATED } from "../backend.ts";
import type { Fate } from "../fate.ts";
import type { Purged } from "../history.ts";
import type { SimulatedIsolate } from "../simulated-isolate.ts";
import type { Visitors } from "../visitors.ts";
import type { LateLog } from "./late-log.ts";
import type { LateRelay } from "./late-relay.ts";

/** The parts of a world that its relays' troubles need. */
export interface TroubledWorld {
  /** Its place among the worlds with relays. */
  readonly number: number;
  readonly fate: Fate;
  readonly log: LateLog;
  readonly visitors: Visitors;
  readonly backend: Backend;
  readonly keepViewMs: number;
  readonly rememberedByNameMs: number;
  readonly skewMs: number;
  isolates(): readonly SimulatedIsolate[];
  /** Any purge, and what its caller does then. */
  purge(): Promise<void>;
  /** Another isolate takes the place of one, and connects to this relay. */
  startReader(relay: LateRelay): SimulatedIsolate;
  /** Isolates that start from now on let purges come later. Returns whether those before did not. */
  deployLongerViewAge(): boolean;
}

/** The page that purges may reach late once a longer view age is deployed. The site says that it stays fresh for long. */
const LATE_PATH = "/plog/c";
const OTHER_PATH = "/a";

/** What happens to one relay, or around it, when its isolates have just seen a page, which is then purged. */
export class RelayTroubles {
  readonly #world: TroubledWorld;
  readonly #fate: Fate;
  #isForgetting = false;

  constructor(world: TroubledWorld) {
    this.#world = world;
    this.#fate = world.fate;
  }

  /** It restarts, or loses its readers or the log for a while. */
  async anyTime(relay: LateRelay): Promise<void> {
    const fate = this.#fate;
    const { visitors, log } = this.#world;
    const path = visitors.anyPath();
    await this.#everybodySees(path);
    if (fate.chance(0.3)) await fate.delay(2000);
    const drawn = fate.random();
    if (drawn < 0.3) {
      const [isDead, isStorageLost] = [fate.chance(0.7), fate.chance(0.3)];
      fate.tell(`${relay.name} restarts${isStorageLost ? " with nothing" : ""}${isDead ? "" : ", and both go on"}`);
      relay.restart(isDead, isStorageLost);
    } else if (drawn < 0.5) {
      const isolate = fate.pick(this.#world.isolates());
      log.cutOff(isolate.reader, fate.pick([1000, 3000]));
      fate.tell(`${isolate.name} reaches nobody for a while`);
    } else if (drawn < 0.85) {
      this.#loseLog(relay, fate.pick([500, 4000]));
    } else {
      relay.fallSilent(fate.pick([500, 4000]));
      fate.tell(`${relay.name} cannot be reached for a while`);
    }
    if (fate.chance(0.3)) await fate.delay(1500);
    const purging = fate.chance(0.9) ? this.#world.purge() : null;
    for (let looks = 0; looks < 3; looks++) {
      await fate.delay(800);
      await this.#everybodySees(path);
    }
    await purging;
  }

  /**
   * The course of events that a rule of R27 is about. A world has one of them, because some end what others need: in a log
   * that is made anew, no purge settles early for a day.
   */
  course(relay: LateRelay): Promise<void> {
    const courses = [
      () => this.#longerViewAge(relay),
      () => this.#newerLog(relay),
      () => this.#backAfterRest(relay),
      () => this.#missedPurges(relay),
      () => this.#readerAhead(relay),
      () => this.#purgedTwice(relay),
      () => this.#forgotten(relay),
      () => this.#oldLogsPush(relay),
    ];
    return courses[this.#world.number % courses.length]!();
  }

  /** The log is made anew, and a reader that knows of that comes to its relay, which does not. */
  async #newerLog(relay: LateRelay): Promise<void> {
    const fate = this.#fate;
    const { log, backend } = this.#world;
    await this.#everybodySees(LATE_PATH);
    const isolate = this.#readerOf(relay);
    this.#loseLog(relay, 800);
    log.makeAnew();
    fate.tell("the log is made anew");
    fate.count("readers that knew a newer log than their relay");
    const purging = backend.purge(() => isolate, EVERYTHING);
    await fate.scheduler.wait(fate.pick([300, 500, 700])).over;
    await this.#sees(isolate, LATE_PATH);
    await this.#look(await purging, LATE_PATH);
  }

  /** The relay has lost the log, and the first isolate of a new version asks it for more than the log has been told of. */
  async #longerViewAge(relay: LateRelay): Promise<void> {
    const fate = this.#fate;
    await this.#everybodySees(LATE_PATH);
    if (!this.#world.deployLongerViewAge()) return;
    fate.count("new versions that allow a longer view age");
    const isolate = this.#world.startReader(relay);
    this.#loseLog(relay, 4000);
    await fate.delay(400);
    await this.#sees(isolate, LATE_PATH);
    this.#world.log.cutOff(isolate.reader, 4000);
    await this.#purgeAndLook(LATE_PATH);
  }

  /** Nobody asks for anything, so that the relay gives up its lease. Then it loses the log, and a reader comes. */
  async #backAfterRest(relay: LateRelay): Promise<void> {
    const fate = this.#fate;
    await this.#everybodySees(LATE_PATH);
    if (!(await relay.rests(20_000))) return;
    fate.count("isolates that came back to a relay at rest");
    this.#loseLog(relay, 3000);
    await fate.scheduler.wait(fate.pick([300, 500, 700])).over;
    await this.#sees(this.#readerOf(relay), LATE_PATH);
    await this.#purgeAndLook(LATE_PATH);
  }

  /** More is purged than a reply has room for, while the relay lacks the log, is told late, or has lost its storage. */
  async #missedPurges(relay: LateRelay): Promise<void> {
    const fate = this.#fate;
    const { backend, isolates } = this.#world;
    await this.#everybodySees(LATE_PATH);
    fate.count("relays that missed more purges than a reply holds");
    const because = fate.pick(["is cut off", "hears late", "restarts"] as const);
    if (because === "is cut off") this.#loseLog(relay, 600);
    if (because === "hears late") relay.hearLate(150);
    const purging = this.#purgeMany(LATE_PATH, because === "hears late" ? 60 : 120);
    if (because === "is cut off") {
      await fate.scheduler.wait(700).over; // it reads what it has missed, and is sent one more meanwhile
      await fate.delay(300);
      await backend.purge(() => fate.pick(isolates()), UNRELATED);
    }
    const [purged] = await purging;
    if (because === "restarts") {
      fate.tell(`${relay.name} restarts with nothing`);
      relay.restart(true, true);
      await this.#sees(this.#world.startReader(relay), LATE_PATH);
    }
    await this.#look(purged ?? null, LATE_PATH);
  }

  /** A new reader hears by a token of more purges than a reply has room for, and asks a relay for them that lacks them. */
  async #readerAhead(relay: LateRelay): Promise<void> {
    const fate = this.#fate;
    const { visitors } = this.#world;
    await this.#everybodySees(LATE_PATH);
    this.#loseLog(relay, 1500);
    const purging = this.#purgeMany(LATE_PATH, 120);
    await fate.scheduler.wait(250).over;
    const last = fate.history.purges.at(-1) ?? null;
    fate.count("readers that were ahead of their relay", last !== null);
    const isolate = this.#world.startReader(relay);
    const asking = [visitors.get(isolate, OTHER_PATH, last)];
    await fate.scheduler.wait(200).over;
    asking.push(this.#sees(isolate, OTHER_PATH));
    await fate.scheduler.wait(200).over;
    await this.#sees(isolate, LATE_PATH);
    await Promise.all([...asking, purging]);
  }

  /** A page is purged twice, and what the relay has been sent first comes again at the end. */
  async #purgedTwice(relay: LateRelay): Promise<void> {
    const { backend, visitors, isolates } = this.#world;
    const path = visitors.anyPath();
    const purge = () => backend.purge(() => this.#fate.pick(isolates()), itemsOf(path));
    await purge();
    const again = relay.lastPush;
    await this.#everybodySees(path);
    const purged = await purge();
    await this.#comesAgain(again);
    await this.#sees(this.#world.startReader(relay), path);
    await this.#look(purged, path);
  }

  /** The log is made anew, and a push of the one before comes when the relay has lost the log, and gets a new reader. */
  async #oldLogsPush(relay: LateRelay): Promise<void> {
    const fate = this.#fate;
    const { backend, log, isolates } = this.#world;
    const purge = (items: Items) => backend.purge(() => fate.pick(isolates()), items);
    await this.#everybodySees(LATE_PATH);
    await purge(UNRELATED);
    const again = relay.lastPush;
    log.makeAnew();
    fate.tell("the log is made anew");
    await fate.scheduler.wait(500).over;
    const purged = await purge(EVERYTHING);
    if (purged) await backend.settled(purged);
    this.#loseLog(relay, 2000);
    await this.#comesAgain(again);
    await this.#sees(this.#world.startReader(relay), LATE_PATH);
  }

  async #comesAgain(push: (() => Promise<boolean>) | null): Promise<void> {
    this.#fate.count("relays that were sent an old purge again", push !== null);
    void push?.();
    await this.#fate.scheduler.wait(20).over;
  }

  /**
   * The log forgets a relay that is cut off, and its last reader, which reaches nobody either, fetches a page. All others
   * have ended their work before, because they would read the log itself, which would wait for them.
   */
  async #forgotten(relay: LateRelay): Promise<void> {
    if (this.#isForgetting) return;
    this.#isForgetting = true;
    const fate = this.#fate;
    const { log, rememberedByNameMs, skewMs } = this.#world;
    const until = (at: number) => fate.scheduler.wait(Math.max(at - fate.now(), 0)).over;
    await fate.scheduler.wait(15_000).over;
    await this.#sees(this.#world.startReader(relay), LATE_PATH);
    const cutOffMs = rememberedByNameMs + 3000;
    this.#loseLog(relay, cutOffMs);
    await fate.scheduler.wait(300).over;
    const { readAt } = relay;
    await until(readAt + 900);
    const isolate = this.#world.startReader(relay);
    const asking = this.#sees(isolate, LATE_PATH);
    await fate.scheduler.wait(200).over;
    log.cutOff(isolate.reader, cutOffMs);
    fate.count("relays that the log forgot before their readers did");
    await until(readAt + rememberedByNameMs + skewMs + 50);
    const fetching = this.#sees(isolate, LATE_PATH);
    await fate.scheduler.wait(20).over;
    await this.#purgeAndLook(LATE_PATH);
    await Promise.all([asking, fetching]);
  }

  #loseLog(relay: LateRelay, ms: number): void {
    relay.loseLog(ms);
    this.#fate.tell(`${relay.name} does not reach the log for a while`);
  }

  /** One that has connected to the relay, if there is one. */
  #readerOf(relay: LateRelay): SimulatedIsolate {
    const isolates = this.#world.isolates();
    const readers = isolates.filter(({ reader }) => relay.hasServed(reader));
    return this.#fate.pick(readers.length > 0 ? readers : isolates);
  }

  #sees(isolate: SimulatedIsolate, path: string): Promise<void> {
    return this.#world.visitors.get(isolate, path, null);
  }

  async #everybodySees(path: string): Promise<void> {
    await Promise.all(this.#world.isolates().map((isolate) => this.#sees(isolate, path)));
  }

  #purge(path: string): Promise<Purged | null> {
    const items = this.#fate.chance(0.5) ? EVERYTHING : itemsOf(path);
    return this.#world.backend.purge(() => this.#fate.pick(this.#world.isolates()), items);
  }

  /** First the page, then as much more as a reply of a log with little room does not hold beside it. */
  #purgeMany(path: string, apartMs: number): Promise<readonly (Purged | null)[]> {
    const { backend, isolates } = this.#world;
    const purges = [itemsOf(path), ...OTHERS].map(async (items, index) => {
      if (index > 0) await this.#fate.scheduler.wait(apartMs).over;
      return backend.purge(() => this.#fate.pick(isolates()), items);
    });
    return Promise.all(purges);
  }

  async #purgeAndLook(path: string): Promise<void> {
    await this.#look(await this.#purge(path), path);
  }

  async #look(purged: Purged | null, path: string): Promise<void> {
    if (purged === null) return;
    await this.#world.backend.settled(purged);
    await this.#everybodySees(path);
  }
}

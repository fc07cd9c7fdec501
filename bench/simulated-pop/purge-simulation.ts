import { seededRandom } from "../../demo/data/seeded-random.ts";
import { ROUND_TRIPS } from "../../local/cdn/latency.ts";
import type { PopNotes } from "../../worker/ports/store.ts";
import { ReadYourWritesLog } from "../../worker/purges/lease/read-your-writes-log.ts";
import type { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import type { ConnectingReader, LogConnection, PurgeLogClient } from "../../worker/purges/log/log-contract.ts";
import { DiscreteEventClock } from "./discrete-event-clock.ts";
import { type PurgeFigures, PurgeTimes } from "./purge-times.ts";
import { PushingLog } from "./pushing-log.ts";
import { randomGapMs, SKEW_MS, sharedNotes, simulatedLease } from "./simulated-lease.ts";

/** PoPs in the cities of `ROUND_TRIPS`, in turn, and the purges that a backend sends through one of them. */
export interface PurgeWorld {
  readonly pops: number;
  readonly isolates: number;
  /** Requests to an isolate in a second. */
  readonly rate: number;
  readonly push: boolean;
  readonly purges: number;
  readonly betweenPurgesMs: number;
  /** The log's object ends, and another begins. Default: it does not. */
  readonly restartEveryMs?: number;
  /** An isolate ends without a word, and another takes its place. Default: none does. */
  readonly endsEveryMs?: number;
}

export interface PurgeWorldFigures extends PurgeFigures {
  readonly billedPerSecond: number;
  readonly logMessagesPerSecond: number;
}

/** The city in which the backend purges, far from the log. */
const PURGED_IN = "fra";
const LEASE_MS = 1000;
const KEEP_MS = 20_000;
/** Until all isolates are at work. */
const SETTLES_AFTER_MS = 15_000;
/** Until the last purge has settled. */
const RUNS_ON_MS = 3000;

interface SimulatedReader {
  readonly lease: ViewLease;
  readonly log: ReadYourWritesLog;
  /** Another isolate has taken its place. */
  hasEnded: boolean;
  readonly open: LogConnection[];
}

/** Runs the real log, its book and leases on virtual time. */
export async function simulatePurges(world: PurgeWorld): Promise<PurgeWorldFigures> {
  const { pops, isolates, rate, push, purges, betweenPurgesMs, restartEveryMs, endsEveryMs } = world;
  const clock = new DiscreteEventClock();
  const random = seededRandom(1).next;
  const log = new PushingLog(clock, random);
  const cities = Object.entries(ROUND_TRIPS);
  const times = new PurgeTimes(clock, log);
  const timing = { leaseMs: LEASE_MS, push, ...(push && { keepViewMs: KEEP_MS }) };

  const start = (pop: number, notes: PopNotes): SimulatedReader => {
    const city = pop % cities.length;
    const onNews = () => times.noteNews(reader.lease);
    const client = log.at(cities[city]![1].logMs, onNews);
    const own = { ...client, connect: (connecting: ConnectingReader) => connectMortal(client, connecting, reader) };
    const { lease, view } = simulatedLease({ clock, random }, timing, notes, own);
    const ofBackend = new ReadYourWritesLog(client, view, lease, SKEW_MS);
    const reader: SimulatedReader = { lease, log: ofBackend, hasEnded: false, open: [] };
    clock.at(clock.now() + random() * 1000, () => visit(reader));
    return reader;
  };
  const visit = (reader: SimulatedReader) => {
    if (reader.hasEnded) return;
    times.use(reader.lease);
    clock.at(clock.now() + randomGapMs(random, rate), () => visit(reader));
  };

  const places = Array.from({ length: pops }, (_, pop) => ({ pop, notes: sharedNotes(clock) })).flatMap((place) =>
    Array.from({ length: isolates }, () => place),
  );
  const readers = places.map(({ pop, notes }) => start(pop, notes));
  const endOne = () => {
    const index = Math.floor(random() * readers.length);
    readers[index]!.hasEnded = true;
    for (const connection of readers[index]!.open) connection.close();
    times.noteEnd(readers[index]!.lease);
    readers[index] = start(places[index]!.pop, places[index]!.notes);
    clock.at(clock.now() + endsEveryMs!, endOne);
  };
  if (endsEveryMs !== undefined) clock.at(SETTLES_AFTER_MS - 1000, endOne);
  const purgerAt = cities.findIndex(([city]) => city === PURGED_IN) * isolates;
  const purge = () => times.purge(readers[purgerAt]!.log, readers, ROUND_TRIPS[PURGED_IN]!);

  await clock.runUntil(SETTLES_AFTER_MS);
  const before = { billed: log.billed, log: log.messages };
  const from = clock.now();
  for (let number = 0; number < purges; number++) {
    const at = from + number * betweenPurgesMs;
    clock.at(at + random() * 1000, () => void purge());
    if (restartEveryMs && (number * betweenPurgesMs) % restartEveryMs === 0) clock.at(at, () => log.restart());
  }
  const seconds = (purges * betweenPurgesMs + RUNS_ON_MS) / 1000;
  await clock.runUntil(from + seconds * 1000);
  return {
    ...times.figures,
    billedPerSecond: (log.billed - before.billed - 2 * purges) / seconds,
    logMessagesPerSecond: (log.messages - before.log) / seconds,
  };
}

/** An isolate that has ended takes nothing in any more and tells nobody, and the platform closes its connections. */
async function connectMortal(
  { connect }: PurgeLogClient,
  { learn, ...asked }: ConnectingReader,
  reader: SimulatedReader,
): Promise<LogConnection | null> {
  const never = new Promise<never>(() => undefined);
  const connection = await connect!({ ...asked, learn: (delta) => (reader.hasEnded ? never : learn(delta)) });
  if (connection === null) return null;
  if (reader.hasEnded) connection.close();
  reader.open.push(connection);
  return {
    ...connection,
    renew: (...given) => (reader.hasEnded ? never : connection.renew(...given)),
    release: () => (reader.hasEnded ? never : connection.release()),
    close: () => {
      reader.open.splice(reader.open.indexOf(connection), 1);
      connection.close();
    },
  };
}

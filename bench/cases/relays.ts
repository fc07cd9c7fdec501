import { Command } from "commander";
import { seededRandom } from "../../demo/data/seeded-random.ts";
import { ROUND_TRIPS } from "../../local/cdn/latency.ts";
import type { PopNotes } from "../../worker/ports/store.ts";
import { PopSharing } from "../../worker/purges/lease/pop-sharing.ts";
import { ReadYourWritesLog } from "../../worker/purges/lease/read-your-writes-log.ts";
import { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import type { ConnectingReader, LogConnection, PurgeLogClient } from "../../worker/purges/log/log-contract.ts";
import { PurgeView } from "../../worker/purges/view/purge-view.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";
import { DiscreteEventClock } from "../simulated-pop/discrete-event-clock.ts";
import {
  assertNoneLate,
  PURGE_COLUMNS,
  type PurgeFigures,
  PurgeTimes,
  purgeCells,
} from "../simulated-pop/purge-times.ts";
import { PushingLog } from "../simulated-pop/pushing-log.ts";
import { PushingRelay } from "../simulated-pop/pushing-relay.ts";
import { SKEW_MS, sharedNotes } from "../simulated-pop/simulated-pop.ts";

/** The city in which the backend purges, and the round trip from a PoP to a relay of its region. */
const PURGED_IN = "fra";
const RELAY_MS = 20;
const LEASE_MS = 1000;
const KEEP_MS = 20_000;
/** Until all isolates are at work. */
const SETTLES_AFTER_MS = 15_000;
const BETWEEN_PURGES_MS = 4000;
/** Little: there are thousands of views, and a bench has one key. */
const VIEW_BYTES = 1024;

interface Setting {
  readonly name: string;
  readonly push: boolean;
  /** How many relays each of the seven regions has. */
  readonly relays: number;
  /** An isolate ends without a word, and another takes its place. Default: none does. */
  readonly endsEveryMs?: number;
}

const SETTINGS: readonly Setting[] = [
  { name: "read", push: false, relays: 0 },
  { name: "pushed, without relays", push: true, relays: 0 },
  { name: "pushed over 14 relays", push: true, relays: 2 },
  { name: "the same, and an isolate ends without a word every 10 s", push: true, relays: 2, endsEveryMs: 10_000 },
];

interface RelaysRow extends Setting, PurgeFigures {
  readonly logMessagesPerSecond: number;
  /** Of the busiest relay. */
  readonly relayMessagesPerSecond: number;
  readonly billedPerDay: number;
}

interface Options {
  readonly pops: number;
  readonly isolates: number;
  readonly purges: number;
  readonly json?: string;
}

export const relays = new Command("relays")
  .description(
    "How soon thousands of isolates see a purge and its receipt settles, with relays of the log and without.",
  )
  .option("--pops <n>", "PoPs, in seven regions", Number, 300)
  .option("--isolates <n>", "isolates of each PoP, with a request a second each", Number, 30)
  .option("--purges <n>", "purges for each row", Number, 10)
  .option("--json <file>", "where the results go (default: bench/results/relays-<date>.json)")
  .action(async ({ json, ...options }: Options) => {
    const rows: RelaysRow[] = [];
    for (const setting of SETTINGS) rows.push(await simulate(setting, options));
    printTable(
      [
        `${options.pops} PoPs, ${options.isolates} isolates each`,
        ...PURGE_COLUMNS,
        ...["messages/s at the log", "at a relay", "billed requests/day"],
      ],
      rows.map((row) => [
        row.name,
        ...purgeCells(row),
        row.logMessagesPerSecond.toFixed(0),
        row.relayMessagesPerSecond.toFixed(0),
        `${(row.billedPerDay / 1e6).toFixed(1)} million`,
      ]),
    );
    writeResults("relays", { settings: options, rows }, json);
    assertNoneLate(rows);
  });

interface SimulatedReader {
  readonly lease: ViewLease;
  readonly log: ReadYourWritesLog;
  /** Another isolate has taken its place. */
  hasEnded: boolean;
  readonly open: LogConnection[];
}

async function simulate(setting: Setting, { pops, isolates, purges }: Options): Promise<RelaysRow> {
  const { push, relays, endsEveryMs } = setting;
  const clock = new DiscreteEventClock();
  const random = seededRandom(1).next;
  const log = new PushingLog(clock, random);
  const cities = Object.entries(ROUND_TRIPS);
  const relaysOf = new Map(
    cities.map(([city, { logMs }]) => [
      city,
      Array.from({ length: relays }, () => new PushingRelay(clock, random, log, logMs)),
    ]),
  );
  const allRelays = [...relaysOf.values()].flat();
  const times = new PurgeTimes(clock, log);
  const readers: SimulatedReader[] = [];

  const start = (pop: number, notes: PopNotes): SimulatedReader => {
    const [city, { logMs }] = cities[pop % cities.length]!;
    const settings = { leaseMs: LEASE_MS, skewMs: SKEW_MS, push, relays, ...(push && { keepViewMs: KEEP_MS }) };
    const reporter = { report: () => undefined };
    const sharing = new PopSharing(notes, settings, clock, reporter);
    const view = new PurgeView(VIEW_BYTES);
    const onNews = () => times.noteNews(reader.lease);
    const direct = log.at(logMs, onNews);
    const near = relaysOf.get(city)!;
    const client = near[Math.floor(random() * near.length)]?.before(direct, RELAY_MS, onNews) ?? direct;
    const own = { ...client, connect: (connecting: ConnectingReader) => connectMortal(client, connecting, reader) };
    const lease: ViewLease = new ViewLease({ settings, view, log: own, pop: sharing, clock, random, reporter });
    const reader: SimulatedReader = {
      lease,
      log: new ReadYourWritesLog(client, view, lease, SKEW_MS),
      hasEnded: false,
      open: [],
    };
    clock.at(clock.now() + random() * 1000, () => visit(reader));
    return reader;
  };

  const visit = (reader: SimulatedReader) => {
    if (reader.hasEnded) return;
    times.use(reader.lease);
    clock.at(clock.now() - Math.log(1 - random()) * 1000, () => visit(reader));
  };

  const places: { readonly pop: number; readonly notes: PopNotes }[] = [];
  for (let pop = 0; pop < pops; pop++) {
    const notes = sharedNotes(clock);
    for (let index = 0; index < isolates; index++) {
      places.push({ pop, notes });
      readers.push(start(pop, notes));
    }
  }
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

  const billedSoFar = () => allRelays.reduce((sum, relay) => sum + relay.billed, log.billed);
  await clock.runUntil(SETTLES_AFTER_MS);
  const before = {
    billed: billedSoFar(),
    log: log.messages,
    relays: allRelays.map((one) => one.messages),
  };
  const from = clock.now();
  for (let number = 0; number < purges; number++) {
    clock.at(from + number * BETWEEN_PURGES_MS + random() * 1000, () => void purge());
  }
  const seconds = (purges * BETWEEN_PURGES_MS) / 1000;
  await clock.runUntil(from + seconds * 1000);
  const billed = billedSoFar() - before.billed - 2 * purges;
  return {
    ...setting,
    ...times.figures,
    logMessagesPerSecond: (log.messages - before.log) / seconds,
    relayMessagesPerSecond:
      Math.max(0, ...allRelays.map(({ messages }, at) => messages - before.relays[at]!)) / seconds,
    billedPerDay: (billed / seconds) * 86_400,
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

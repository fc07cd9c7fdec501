import { Command } from "commander";
import { storedHead } from "../../test/rules/storing/stored-head.ts";
import { PurgeView } from "../../worker/purges/view/purge-view.ts";
import { changedHead, type StoredHead } from "../../worker/rules/storing/stored-response.ts";
import { deltaOfTagPurges } from "../inputs/tag-purges.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { type Machine, thisMachine } from "../report/machine.ts";
import { median } from "../report/median.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

const MAX_BYTES = 8 * 1024 * 1024;
const ROUNDS = 51;
/** Too many for the nearest cache of the processor, as in an isolate with many pages. */
const ENTRIES = 2000;
/** Few enough for the nearest cache of the processor. */
const HOT_ENTRIES = 50;
const FILLS = [1000, 10_000, 100_000, 1_000_000] as const;
/** The loss is counted over this many entries, which is enough to tell 0.01 % from 0. */
const SAMPLES = 50_000;
const MAX_LOSS = 0.01;

/** The cost of one check, of one item of a delta, or of a whole delta, in nanoseconds. */
interface Cost {
  readonly name: string;
  /** The fastest round, which other work on the machine has disturbed least. */
  readonly leastNs: number;
  readonly medianNs: number;
  readonly per: "check" | "item" | "delta";
  readonly rounds: readonly number[];
}

/** A view after a number of purges of other tags. */
interface Fill {
  readonly purges: number;
  readonly keys: number;
  readonly bytes: number;
  /** The share of untouched entries that count as purged, from 0 to 1. */
  readonly loss: number;
  /** The same share if the entries are checked for soft purges as well. */
  readonly lossWithSoft: number;
}

export const view = new Command("view")
  .description("The cost of the purge view: a check, a delta, its memory, and the untouched entries that it loses.")
  .option("--json <file>", "where the results go (default: bench/results/view-<date>.json)")
  .action(measureView);

function measureView({ json }: { json?: string }): void {
  const machine = thisMachine();
  printSettings(machine);
  const costs = [...[6, 14].flatMap((keys) => costsOfChecks(keys)), ...costsOfDeltas()];
  const written = (ns: number) => ns.toLocaleString("en", { maximumSignificantDigits: 3 });
  printTable(
    ["", "least ns", "median ns", "per"],
    costs.map(({ name, leastNs, medianNs, per }) => [name, written(leastNs), written(medianNs), per]),
  );
  const fills = measureFills();
  console.log("");
  printTable(
    ["purges of other tags", "keys held", "KiB", "untouched entries lost", "with soft purges"],
    fills.map(({ purges, keys, bytes, loss, lossWithSoft }) => [
      purges.toLocaleString("en"),
      keys.toLocaleString("en"),
      (bytes / 1024).toLocaleString("en"),
      `${(loss * 100).toFixed(3)} %`,
      `${(lossWithSoft * 100).toFixed(3)} %`,
    ]),
  );
  const worst = fills.find(({ loss }) => loss > MAX_LOSS);
  if (worst)
    throw new BenchFailure(`After ${worst.purges} purges ${worst.loss * 100} % of untouched entries are lost.`);
  writeResults(
    "view",
    { machine, settings: { rounds: ROUNDS, entries: ENTRIES, samples: SAMPLES }, costs, fills },
    json,
  );
}

/** Checks in a full table. Between the rounds, one purge of another tag arrives. */
function costsOfChecks(keys: number): Cost[] {
  const view = new PurgeView(MAX_BYTES);
  view.apply(deltaOfTagPurges(0, 1_000_000));
  let seq = 1_000_000;
  const entries = Array.from({ length: ENTRIES }, (_, page) => entryOf(page, keys, 900_000));
  const checkAll = (held: readonly StoredHead[]) => {
    for (const head of held)
      if (view.check(head, true) === "unknown")
        throw new BenchFailure("The view does not know the log of its entries.");
  };
  const anotherPurge = () => view.apply(deltaOfTagPurges(seq, ++seq));
  const fresh = Array.from({ length: ROUNDS }, () => entries.map((head) => changedHead(head, {})));
  const none = () => undefined;
  // Warms up, so that the measured code is compiled.
  for (let round = 0; round < ROUNDS; round++) {
    anotherPurge();
    checkAll(entries);
  }
  const few = entries.slice(0, HOT_ENTRIES);
  return [
    cost(`unchanged generation, ${keys} keys`, "check", ENTRIES, none, () => checkAll(entries)),
    cost(`after a purge, ${keys} keys, one of ${HOT_ENTRIES} hot entries`, "check", HOT_ENTRIES, anotherPurge, () =>
      checkAll(few),
    ),
    cost(`after a purge, ${keys} keys, one of ${ENTRIES}`, "check", ENTRIES, anotherPurge, () => checkAll(entries)),
    cost(`the first check of an entry, ${keys} keys`, "check", ENTRIES, anotherPurge, (round) =>
      checkAll(fresh[round]!),
    ),
  ];
}

function costsOfDeltas(): Cost[] {
  const deltas = Array.from({ length: ROUNDS }, (_, round) => deltaOfTagPurges(round * 10_000, (round + 1) * 10_000));
  const growing = new PurgeView(MAX_BYTES);
  const full = new PurgeView(MAX_BYTES);
  full.apply(deltaOfTagPurges(0, 1_400_000));
  const late = Array.from({ length: ROUNDS }, (_, round) => {
    const from = 1_400_000 + round * 10_000;
    return deltaOfTagPurges(from, from + 10_000);
  });
  return [
    cost(
      "delta of 10,000 items, into a growing table",
      "item",
      10_000,
      () => undefined,
      (round) => growing.apply(deltas[round]!),
    ),
    cost(
      "delta of 10,000 items, into a full table",
      "item",
      10_000,
      () => undefined,
      (round) => full.apply(late[round]!),
    ),
    costOfLastDoubling(),
  ];
}

/** The longest pause: the delta in which the table grows from 4 to 8 MiB. */
function costOfLastDoubling(): Cost {
  const rounds: number[] = [];
  for (let round = 0; round < 5; round++) {
    const view = new PurgeView(MAX_BYTES);
    let seq = 480_000;
    view.apply(deltaOfTagPurges(0, seq));
    while (view.heldBytes < MAX_BYTES) {
      const delta = deltaOfTagPurges(seq, seq + 100);
      seq += 100;
      const startedAt = process.hrtime.bigint();
      view.apply(delta);
      if (view.heldBytes === MAX_BYTES) rounds.push(Number(process.hrtime.bigint() - startedAt));
    }
  }
  return costOf("the delta in which the table doubles to 8 MiB", "delta", rounds);
}

function cost(name: string, per: Cost["per"], times: number, before: () => void, work: (round: number) => void): Cost {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    before();
    const startedAt = process.hrtime.bigint();
    work(round);
    rounds.push(Number(process.hrtime.bigint() - startedAt) / times);
  }
  return costOf(name, per, rounds);
}

function costOf(name: string, per: Cost["per"], rounds: readonly number[]): Cost {
  return { name, per, leastNs: Math.min(...rounds), medianNs: median(rounds), rounds };
}

function measureFills(): Fill[] {
  return FILLS.map((purges) => {
    const hard = new PurgeView(MAX_BYTES);
    const soft = new PurgeView(MAX_BYTES);
    const delta = deltaOfTagPurges(0, purges);
    hard.apply(delta);
    soft.apply({ ...delta, heads: { hard: purges, soft: purges, invalidate: 0 } });
    let [lost, lostWithSoft] = [0, 0];
    for (let page = 0; page < SAMPLES; page++) {
      const entry = entryOf(page, 14, 0);
      if (hard.check(entry, true) !== "not-purged") lost++;
      if (soft.check(entry, true) !== "not-purged") lostWithSoft++;
    }
    const { heldKeys: keys, heldBytes: bytes } = hard;
    return { purges, keys, bytes, loss: lost / SAMPLES, lossWithSoft: lostWithSoft / SAMPLES };
  });
}

/** A page that nobody has purged. Of its keys, 6 follow from its URL, and the others are tags. */
function entryOf(page: number, keys: number, seq: number): StoredHead {
  const tags = Array.from({ length: keys - 6 }, (_, index) => `#post:${page}:${index}`);
  return storedHead({ key: `https://www.example.com/${page}`, givenPurgeKeys: tags, stamp: { logId: "a", seq } });
}

function printSettings({ cpu, cores, system, node, loadBefore }: Machine): void {
  console.log(`${cpu}, ${cores} cores, nothing pinned, load ${loadBefore} before; ${system}; Node ${node}`);
  console.log(`${ROUNDS} rounds; checks are made in a table of 1 million keys\n`);
}

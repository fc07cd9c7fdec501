import { Command } from "commander";
import { deltaOf, deltaOfTags } from "../test/purges/view/delta.ts";
import { storedHead } from "../test/rules/storing/stored-head.ts";
import { View } from "../worker/purges/view/view.ts";
import { changedHead, type StoredHead } from "../worker/rules/storing/stored-response.ts";
import { BenchFailure } from "./bench-failure.ts";
import { type Machine, thisMachine } from "./machine.ts";
import { median } from "./median.ts";
import { writeResults } from "./results.ts";
import { printTable } from "./table.ts";

const MOST_BYTES = 8 * 1024 * 1024;
const ROUNDS = 51;
/** So many that they do not all lie in the processor's nearest cache, as in an isolate with many pages. */
const ENTRIES = 2000;
/** These do. */
const HOT_ENTRIES = 50;
const FILLS = [1000, 10_000, 100_000, 1_000_000] as const;
/** What the loss is counted over: enough to tell 0.01 % from nothing. */
const SAMPLES = 50_000;
const MOST_LOSS = 0.01;

/** What one step costs, in nanoseconds: of a check, of an item, or of the whole. */
interface Cost {
  readonly name: string;
  /** The round that was disturbed least: what else the machine did can only add. */
  readonly leastNs: number;
  readonly medianNs: number;
  readonly per: "check" | "item" | "delta";
  readonly rounds: readonly number[];
}

/** A view after so many purges of other tags. */
interface Fill {
  readonly purges: number;
  readonly keys: number;
  readonly bytes: number;
  /** Untouched entries that count as purged, of 1. */
  readonly loss: number;
  /** The same for entries that are asked for soft purges, too. */
  readonly lossWithSoft: number;
}

export const view = new Command("view")
  .description("What the purge view costs: a check, a delta, its bytes, and the untouched entries that it loses.")
  .option("--json <file>", "where the results go (default: bench/results/view-<date>.json)")
  .action(measureView);

function measureView({ json }: { json?: string }): void {
  const machine = thisMachine();
  printSetting(machine);
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
  const worst = fills.find(({ loss }) => loss > MOST_LOSS);
  if (worst)
    throw new BenchFailure(`After ${worst.purges} purges ${worst.loss * 100} % of untouched entries are lost.`);
  writeResults(
    "view",
    { machine, settings: { rounds: ROUNDS, entries: ENTRIES, samples: SAMPLES }, costs, fills },
    json,
  );
}

/** Over a full-grown table. News come between the rounds, one purge of another tag each. */
function costsOfChecks(keys: number): Cost[] {
  const view = new View(MOST_BYTES);
  view.apply(deltaOfTags(0, 1_000_000));
  let seq = 1_000_000;
  const entries = Array.from({ length: ENTRIES }, (_, page) => entryOf(page, keys, 900_000));
  const checkAll = (held: readonly StoredHead[]) => {
    for (const head of held) if (view.check(head, true) === "unknown") throw new BenchFailure("The view is no view.");
  };
  const news = () => view.apply(deltaOf(seq, ++seq, [["#news", seq]]));
  const fresh = Array.from({ length: ROUNDS }, () => entries.map((head) => changedHead(head, {})));
  const none = () => undefined;
  // The runtime has to have compiled what is measured.
  for (let round = 0; round < ROUNDS; round++) {
    news();
    checkAll(entries);
  }
  const few = entries.slice(0, HOT_ENTRIES);
  return [
    cost(`unchanged generation, ${keys} keys`, "check", ENTRIES, none, () => checkAll(entries)),
    cost(`after news, ${keys} keys, one of ${HOT_ENTRIES} hot entries`, "check", HOT_ENTRIES, news, () =>
      checkAll(few),
    ),
    cost(`after news, ${keys} keys, one of ${ENTRIES}`, "check", ENTRIES, news, () => checkAll(entries)),
    cost(`the first check of an entry, ${keys} keys`, "check", ENTRIES, news, (round) => checkAll(fresh[round]!)),
  ];
}

function costsOfDeltas(): Cost[] {
  const deltas = Array.from({ length: ROUNDS }, (_, round) => deltaOfTags(round * 10_000, (round + 1) * 10_000));
  const growing = new View(MOST_BYTES);
  const full = new View(MOST_BYTES);
  full.apply(deltaOfTags(0, 1_400_000));
  const late = Array.from({ length: ROUNDS }, (_, round) => {
    const from = 1_400_000 + round * 10_000;
    return deltaOfTags(from, from + 10_000);
  });
  return [
    cost(
      "delta of 10,000 items, into a table that grows",
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

/** The longest pause: the delta in which the table goes from 4 to 8 MiB. */
function costOfLastDoubling(): Cost {
  const rounds: number[] = [];
  for (let round = 0; round < 5; round++) {
    const view = new View(MOST_BYTES);
    let seq = 480_000;
    view.apply(deltaOfTags(0, seq));
    while (view.heldBytes < MOST_BYTES) {
      const delta = deltaOfTags(seq, seq + 100);
      seq += 100;
      const startedAt = process.hrtime.bigint();
      view.apply(delta);
      if (view.heldBytes === MOST_BYTES) rounds.push(Number(process.hrtime.bigint() - startedAt));
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
    const hard = new View(MOST_BYTES);
    const soft = new View(MOST_BYTES);
    const delta = deltaOfTags(0, purges);
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

/** A page nobody purged. With 14 keys: everything, its URL, its path, 5 tags, 5 path prefixes and a host. */
function entryOf(page: number, keys: number, seq: number): StoredHead {
  const url = [`www.example.com/post/${page}`, `/post/${page}`, "*"];
  const rest = Array.from({ length: keys - url.length }, (_, index) =>
    index < 5 ? `#post:${page}:${index}` : `/p/${page}/${index}/`,
  );
  return storedHead({ purgeKeys: [...url, ...rest], stamp: { logId: "a", seq } });
}

function printSetting({ cpu, cores, system, node, loadBefore }: Machine): void {
  console.log(`${cpu}, ${cores} cores, nothing pinned, load ${loadBefore} before; ${system}; Node ${node}`);
  console.log(`${ROUNDS} rounds; checks are made in a table of 1 million keys\n`);
}

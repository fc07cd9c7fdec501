import type { Dice } from "./dice.ts";
import { inTrouble } from "./knowledge.ts";
import { nameOf, PLACES, type Place, REGIONS } from "./places.ts";
import type { Stage } from "./stage.ts";

type Fault = (stage: Stage, dice: Dice) => Promise<void>;

/** The faults that can happen to a CDN between two steps. Those listed more than once are more likely. */
const FAULTS: readonly Fault[] = [
  ...[
    cutFromLog,
    cutFromLog,
    cutFromLog,
    reconnectToLog,
    killIsolate,
    killIsolate,
    emptyCache,
    loseReplies,
    loseReplies,
  ],
];

/** Faults that take long in real time. */
const RARE: readonly Fault[] = [restartPop, restartLog];

export async function strike(stage: Stage, dice: Dice): Promise<void> {
  const faults = dice.isBelow(0.08) ? RARE : FAULTS;
  if (dice.isBelow(0.7)) await dice.pick(faults)(stage, dice);
}

/** Repairs all faults. */
export async function heal(stage: Stage): Promise<void> {
  for (const region of REGIONS) {
    await reconnect(stage, region);
    await stage.cdn.pop(region).loseAnswers({});
    stage.knowledge.calm(region);
  }
}

async function cutFromLog(stage: Stage, dice: Dice): Promise<void> {
  const region = dice.pick(REGIONS);
  if (stage.knowledge.isCut(region)) return;
  await stage.cdn.pop(region).cutFromLog();
  stage.knowledge.cut(region, stage.timeline.now);
  stage.knowledge.trouble(region);
  stage.timeline.tell(null, `${region} does not reach the log any more`);
}

async function reconnectToLog(stage: Stage): Promise<void> {
  const region = REGIONS.find((each) => stage.knowledge.isCut(each));
  if (region) await reconnect(stage, region);
}

async function reconnect({ cdn, knowledge, timeline }: Stage, region: (typeof REGIONS)[number]): Promise<void> {
  if (!knowledge.isCut(region)) return;
  await cdn.pop(region).reconnectToLog();
  knowledge.reconnect(region);
  timeline.tell(null, `${region} reaches the log again`);
}

async function killIsolate(stage: Stage, dice: Dice): Promise<void> {
  const place = dice.pick(PLACES);
  await stage.cdn.pop(place.region).killIsolate(place.isolate);
  isNew(stage, place);
  stage.count("isolates killed");
  stage.timeline.tell(null, `isolate ${nameOf(place)} dies, and another one takes its place`);
}

async function emptyCache(stage: Stage, dice: Dice): Promise<void> {
  const region = dice.pick(REGIONS);
  await stage.cdn.pop(region).emptyCache();
  stage.count("caches emptied");
  stage.timeline.tell(null, `${region} forgets what lies in its cache`);
}

async function loseReplies(stage: Stage): Promise<void> {
  for (const region of REGIONS) {
    await stage.cdn.pop(region).loseAnswers({ log: 1 });
    stage.knowledge.trouble(region);
  }
  stage.count("replies of the log lost");
  stage.timeline.tell(null, "each isolate will lose the next reply of the log");
}

async function restartPop(stage: Stage, dice: Dice): Promise<void> {
  const region = dice.pick(REGIONS);
  await stage.cdn.pop(region).restart();
  for (const place of PLACES.filter((each) => each.region === region)) {
    stage.gaveUp.add(stage.knowledge.lifeIn(nameOf(place))); // it may have had the answer of an unsafe request under way
    isNew(stage, place);
  }
  stage.count("PoPs restarted");
  stage.timeline.tell(null, `${region} is restarted: its cache stays`);
}

async function restartLog(stage: Stage): Promise<void> {
  await stage.cdn.log.restart();
  stage.count("restarts of the log");
  stage.timeline.tell(null, "the log is restarted");
}

/**
 * Records that the isolate in this place is a new one. Invalidations that the old one had still to send to the log may
 * be lost.
 */
function isNew({ knowledge, gaveUp }: Stage, place: Place): void {
  gaveUp.add(inTrouble(knowledge.lifeIn(nameOf(place))));
  knowledge.forget(place);
}

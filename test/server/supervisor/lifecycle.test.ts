import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  advance,
  beginLifecycle,
  type Lifecycle,
  type LifecycleAction,
  type LifecycleEvent,
} from "../../../server/supervisor/lifecycle.ts";

type Told = LifecycleEvent["kind"] | "handed-over" | "upgrade-failed";

const eventOf = (told: Told): LifecycleEvent => {
  if (told === "handed-over") return { kind: "upgrade-ended", hasHandedOver: true };
  if (told === "upgrade-failed") return { kind: "upgrade-ended", hasHandedOver: false };
  return { kind: told } as LifecycleEvent;
};

/** An action in one word or two: `end stop stopped`. */
const wordsOf = ({ kind, ...more }: LifecycleAction) => [kind, ...Object.values(more)].join(" ");

/** The actions for each of these events in turn. */
function actionsFor(told: readonly Told[], begun: Lifecycle = beginLifecycle(false)): string[][] {
  let lifecycle = begun;
  return told.map((each) => {
    const { next, actions } = advance(lifecycle, eventOf(each));
    lifecycle = next;
    return actions.map(wordsOf);
  });
}

const lastActions = (...told: Told[]) => actionsFor(told).at(-1);

function stateAfter(...told: Told[]): Lifecycle {
  return told.reduce((lifecycle, each) => advance(lifecycle, eventOf(each)).next, beginLifecycle(false));
}

describe("reloads", () => {
  test("load the configuration once at a time, and again for those who ask meanwhile", () => {
    expect(actionsFor(["changes-seen", "changes-seen", "reload-asked", "reload-ended", "reload-ended"])).toEqual([
      ["load"],
      [],
      [],
      ["close-unused-logs", "load"],
      ["close-unused-logs"],
    ]);
  });

  test("are refused by a server that ends, also those that waited for another one", () => {
    expect(lastActions("stop-asked", "changes-seen")).toEqual(["refuse-reloads"]);
    expect(lastActions("changes-seen", "changes-seen", "stop-asked", "reload-ended")).toEqual([
      "close-unused-logs",
      "refuse-reloads",
    ]);
  });

  test("wait for an upgrade that is under way, and begin if it fails", () => {
    expect(actionsFor(["upgrade-asked", "changes-seen", "successor-failed", "upgrade-failed"])).toEqual([
      ["hand-over"],
      [],
      [],
      ["answer-upgrades false", "load"],
    ]);
  });

  test("do not wait once the successor is gone, even if the upgrade has not ended", () => {
    expect(lastActions("upgrade-asked", "successor-failed", "reload-asked")).toEqual(["load"]);
  });

  test("that waited for an upgrade are passed on to the successor when it has taken over", () => {
    expect(lastActions("upgrade-asked", "changes-seen", "handed-over")).toEqual([
      "end replace handed-over",
      "answer-upgrades true",
      "reload-successor",
      "refuse-reloads",
    ]);
  });

  test("of the owner go to the successor that has taken over; changed files it sees by itself", () => {
    expect(lastActions("upgrade-asked", "handed-over", "reload-asked")).toEqual(["reload-successor", "refuse-reloads"]);
    expect(lastActions("upgrade-asked", "handed-over", "changes-seen")).toEqual(["refuse-reloads"]);
  });
});

describe("upgrades", () => {
  test("wait for a reload, and for the next one if that is due", () => {
    const told = ["changes-seen", "upgrade-asked", "changes-seen", "reload-ended", "reload-ended"] as const;
    expect(actionsFor(told)).toEqual([
      ["load"],
      [],
      [],
      ["close-unused-logs", "load"],
      ["close-unused-logs", "hand-over"],
    ]);
  });

  test("wait for the end of the predecessor, and say so", () => {
    expect(
      actionsFor(["predecessor-followed", "upgrade-asked", "changes-seen", "predecessor-ended", "reload-ended"]),
    ).toEqual([[], ["say-that-upgrade-waits"], ["load"], [], ["close-unused-logs", "hand-over"]]);
  });

  test("begin once, however often they are asked for, and again after one that failed", () => {
    const told = ["upgrade-asked", "upgrade-asked", "successor-failed", "upgrade-failed", "upgrade-asked"] as const;
    expect(actionsFor(told)).toEqual([["hand-over"], [], [], ["answer-upgrades false"], ["hand-over"]]);
  });

  test("are refused by a server that ends, also those that waited for the predecessor", () => {
    expect(lastActions("stop-asked", "upgrade-asked")).toEqual(["answer-upgrades false"]);
    const told = ["predecessor-followed", "upgrade-asked", "stop-asked", "predecessor-ended"] as const;
    expect(lastActions(...told)).toEqual(["answer-upgrades false"]);
  });

  test("are refused by a server that has handed over, which still knows its successor", () => {
    expect(lastActions("upgrade-asked", "handed-over", "upgrade-asked")).toEqual(["answer-upgrades false"]);
    const told = ["upgrade-asked", "handed-over", "upgrade-asked", "reload-asked"] as const;
    expect(lastActions(...told)).toEqual(["reload-successor", "refuse-reloads"]);
  });

  test("do not end a second time a server that was stopped meanwhile", () => {
    expect(lastActions("upgrade-asked", "stop-asked", "handed-over")).toEqual(["answer-upgrades true"]);
  });
});

describe("the end", () => {
  test("leaves time for answers when it is asked for the first time, and none the second time", () => {
    expect(actionsFor(["stop-asked", "stop-asked"])).toEqual([["end stop stopped"], ["hurry now"]]);
  });

  test("of a server that has handed over is brought forward by a stop", () => {
    expect(actionsFor(["upgrade-asked", "handed-over", "stop-asked", "stop-asked"]).slice(2)).toEqual([
      ["hurry stop"],
      ["hurry now"],
    ]);
  });

  test("concerns the workers of a predecessor for as long as they are there", () => {
    const told = ["predecessor-followed", "stop-asked", "stop-asked", "predecessor-ended", "stop-asked"] as const;
    expect(actionsFor(told).slice(1)).toEqual([
      ["stop-predecessor stop", "end stop stopped"],
      ["stop-predecessor now", "hurry now"],
      [],
      ["hurry now"],
    ]);
  });

  test("comes at once if the server gives up, and only once", () => {
    expect(actionsFor(["gave-up", "gave-up", "stop-asked"])).toEqual([["end now gave-up"], [], ["hurry stop"]]);
    expect(stateAfter("gave-up")).toMatchObject({ isEnding: true, isToldToStop: false });
  });
});

describe("the sockets", () => {
  test("are shared with the predecessor until the workers accept connections, and with a successor that has taken over", () => {
    const begun = beginLifecycle(true);
    expect(begun.sharesSockets).toBe(true);
    expect(advance(begun, { kind: "listening" }).next.sharesSockets).toBe(false);
    expect(stateAfter("upgrade-asked").sharesSockets).toBe(false);
    expect(stateAfter("upgrade-asked", "upgrade-failed").sharesSockets).toBe(false);
    expect(stateAfter("upgrade-asked", "handed-over").sharesSockets).toBe(true);
  });
});

test("in every order of events each request is answered, and nothing begins twice or after the end", () => {
  const asked = fc.constantFrom<Told>(
    "reload-asked",
    "changes-seen",
    "upgrade-asked",
    "stop-asked",
    "gave-up",
    "reload-ended",
    "handed-over",
    "upgrade-failed",
    "successor-failed",
    "predecessor-ended",
  );
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 40 }), fc.boolean(), (events, hasPredecessor) => {
      let lifecycle = beginLifecycle(hasPredecessor);
      const waiting = { reloads: 0, upgrades: 0 };
      const isUnderWay = { load: false, upgrade: false, end: false };
      const tell = (told: Told) => {
        // Only what was begun can end.
        if (told === "reload-ended" && !isUnderWay.load) return;
        if (/handed|failed/.test(told) && !isUnderWay.upgrade) return;
        if (told === "predecessor-ended" && !lifecycle.hasPredecessor) return;
        if (told === "reload-ended") isUnderWay.load = false;
        if (told === "handed-over" || told === "upgrade-failed") isUnderWay.upgrade = false;
        if (told === "reload-asked" || told === "changes-seen") waiting.reloads++;
        if (told === "upgrade-asked") waiting.upgrades++;
        const { next, actions } = advance(lifecycle, eventOf(told));
        lifecycle = next;
        for (const { kind } of actions) {
          if (kind === "load") {
            expect(isUnderWay).toMatchObject({ load: false, end: false });
            isUnderWay.load = true;
            waiting.reloads = 0;
          }
          if (kind === "refuse-reloads") waiting.reloads = 0;
          if (kind === "hand-over") {
            expect(isUnderWay).toEqual({ load: false, upgrade: false, end: false });
            isUnderWay.upgrade = true;
          }
          if (kind === "answer-upgrades") waiting.upgrades = 0;
          if (kind === "end") {
            expect(isUnderWay.end).toBe(false);
            isUnderWay.end = true;
          }
        }
      };
      if (hasPredecessor) tell("predecessor-followed");
      for (const event of events) tell(event);
      for (let turn = 0; turn < 3; turn++)
        for (const end of ["predecessor-ended", "upgrade-failed", "reload-ended"] as const) tell(end);
      expect(waiting).toEqual({ reloads: 0, upgrades: 0 });
      expect(lifecycle.isEnding).toBe(isUnderWay.end);
    }),
  );
});

import { expect } from "vitest";
import { TOKEN } from "../../engine/scenario.ts";
import type { SharedLog, Tier, TierNode } from "./tier.ts";

/** The classes under test, which mutants change. */
export interface TierClasses {
  readonly SharedLog: typeof SharedLog;
  readonly Tier: typeof Tier;
}

/** What holds between a child and its parent, by the words for it. */
export const CHECKS: Readonly<Record<string, (tier: Tier, classes: TierClasses) => Promise<void>>> = {
  async "a purge leaves nothing behind in a child that cannot reach the log, which got its page from a view without it"(
    tier,
  ) {
    const { parent, child } = await parentAndChild(tier);
    tier.origin.reply("/page", { fields: TAGGED, body: "v1" }, { fields: TAGGED, body: "v2" });
    tier.origin.reply("/other", { fields: TAGGED, body: "other" });
    expect(await bodyOf(parent.get("/page"))).toBe("v1");
    expect(await bodyOf(child.get("/other"))).toBe("other");
    await tier.clock.advance(LEASE_MS * 5);
    // The parent's lease begins; the child's has ended by then.
    expect(await bodyOf(parent.get("/page"))).toBe("v1");
    await parent.idle();
    child.isCutOff = true;
    const purger = await tier.start();
    await purger.purge({ tags: ["page"] });
    await tier.clock.advance(LEASE_MS - 100);
    // The old page, which the parent may still give; the purge has not settled.
    expect(await bodyOf(child.get("/page"))).toBe("v1");
    await child.idle();
    // Now it has, but a lease after the child's own fetch has not passed.
    await tier.clock.advance(400);
    expect(await bodyOf(child.get("/page"))).toBe("v2");
  },

  async "a purge in a log that the parent does not read is honoured for the bearer of a token of the parent's log"(
    tier,
    { SharedLog: Log },
  ) {
    const parent = await tier.start();
    const child = await tier.start({ parent: () => parent.url, log: new Log(tier.clock) });
    tier.origin.reply("/page", ...["v1", "v2"].map((body) => ({ fields: TAGGED, body })));
    expect(await bodyOf(parent.get("/page"))).toBe("v1");
    const ofParentsLog = await parent.purge({ tags: ["other"] });
    await child.purge({ tags: ["page"] });
    expect(await bodyOf(child.get("/page", { "tidemark-after": ofParentsLog }))).toBe("v2");
  },

  async "a purge is honoured for a bearer who waits for another's fetch, which the parent answers by an earlier one"(
    tier,
  ) {
    const { parent, child } = await parentAndChild(tier);
    tier.origin.reply("/page", { fields: TAGGED, body: "v1", hold: "slow" }, { fields: TAGGED, body: "v2" });
    tier.origin.reply("/other", { fields: {}, body: "other" });
    expect(await bodyOf(child.get("/other"))).toBe("other");
    const first = child.get("/page");
    await tier.origin.waitUntilSeen("/page", 1);
    child.isCutOff = true;
    const before = await parent.purge({ tags: ["unrelated"] });
    const purger = await tier.start();
    const after = await purger.purge({ tags: ["page"] });
    const waiting = tier.clock.waits;
    const [earlier, later] = [before, after].map((token) => child.get("/page", { "tidemark-after": token }));
    await expect.poll(() => tier.clock.waits - waiting).toBeGreaterThanOrEqual(2);
    tier.origin.release("slow");
    expect(await bodyOf(first)).toBe("v1");
    expect(await bodyOf(earlier!)).toBe("v1"); // the parent, whose lease is alive, has not read of the purge
    expect(await bodyOf(later!)).toBe("v2");
  },

  async "a page purged by a tag that only the child's copy has is not shown to the bearer of the token"(tier) {
    const { parent, child } = await familyWithOtherTags(tier);
    child.isCutOff = true;
    const token = await parent.purge({ tags: ["one"] });
    const answer = await child.get("/page", { "tidemark-after": token });
    expect(answer).toMatchObject({ body: "tagged two", fields: { "x-cache": "MISS" } });
    expect(tier.origin.countOf("/page")).toBe(2);
  },

  async "a HEAD that the parent answers does not make a child's stale page fresh"(tier) {
    const { child } = await familyWithOtherTags(tier, 30_000);
    await tier.clock.advance(31_000);
    expect(await child.send({ method: "HEAD", path: "/page" })).toMatchObject({ status: 200, fields: { etag: '"1"' } });
    await child.idle();
    expect(await child.get("/page")).toMatchObject({ body: "tagged two", fields: { "x-cache": "EXPIRED" } });
  },

  async "what a visitor changes while the parent fails is not undone by it afterwards, although the log cannot be told"(
    tier,
  ) {
    const parent = await tier.start();
    const child = await tier.start({ parent: () => parent.url, fallsBack: true });
    tier.origin.reply("/page", ...["v1", "changed", "v2"].map((body) => ({ fields: TAGGED, body })));
    expect(await bodyOf(child.get("/page"))).toBe("v1");
    await Promise.all([parent.idle(), child.idle()]);
    child.failsBy = Promise.resolve({ kind: "failed", because: "unreachable", cause: { code: "ECONNRESET" } });
    await child.get("/other");
    child.isCutOff = true;
    expect(await bodyOf(child.send({ method: "POST", path: "/page", body: "x" }))).toBe("changed");
    child.failsBy = null;
    await tier.clock.advance(LEASE_MS);
    await child.untilItAsksItsParentAgain();
    expect(await bodyOf(child.get("/page"))).toBe("v2");
    expect(tier.origin.seen.at(-1)!.fields["cdn-loop"]).toContain("node=");
    child.isCutOff = false;
    await tier.clock.advance(LEASE_MS * 2);
    expect(await bodyOf(parent.get("/page"))).toBe("v2");
  },
};

const LEASE_MS = 1000;
const TAGGED = { "cache-control": "max-age=3600", "cache-tag": "page" };

const bodyOf = async (answer: Promise<{ readonly body: string }>) => (await answer).body;

async function parentAndChild(tier: Tier): Promise<{ readonly parent: TierNode; readonly child: TierNode }> {
  const parent = await tier.start();
  return { parent, child: await tier.start({ parent: () => parent.url }) };
}

/** A parent whose copy of the page has the tag `two` alone, and a child whose copy is older and has `one`. */
async function familyWithOtherTags(tier: Tier, olderByMs = 0) {
  const { parent, child } = await parentAndChild(tier);
  const fields = { "cache-control": "max-age=60", etag: '"1"' };
  const tagged = (tag: string) => ({ fields: { ...fields, "cache-tag": tag }, body: `tagged ${tag}` });
  tier.origin.reply("/page", tagged("one"), tagged("two"));
  expect(await bodyOf(child.get("/page"))).toBe("tagged one");
  await tier.clock.advance(olderByMs);
  expect(await bodyOf(parent.get("/page", { "tidemark-refresh": TOKEN }))).toBe("tagged two");
  await Promise.all([parent.idle(), child.idle()]);
  return { parent, child };
}

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type { Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { PurgeRecordBody } from "../../wire/purge-record.ts";
import { MAX_LISTED_PURGES } from "../../wire/purge-record-query.ts";
import { TOKEN } from "../engine/scenario.ts";
import { madeUpStats } from "./made-up-stats.ts";
import { answerWith, CHROMIUM, goTo, hasChromium, logIn, NOW, PLAIN_HOST, Stage } from "./stage.ts";

if (!hasChromium) {
  process.stdout.write(
    `skipped: the dashboard in a browser, because ${CHROMIUM} is missing (Debian package chromium)\n`,
  );
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { viewport: { width: 360, height: 740 } };

/** The words of tables that stand on several lines. */
const BROKEN_WORDS = `[...document.querySelectorAll("section:not([hidden]) :is(th, td)")].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (parentElement.matches("code, .mono")) continue;
    for (const { 0: word, index } of data.matchAll(/[\\w.,]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      if (range.getClientRects().length > 1) broken.push(word);
    }
  }
  return broken;
})`;

/** Time limits by the clock of the page, which a test sets; the browser's own go by its real time. */
const TIMEOUTS_BY_THE_CLOCK = `AbortSignal.timeout = (ms) => {
  const limit = new AbortController();
  setTimeout(() => limit.abort(), ms);
  return limit.signal;
}`;

/** The dashboard as its owner uses it: in Chromium, on the page that the worker serves. */
describe.skipIf(!hasChromium)("the dashboard in a browser", () => {
  let stage: Stage;
  let now = NOW;

  beforeAll(async () => {
    stage = await Stage.start();
  }, 60_000);

  afterAll(() => stage?.stop());

  afterEach(() => {
    expect(stage.errors.splice(0)).toEqual([]);
  });

  async function advance(ms: number): Promise<void> {
    now += ms;
    await stage.setClock(now);
  }

  /** What axe finds, as its rules and the elements that break them. */
  async function axeFindings(page: Page): Promise<string[]> {
    await page.evaluate(AXE);
    const found = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    };
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`),
    );
  }

  test("a wrong token gets a message, a right one opens the overview, and a reload needs no token", async () => {
    const page = await stage.open();
    await page.getByLabel("Token", { exact: true }).fill("guess");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").filter({ hasText: "This token is not one of the edge's." }).waitFor();
    expect(await page.context().cookies()).toEqual([]);

    await page.getByLabel("Token", { exact: true }).fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByText("no isolate has reported yet").waitFor();
    const [cookie, ...others] = await page.context().cookies(`${stage.address}/_tidemark/`);
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ name: "tidemark-session", httpOnly: true, sameSite: "Strict", path: "/_tidemark/" });
    expect(await page.context().cookies(`${stage.address}/`)).toEqual([]);

    await page.reload();
    await page.getByText("no isolate has reported yet").waitFor();
    const kept = "[document.cookie, localStorage.length, sessionStorage.length, location.href].join()";
    expect(await page.evaluate(kept)).toBe(`,0,0,${stage.address}/_tidemark/`);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.context().close();
  });

  test("a token that no request can carry gets a message, and nothing is sent", { tags: ["deep"] }, async () => {
    const page = await stage.open();
    const token = page.getByLabel("Token", { exact: true });
    await token.waitFor();
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    for (const text of [`${TOKEN.slice(0, 9)}…`, `${TOKEN}é`, "two words"]) {
      await token.fill(text);
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({ hasText: "This token has characters that cannot be sent." }).waitFor();
      await page.reload();
      await token.waitFor();
    }
    expect(sent.filter((url) => url.endsWith("/session"))).toEqual([]);
    await token.fill(` ${TOKEN} `); // as it was copied
    await page.keyboard.press("Enter");
    await page.locator("#view-overview").waitFor();
    await page.context().close();
  });

  test("a login during which the connection fails does without the session", { tags: ["deep"] }, async () => {
    const page = await stage.open();
    await page.route(/_tidemark\/site/, (route) => route.abort());
    await logIn(page);
    expect(await page.locator("#view-login").isVisible()).toBe(false);
    await page.context().close();
  });

  test("the overview shows visitors' answers", { tags: ["deep"] }, async () => {
    stage.origin.reply("/a", { fields: { "cache-control": "max-age=600" }, body: "a" });
    stage.origin.reply("/b", { fields: { "cache-control": "no-store" }, body: "b" });
    expect([await stage.visit("/a"), await stage.visit("/a"), await stage.visit("/b")]).toEqual([
      "MISS",
      "HIT",
      "MISS",
    ]);
    await advance(61_000);
    await stage.visit("/a");
    await advance(61_000);
    await stage.visit("/a");
    const page = await stage.enter();
    await expect.poll(() => page.locator("#sentence").innerText()).toMatch(/^Last 24 h: [4-9] requests, \d/);
    // All of it is of one hour: a dash as wide as the hour's bar.
    const lines = "[...document.querySelectorAll('#charts path')].map((path) => path.getTotalLength().toFixed(2))";
    expect(await page.evaluate(lines)).toContain("0.76");
    expect(await page.evaluate(lines)).toEqual(expect.not.arrayContaining(["0.00"]));
    expect(await page.locator("#refused").innerText()).toContain("no-store");
    expect(await page.locator("#answers").innerText()).toMatch(/HIT.*MISS/s);
    expect(await page.locator("#top").innerText()).toContain("/a");
    await page.locator("#top a").first().click();
    await page.locator("#view-explain .outcome").waitFor();
    await page.context().close();
  });

  test("copies that were dropped, and failures of the store, are among what was not stored", {
    tags: ["deep"],
  }, async () => {
    const made = madeUpStats({ pops: 3 });
    const refused = async (store: object) => {
      const page = await stage.open();
      const json = { ...made, store: { ...made.store, refused: {}, unkeyedFields: {}, ...store } };
      await page.route(/_tidemark\/stats/, (route) => route.fulfill({ json }));
      await logIn(page);
      const text = (await page.locator("#refused").innerText()).replaceAll(/\s+/g, " ");
      await page.context().close();
      return text;
    };
    expect(await refused({ refused: { private: 7 }, discarded: { "cut-off": 5, purged: 9 }, failed: 2 })).toBe(
      "Reason Answers purged 9 private 7 cut-off 5 store-failed the store could not be written or read 2",
    );
    expect(await refused({})).toBe("Nothing.");
  });

  test("a purge is tried first, is sent with the token, and turns green once it has settled", async () => {
    const page = await stage.enter();
    const sent: { cookie: string | undefined; token: string | undefined; dryRun: unknown }[] = [];
    page.on("request", async (request) => {
      if (request.method() !== "POST" || !request.url().endsWith("/purge")) return;
      const { cookie, authorization } = await request.allHeaders();
      sent.push({ cookie, token: authorization, dryRun: request.postDataJSON().dryRun });
    });
    await goTo(page, "Purges");
    const purge = page.getByRole("button", { name: "Purge", exact: true });
    expect(await purge.isDisabled()).toBe(true);
    await page.getByLabel("Items").fill("/plog/a?utm_source=x\ntag:songs");
    await page.getByLabel("Reason").fill("<b>because</b>");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("This would purge 2 items. Nothing has happened yet.").waitFor();
    expect(await page.locator("#plan tbody tr").count()).toBe(2);
    expect(await page.locator("#trail tbody tr").count()).toBe(0);

    await page.getByLabel("Items").fill("tag:songs"); // What was not tried cannot be purged.
    expect(await purge.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Try it" }).click();
    await purge.click();
    const row = page.locator("#trail tbody tr").first();
    await row.getByText("settling").waitFor();
    expect(await row.innerText()).toContain("<b>because</b>");
    await advance(1250);
    await row.locator(".badge.good").waitFor();
    expect(await page.getByRole("status").innerText()).toMatch(/^Purge \d+ has settled\.$/);
    const by = { cookie: undefined, token: `Bearer ${TOKEN}` };
    expect(sent).toEqual([
      { ...by, dryRun: true },
      { ...by, dryRun: true },
      { ...by, dryRun: undefined },
    ]);
    await page.context().close();
  });

  test("the answer to what the form no longer says allows nothing", { tags: ["deep"] }, async () => {
    const page = await stage.enter();
    await goTo(page, "Purges");
    const items = page.getByLabel("Items");
    const tryIt = page.getByRole("button", { name: "Try it" });
    const purge = page.getByRole("button", { name: "Purge", exact: true });
    const answerTry = await holdNext(page, "purge");
    await items.fill("prefix:/shop");
    await tryIt.click();
    await items.fill("prefix:/shop/old");
    await answerTry((route) => route.continue());
    expect(await page.locator("#plan").innerText()).toBe("");
    expect(await purge.isDisabled()).toBe(true);

    await tryIt.click();
    await page.locator("#plan").filter({ hasText: "This would purge 1 item." }).waitFor();
    const answerPurge = await holdNext(page, "purge");
    await purge.click();
    await items.fill("prefix:/shop");
    await answerPurge((route) => route.fulfill({ status: 503, json: { title: "The purge log did not answer." } }));
    await page.locator("#plan").filter({ hasText: "The purge log did not answer." }).waitFor();
    expect(await purge.isDisabled()).toBe(true);
    await page.context().close();
  });

  /** Holds the next request for a path. Returns how to let it be answered, which waits until the page has its answer. */
  async function holdNext(
    page: Page,
    path: string,
  ): Promise<(answer: (route: Route) => Promise<void>) => Promise<void>> {
    const pattern = new RegExp(`_tidemark/${path}(?:\\?|$)`);
    const held = Promise.withResolvers<Route>();
    await page.route(pattern, held.resolve, { times: 1 });
    return async (answer) => {
      const route = await held.promise;
      const answered = page.waitForResponse((response) => response.request() === route.request());
      await answer(route);
      await (await answered).finished();
      await page.evaluate("fetch('health').then((response) => response.text())");
    };
  }

  test("the trail has no gap, however many purges came while another page was shown", { tags: ["deep"] }, async () => {
    const page = await stage.enter();
    const trail = numbers(30, 1).map((seq) => recordOf(seq));
    await answerTrail(page, trail);
    await goTo(page, "Purges");
    expect(await shown(page)).toEqual(numbers(30, 6));
    await goTo(page, "Rules");
    trail.unshift(...numbers(65, 31).map((seq) => recordOf(seq)));
    await goTo(page, "Purges");
    expect(await shown(page)).toEqual(numbers(65, 41));
    const older = page.getByRole("button", { name: "Older purges" });
    for (const oldest of [16, 1]) {
      await older.click();
      await expect.poll(() => shown(page)).toEqual(numbers(65, oldest));
    }
    expect(await older.isVisible()).toBe(false);
    await page.context().close();
  });

  test("a trail longer than any answer can be read to its end", { tags: ["deep"] }, async () => {
    const page = await stage.enter();
    const length = MAX_LISTED_PURGES + 20;
    await answerTrail(
      page,
      numbers(length, 1).map((seq) => recordOf(seq)),
    );
    await goTo(page, "Purges");
    const rows = page.locator("#trail tbody tr");
    for (let count = 50; count < length + 25; count += 25) {
      await page.getByRole("button", { name: "Older purges" }).click();
      await expect.poll(() => rows.count()).toBe(Math.min(count, length));
    }
    expect(await shown(page)).toEqual(numbers(length, 1));
    await page.context().close();
  });

  test("a purge that left the trail's first rows is not waited for, and is settled when seen again", {
    tags: ["deep"],
  }, async () => {
    const page = await stage.enter();
    await page.clock.install({ time: now });
    await page.reload();
    await page.clock.pauseAt(now + 600_000);
    const trail = numbers(25, 1).map((seq) => recordOf(seq, false));
    const asked = await answerTrail(page, trail);
    await goTo(page, "Purges");
    expect(await page.locator(".badge.good").count()).toBe(0);
    trail.splice(0, 25, ...numbers(60, 1).map((seq) => recordOf(seq)));
    await page.clock.runFor(1000);
    await expect.poll(() => shown(page)).toContain(60);
    asked.length = 0;
    await page.clock.runFor(9000);
    await goTo(page, "Rules");
    await goTo(page, "Purges");
    expect(asked).toHaveLength(1);
    await page.getByRole("button", { name: "Older purges" }).click();
    await expect.poll(() => shown(page)).toEqual(numbers(60, 11));
    expect(await page.locator("#trail .badge:not(.good)").count()).toBe(0);
    await page.context().close();
  });

  test("a trail that is read again keeps where its reader is in it", { tags: ["deep"] }, async () => {
    const page = await stage.enter(PHONE);
    await page.clock.install({ time: now });
    const trail = numbers(2, 1).map((seq) => recordOf(seq));
    await answerTrail(page, trail);
    await goTo(page, "Purges");
    await page.getByRole("region", { name: "Trail" }).focus();
    await page.evaluate("document.querySelector('#trail .scroll').scrollLeft = 40");
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('#trail code'))");
    const place = () =>
      page.evaluate(
        "[document.activeElement.ariaLabel, document.querySelector('#trail .scroll').scrollLeft, String(getSelection())]",
      );
    const isReadAgain = page.waitForResponse(/_tidemark\/purges/);
    await page.clock.runFor(10_000);
    await (await isReadAgain).finished();
    await page.evaluate("fetch('health').then((response) => response.text())");
    expect(await place()).toEqual(["Trail", 40, "tag:2"]);
    trail.unshift(recordOf(3));
    await page.clock.runFor(10_000);
    await expect.poll(() => shown(page)).toEqual([3, 2, 1]);
    expect(await place()).toEqual(["Trail", 40, ""]);
    await page.context().close();
  });

  /** A purge in the trail. */
  function recordOf(seq: number, settled = true): PurgeRecordBody {
    const accepted = { urls: 0, tags: 1, prefixes: 0, hosts: 0, everything: false };
    return {
      ...{ seq, at: "2026-01-01T00:00:00.000Z", by: "token", reason: null, mode: "hard", itemCount: 1, id: null },
      ...{ repeatOf: null, settled, items: [`tag:${seq}`], accepted },
    };
  }

  /** Answers reads of the trail from these purges, as the edge would. Returns the reads to come. */
  async function answerTrail(page: Page, trail: readonly PurgeRecordBody[]): Promise<string[]> {
    const asked: string[] = [];
    await page.route(/_tidemark\/purges/, async (route) => {
      const { search, searchParams } = new URL(route.request().url());
      asked.push(search);
      const [limit, before] = [Number(searchParams.get("limit")), Number(searchParams.get("before") ?? Infinity)];
      if (limit > MAX_LISTED_PURGES) return route.fulfill({ status: 400, json: { title: "Bad Request" } });
      const from = trail.filter(({ seq }) => seq < before);
      const purges = from.slice(0, limit);
      await route.fulfill({ json: { purges, next: from.length > limit ? purges.at(-1)!.seq : null } });
    });
    return asked;
  }

  /** The numbers of the purges in the trail. */
  async function shown(page: Page): Promise<number[]> {
    return (await page.locator("#trail tbody th").allInnerTexts()).map(Number);
  }

  /** Whole numbers, downwards. */
  function numbers(first: number, last: number): number[] {
    return Array.from({ length: first - last + 1 }, (_, index) => first - index);
  }

  test("after a reload the session reads, and a purge asks for the token", { tags: ["deep"] }, async () => {
    await stage.purge({ tags: ["before"] });
    const page = await stage.enter();
    await goTo(page, "Purges");
    await page.reload();
    await page.locator("#trail tbody tr").first().waitFor();
    const rows = await page.locator("#trail tbody tr").count();
    await page.getByLabel("Items").fill("everything");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("A purge needs a token with the scope purge").waitFor();
    await page.getByLabel("Token with the scope purge").fill("guess");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("This token is not one of the edge's.").waitFor();
    await page.getByLabel("Token with the scope purge").fill(TOKEN);
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("This would purge the whole site.").waitFor();
    expect(await page.locator("#trail tbody tr").count()).toBe(rows);
    await page.context().close();
  });

  test("when a session ends, the login appears", { tags: ["deep"] }, async () => {
    const page = await stage.enter();
    await page.reload();
    await page.locator("#sentence").filter({ hasText: /./ }).waitFor();
    await advance(12 * 3_600_000);
    await readAnew(page);
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(await page.locator("#view-overview").isVisible()).toBe(false);
    const answered = page.waitForResponse(/_tidemark\/site/);
    await comeBack(page);
    await answered;
    await page.evaluate("fetch('health').then((response) => response.text())");
    expect(await page.getByRole("alert").innerText()).toBe("The session has ended.");
    await page.reload();
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(await page.getByRole("alert").isVisible()).toBe(false);
    await page.context().close();
  });

  test("the end of an earlier session does not take the tokens of a later one", { tags: ["deep"] }, async () => {
    const page = await stage.open();
    await page.clock.install({ time: now });
    await page.reload();
    await logIn(page);
    await page.clock.runFor(6 * 3_600_000);
    await page.context().clearCookies();
    await readAnew(page);
    await page.getByLabel("Token", { exact: true }).fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.locator("#view-rules").waitFor();
    await page.clock.runFor(7 * 3_600_000);
    await goTo(page, "Purges");
    expect(await page.getByLabel("Token with the scope purge").isVisible()).toBe(false);
    await page.clock.runFor(6 * 3_600_000);
    await comeBack(page);
    await page.getByLabel("Token with the scope purge").waitFor();
    await page.context().close();
  });

  test("a link to an explanation needs a session, which has then not ended", { tags: ["deep"] }, async () => {
    const page = await stage.open();
    await page.goto(`${stage.address}/_tidemark/#explain?/linked`);
    await page.reload();
    const token = page.getByLabel("Token", { exact: true });
    await token.fill(TOKEN);
    expect(await page.getByRole("alert").isVisible()).toBe(false);
    expect(await page.locator("#view-explain").isVisible()).toBe(false);
    await token.press("Enter");
    await page.locator("#explanation", { hasText: "/linked" }).waitFor();
    await page.context().close();
  });

  test.each(["/sale/100%", "/a?q=%C3%A9&x=%E9+1"])(
    "a link explains %s as it is written",
    {
      tags: ["deep"],
    },
    async (path) => {
      const page = await stage.enter();
      await page.evaluate(`location.hash = ${JSON.stringify(`#explain?${path}`)}`);
      await page.locator("#explanation :is(.outcome, .note)").waitFor();
      expect(await page.getByLabel("URL or path").inputValue()).toBe(path);
      await page.context().close();
    },
  );

  test("without cookies a tab stays logged in when another one logs in, until that logs out", {
    tags: ["deep"],
  }, async () => {
    const address = `${stage.address.replace("localhost", PLAIN_HOST)}/_tidemark/`;
    // Tabs whose console is not looked at, where Chromium calls it an error that the page came over http.
    const context = (await stage.open()).context();
    const page = await context.newPage();
    const other = await context.newPage();
    for (const tab of [page, other]) {
      await tab.goto(address);
      await logIn(tab);
    }
    expect(await context.cookies()).toEqual([]);
    await readAnew(page);
    await page.locator("#view-rules").waitFor();
    await goTo(page, "Purges");
    await page.getByLabel("Items").fill("everything");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("A purge needs a token with the scope purge").waitFor();
    await other.getByRole("button", { name: "Log out" }).click();
    await other.getByLabel("Token", { exact: true }).waitFor();
    await readAnew(page);
    await page.getByRole("alert").filter({ hasText: "The session has ended." }).waitFor();
    await page.getByLabel("Token", { exact: true }).waitFor();
    await context.close();
  });

  const ended = (route: Route) => route.fulfill({ status: 401, json: { title: "The token is missing or wrong" } });

  test.each([
    ["a time is chosen", "Overview", (page: Page) => page.getByText("Last 5 days").click()],
    ["a PoP is chosen", "Overview", (page: Page) => page.getByRole("button", { name: "FRA" }).click()],
    [
      "a request is to be explained",
      "Explain",
      async (page: Page) => {
        await page.getByLabel("URL or path").fill("/a");
        await page.getByRole("button", { name: "Explain" }).click();
      },
    ],
  ] as const)("if the session has ended when %s, the login appears", { tags: ["deep"] }, async (_, name, act) => {
    const page = await stage.enter({}, { pops: 3 });
    await goTo(page, name);
    await page.route(/_tidemark\/(?:stats|explain|site)/, ended);
    await act(page);
    await page.getByRole("alert").filter({ hasText: "The session has ended." }).waitFor();
    await page.getByLabel("Token", { exact: true }).waitFor();
    await page.context().close();
  });

  /** The rules are read anew, which only a session may. */
  async function readAnew(page: Page): Promise<void> {
    await page.getByRole("navigation").getByRole("link", { name: "Rules" }).click();
  }

  /** The tab is shown again, which reads its page anew. */
  async function comeBack(page: Page): Promise<void> {
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  }

  test("explain says what would happen to the request in its form", { tags: ["deep"] }, async () => {
    stage.origin.reply("/songs?page=2", { fields: { "cache-control": "max-age=600" }, body: "songs" });
    await stage.visit("/songs?page=2&utm_source=mail");
    const page = await stage.enter();
    await goTo(page, "Explain");
    await page.getByLabel("URL or path").fill("/songs?page=2&utm_source=mail");
    await page.getByLabel("Fields of the request").fill("");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.locator(".outcome").waitFor();
    expect(await page.locator(".outcome").innerText()).toMatch(/^HIT/);
    expect(await page.locator("#explanation ol").innerText()).toContain(
      "/songs is the first route that matches /songs.",
    );
    expect(await page.locator("#explanation dl").innerText()).toContain("utm_source");
    await page.getByLabel("Fields of the request").fill("Cookie: sid=1\nCookie: theme=dark");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.locator(".outcome", { hasText: /^BYPASS/ }).waitFor();
    await page.getByLabel("Fields of the request").fill("");
    await page.getByLabel("URL or path").fill("/songs?page=3");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.locator("mark").first().waitFor();
    expect(await page.locator("mark").first().innerText()).toBe("page=2");
    // Nothing at all is stored under that key, no variant either.
    expect(await page.locator("#explanation dd", { hasText: "for this request" }).first().innerText()).toBe(
      "nothing for this request",
    );
    await page.context().close();
  });

  test("explain shows a near key to its end, also if a value has a question mark", { tags: ["deep"] }, async () => {
    stage.origin.reply("/poems?q=who?&page=2", { fields: { "cache-control": "max-age=600" }, body: "songs" });
    await stage.visit("/poems?q=who?&page=2");
    const page = await stage.enter();
    await goTo(page, "Explain");
    await page.getByLabel("URL or path").fill("/poems?q=who?&page=3");
    await page.getByRole("button", { name: "Explain" }).click();
    const near = page.locator("dd", { hasText: "differs in:" });
    expect(await near.locator("code").innerText()).toMatch(/\/poems\?q=who\?&page=2$/);
    expect(await near.locator("mark").innerText()).toBe("page=2");
    await page.context().close();
  });

  test("an explanation that comes late does not replace that of the form", { tags: ["deep"] }, async () => {
    const page = await stage.enter();
    await goTo(page, "Explain");
    const url = page.getByLabel("URL or path");
    const ask = page.getByRole("button", { name: "Explain" });
    const answerFirst = await holdNext(page, "explain");
    await url.fill("/songs?page=7");
    await ask.click();
    await url.fill("/images/new.png");
    await ask.click();
    await page.locator("#explanation", { hasText: "/images/new.png" }).waitFor();
    await answerFirst((route) => route.continue());
    expect(await page.locator("#explanation").innerText()).toContain("/images/new.png");
    await page.context().close();
  });

  test("the rules show each route and every limit, and no secret", { tags: ["deep"] }, async () => {
    const page = await stage.enter();
    await goTo(page, "Rules");
    const text = await page.locator("#rules").innerText();
    for (const words of ["/api/search/autocomplete", "24h", "X-Edge", "storeBytes", "8.39 MB"])
      expect(text).toContain(words);
    expect(text).toMatch(/\npush\s+false\n/);
    expect(text).not.toContain("a-secret-value");
    await page.context().close();
  });

  describe.each([
    { mark: "<img src=x onerror=alert(1)>", tags: [] },
    { mark: "\"'><script>alert(1)</script>", tags: ["deep"] },
    { mark: "javascript:alert(1)//", tags: ["deep"] },
    { mark: "\u202Eevil", tags: ["deep"] },
  ])("$mark", ({ mark, tags }) => {
    test("is text in every table", { tags }, async () => {
      const page = await stage.enter({}, { pops: 3, machine: true, mark });
      const elements = () =>
        page.evaluate(
          "[...document.querySelectorAll('main img, main script, main a:not([href^=\"#\"]), [onerror]')].length",
        );
      await page.getByText("Not stored", { exact: true }).click();
      const record = { ...recordOf(1), by: mark, reason: mark, items: [mark] };
      for (const id of ["sentence", "refused", "pops", "routes", "top", "machine"]) {
        if (id !== "sentence") expect(await page.locator(`#${id}`).textContent()).toContain(mark);
      }
      expect(await elements()).toBe(0);
      await page.route(/_tidemark\/purges/, (route) => route.fulfill({ json: { purges: [record], next: null } }));
      await goTo(page, "Purges");
      await page.locator("#trail tbody tr").waitFor();
      expect(await page.locator("#trail").textContent()).toContain(mark);
      await page.route(/_tidemark\/site/, (route) =>
        route.fulfill({
          json: { version: 1, routes: [{ match: mark, tags: [mark] }], limits: {}, purge: {}, [mark]: mark },
        }),
      );
      await goTo(page, "Rules");
      await page.locator("#rules tbody tr").waitFor();
      expect(await page.locator("#rules").textContent()).toContain(mark);
      expect(await elements()).toBe(0);
      await page.context().close();
    });
  });

  test("control: axe runs on the page, and finds a field without a label", { tags: ["deep"] }, async () => {
    const page = await stage.enter();
    await page.evaluate("document.querySelector('main').append(document.createElement('input'))");
    expect((await axeFindings(page)).join()).toContain("label");
    await page.context().close();
  });

  describe.each([
    ["in light mode", { colorScheme: "light" }],
    ["in dark mode", { colorScheme: "dark" }],
    ["on a phone", { ...PHONE, colorScheme: "light" }],
  ] as const)("%s", (_, options) => {
    test("axe finds nothing at the login and on any page, with 0, 1 and 50 PoPs, and all of them fit", {
      tags: ["deep"],
    }, async () => {
      const page = await stage.open(options);
      const expectSound = async (name: string) => {
        expect({ name, found: await axeFindings(page) }).toEqual({ name, found: [] });
        const width = await page.evaluate("document.documentElement.scrollWidth");
        expect({ name, width }).toEqual({ name, width: page.viewportSize()!.width });
      };
      await page.getByLabel("Token", { exact: true }).waitFor();
      await expectSound("login");
      await answerWith(page, { pops: 0 });
      await logIn(page);
      expect(await page.locator(".tile").count()).toBe(0);
      await expectSound("Overview of 0 PoPs");
      for (const pops of [1, 50]) {
        await answerWith(page, { pops });
        await page.reload();
        await page
          .locator(".tile")
          .nth(pops - 1)
          .waitFor();
        expect(await page.locator(".tile").count()).toBe(pops);
        await expectSound(`Overview of ${pops} PoPs`);
      }
      await answerWith(page, { pops: 1, machine: true });
      await page.reload();
      await page.locator("#machine tbody tr").first().waitFor();
      await expectSound("Overview of a machine");
      for (const name of ["Purges", "Explain", "Rules"] as const) {
        await goTo(page, name);
        await expectSound(name);
      }
      await page.context().close();
    });
  });

  test("on a phone no table breaks its words, except in code", { tags: ["deep"] }, async () => {
    const page = await stage.enter(PHONE, { pops: 1, machine: true });
    const expectWhole = async (name: string) =>
      expect({ name, broken: await page.evaluate(BROKEN_WORDS) }).toEqual({ name, broken: [] });
    await expectWhole("Overview");
    await stage.purge({ tags: ["phone"], reason: "a correction by an editor" });
    await goTo(page, "Purges");
    await page.getByLabel("Items").fill("/plog/the-long-tide-3");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.locator("#plan tbody tr").waitFor();
    await expectWhole("Purges");
    await goTo(page, "Rules");
    await page.locator("#rules tbody tr").first().waitFor();
    await expectWhole("Rules");
    await page.context().close();
  });

  test("everything can be reached and read by keyboard", { tags: ["deep"] }, async () => {
    const page = await stage.enter({}, { pops: 3 });
    const focused = () => page.evaluate("document.activeElement.textContent || document.activeElement.id");
    await page.getByRole("radio", { name: "Last 24 h" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.locator("#sentence").filter({ hasText: "Last 5 days" }).waitFor();
    await page.getByRole("slider").focus();
    await page.keyboard.press("Home");
    const spoken = await page.getByRole("slider").getAttribute("aria-valuetext");
    const [first] = madeUpStats({ pops: 3 }).spans;
    expect(spoken).toContain(`Requests: from cache ${first!.fromCache.toLocaleString("en-US")}`);
    await page.getByRole("button", { name: "FRA" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("#sentence").filter({ hasText: "in FRA" }).waitFor();
    expect(await focused()).toContain("FRA");
    expect(await page.getByRole("button", { name: "FRA" }).getAttribute("aria-pressed")).toBe("true");
    await page.getByRole("button", { name: "All PoPs" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("#sentence").filter({ hasNotText: "in FRA" }).waitFor();
    expect(await focused()).toContain("FRA");
    await page.getByRole("button", { name: /^All \d/ }).focus();
    await page.keyboard.press("Enter");
    expect(await focused()).toContain("URL, to explain");
    await page.context().close();
  });

  test("the link to the content stays on its page, so that a form there is kept", { tags: ["deep"] }, async () => {
    const page = await stage.enter();
    await goTo(page, "Explain");
    await page.getByLabel("URL or path").fill("/a");
    await page.getByRole("link", { name: "Skip to the content" }).focus();
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    // As when its reader comes back to the tab.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.evaluate("fetch('health').then((response) => response.text())");
    expect(new URL(page.url()).hash).toBe("#explain");
    expect(await page.getByLabel("URL or path").isVisible()).toBe(true);
    await page.context().close();
  });

  test("while one PoP is chosen, the others stay up to date", { tags: ["deep"] }, async () => {
    const page = await stage.enter({}, { pops: 2 });
    await page.getByRole("button", { name: "FRA" }).click();
    await page.locator("#sentence").filter({ hasText: "in FRA" }).waitFor();
    const shown = await page.locator("#pops .tile").allInnerTexts();
    await answerWith(page, { pops: 3 });
    await page.getByText("Last hour").click();
    await expect.poll(() => page.locator("#pops .tile").count()).toBe(3);
    expect(await page.locator("#pops .tile").allInnerTexts()).not.toEqual(expect.arrayContaining(shown));
    expect(await page.locator("#sentence").innerText()).toContain("in FRA");
    await page.context().close();
  });

  test("the overview says what to change, with the setting as code", { tags: ["deep"] }, async () => {
    const page = await stage.enter({}, { pops: 3 });
    await page.getByRole("heading", { name: "What to change" }).waitFor();
    expect(await page.locator("#advice li").first().innerText()).toContain('add "sid" to key.query.ignore');
    expect(await page.locator("#advice code").allInnerTexts()).toContain("key.query.ignore");
    await answerWith(page, { pops: 0 });
    await page.getByText("Last hour").click();
    await page.locator("#sentence").filter({ hasText: "no isolate has reported" }).waitFor();
    expect(await page.locator("#advice").innerText()).toBe("");
    await page.context().close();
  });

  test("a server of one's own shows its machine, and marks what is about to run out", { tags: ["deep"] }, async () => {
    const page = await stage.enter({}, { pops: 0, machine: true });
    const tiles = page.locator("#machine .tile");
    const [memory, disk, origin, certificate, old] = await tiles.allInnerTexts();
    expect(memory).toContain("220 MiB of 256 MiB");
    expect(disk).toMatch(/6\.2 GB of 10\.1 GB\s+48\.3 GB free, 2,210 evicted/);
    expect(origin).toMatch(
      /32 of 32\s+19 of 1,024 wait, the first for 1300 ms; got no turn in the chosen time \(others 7\)/,
    );
    expect(certificate).toMatch(/www\.example\.com\s+valid for 52 days/);
    expect(old).toContain("valid for 6 days");
    const color = (index: number) => tiles.nth(index).locator("rect").getAttribute("class");
    expect(await Promise.all([0, 1, 2, 3, 4].map(color))).toEqual(["c0", "c0", "c2", "c0", "c2"]);
    const rows = await page.locator("#machine tbody tr").allInnerTexts();
    expect(rows.map((row) => row.replaceAll(/\s+/g, " ").trim())).toEqual([
      "supervisor 96 MB 41 of 65,536",
      "worker-2 finishes its answers 211 MB 53 of 65,536 12 of 20,000 108 412",
      "worker-3 388 MB 645 of 65,536 604 of 20,000 5,436 412",
      "worker-4 374 MB 629 of 65,536 588 of 20,000 5,292 412",
    ]);
    await answerWith(page, { pops: 0 });
    await page.getByText("Last hour").click();
    await page.locator("#machine").filter({ hasNotText: /./ }).waitFor({ state: "attached" });
    await page.context().close();
  });

  test("a list of URLs can be chosen, and a long one shown in full", {
    tags: ["deep"],
  }, async () => {
    const page = await stage.enter({}, { pops: 3 });
    const { missed, notStored } = madeUpStats({ pops: 3 }).top!;
    const rows = page.locator("#top tbody tr");
    expect(await rows.count()).toBe(10);
    await page.getByRole("button", { name: `All ${missed.length}` }).click();
    expect(await rows.count()).toBe(missed.length);
    await page.getByText("Not stored", { exact: true }).click();
    expect(await page.locator("#top").innerText()).toContain(notStored[0]!.because);
    await page.getByText("Most misses").click();
    expect(await rows.count()).toBe(10);
    await page.context().close();
  });

  test("a URL that was cut is text, because a link would explain another one", { tags: ["deep"] }, async () => {
    const page = await stage.enter({}, { pops: 3, mark: "…" });
    const { url } = madeUpStats({ pops: 3, mark: "…" }).top!.missed[0]!;
    await page.locator("#top").getByText(url, { exact: true }).waitFor();
    expect(await page.locator("#top a").count()).toBe(0);
    await page.context().close();
  });

  test("the charts show each span under the pointer, and gaps as gaps", { tags: ["deep"] }, async () => {
    const page = await stage.enter({}, { pops: 3 });
    const body = madeUpStats({ pops: 3 });
    expect(await page.locator("figure").first().locator("rect.c0").count()).toBe(body.spans.length);
    const plot = page.locator(".plot").first();
    const { width, height } = (await plot.boundingBox())!;
    await plot.hover({ position: { x: width - 2, y: height / 2 } });
    const last = body.spans.at(-1)!.fromCache.toLocaleString("en-US");
    await expect.poll(() => page.locator("figcaption").first().innerText()).toContain(last);
    const sparse = { ...body, spans: body.spans.filter((_, index) => index % 3 === 0) };
    await page.route(/_tidemark\/stats/, (route) => route.fulfill({ json: sparse }));
    await page.getByText("Last hour").click();
    await expect.poll(() => page.locator("figure").first().locator("rect.c0").count()).toBe(sparse.spans.length);
    const path = await page.locator("figure").nth(1).locator("path").getAttribute("d");
    expect(path!.match(/M/g)).toHaveLength(sparse.spans.length);
    await page.context().close();
  });

  test("a chart of days names the days of UTC, wherever its reader is", { tags: ["deep"] }, async () => {
    const page = await stage.enter({ timezoneId: "America/New_York" });
    const made = madeUpStats({ pops: 3 });
    const [from, to] = ["2026-03-09T00:00:00.000Z", made.to];
    const json = { ...made, from, to, spanMs: 86_400_000, spans: [{ ...made.spans[0]!, at: from }] };
    await page.route(/_tidemark\/stats/, (route) => route.fulfill({ json }));
    await page.getByText("Last 90 days").click();
    await expect.poll(() => page.locator(".times").first().innerText()).toMatch(/^9 Mar\s*14 Mar$/);
    await page.context().close();
  });

  test("if the log does not answer, the page says so and keeps its figures", { tags: ["deep"] }, async () => {
    const page = await stage.enter({}, { pops: 3 });
    const detail = "The purge log, which keeps the site's counts, did not answer.";
    await page.route(/_tidemark\/stats/, (route) =>
      route.fulfill({ status: 503, json: { title: "Unavailable", detail } }),
    );
    await goTo(page, "Rules");
    await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
    await page.getByRole("alert").filter({ hasText: detail }).waitFor();
    expect(await page.locator("#sentence").innerText()).toContain("requests");
    await answerWith(page, { pops: 3 });
    await page.context().close();
  });

  test("if the stats of a chosen time cannot be read, the page says so and asks again", {
    tags: ["deep"],
  }, async () => {
    const page = await stage.enter({}, { pops: 3 });
    await page.clock.install({ time: now });
    await page.route(/_tidemark\/stats/, (route) => route.fulfill({ status: 503, json: { title: "Unavailable" } }));
    await page.getByText("Last 5 days").click();
    const alert = page.getByRole("alert");
    await alert.filter({ hasText: "Unavailable" }).waitFor();
    await answerWith(page, { pops: 3 });
    await page.clock.runFor(5000);
    await page.locator("#sentence").filter({ hasText: "Last 5 days" }).waitFor();
    await alert.waitFor({ state: "hidden" });
    await page.context().close();
  });

  test("the late failure of a page that was left does not bring it back", { tags: ["deep"] }, async () => {
    const page = await stage.enter({}, { pops: 3 });
    await goTo(page, "Rules");
    const answerStats = await holdNext(page, "stats");
    await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
    await goTo(page, "Explain");
    await answerStats((route) => route.fulfill({ status: 503, json: { title: "Unavailable" } }));
    expect(await page.locator("#view-explain").isVisible()).toBe(true);
    expect(await page.getByRole("alert").isVisible()).toBe(false);
    await page.context().close();
  });

  test("the late answer of a page that was left and is shown again leaves its reader where they are", async () => {
    const page = await stage.enter();
    await goTo(page, "Purges");
    const answerStats = await holdNext(page, "stats");
    await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
    await goTo(page, "Purges");
    const items = page.getByLabel("Items");
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main");
    await items.fill("tag:so");
    await answerStats((route) => route.continue());
    await page.keyboard.type("ngs");
    expect(await items.inputValue()).toBe("tag:songs");
    await page.context().close();
  });

  test("the late answer of a page that was left does not explain the URL of a link again", {
    tags: ["deep"],
  }, async () => {
    const page = await stage.enter();
    await goTo(page, "Purges");
    const answerStats = await holdNext(page, "stats");
    await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
    await page.evaluate("location.hash = '#explain?/linked'");
    await page.locator("#explanation", { hasText: "/linked" }).waitFor();
    const url = page.getByLabel("URL or path");
    await url.fill("/another");
    await answerStats((route) => route.continue());
    expect(await url.inputValue()).toBe("/another");
    await page.context().close();
  });

  test("a trail that was read earlier does not replace a later one", { tags: ["deep"] }, async () => {
    const page = await stage.enter();
    const trail = numbers(2, 1).map((seq) => recordOf(seq));
    await answerTrail(page, trail);
    await goTo(page, "Purges");
    const answerFirst = await holdNext(page, "purges");
    await comeBack(page);
    const purges = trail.slice();
    trail.unshift(recordOf(3));
    await comeBack(page);
    await expect.poll(() => shown(page)).toEqual([3, 2, 1]);
    await answerFirst((route) => route.fulfill({ json: { purges, next: null } }));
    expect(await shown(page)).toEqual([3, 2, 1]);
    await page.context().close();
  });

  test.each([
    ["Purges", "purges", comeBack],
    [
      "Explain",
      "explain",
      async (page: Page) => {
        await page.getByLabel("URL or path").fill("/a");
        await page.getByRole("button", { name: "Explain" }).click();
      },
    ],
  ] as const)(
    "a late refusal of the session before does not end a new one: %s",
    {
      tags: ["deep"],
    },
    async (name, path, act) => {
      const page = await stage.enter();
      await goTo(page, name);
      const refuse = await holdNext(page, path);
      await act(page);
      await page.context().clearCookies();
      await readAnew(page);
      await page.getByLabel("Token", { exact: true }).fill(TOKEN);
      await page.keyboard.press("Enter");
      await page.locator("#view-rules").waitFor();
      await refuse(ended);
      expect(await page.locator("#view-rules").isVisible()).toBe(true);
      expect(await page.getByRole("alert").isVisible()).toBe(false);
      await page.context().close();
    },
  );

  describe.each([
    ["that breaks off", breakOff],
    [
      "that a proxy's login gives",
      (route: Route) => route.fulfill({ contentType: "text/html", body: "<p>Log in</p>" }),
    ],
    ["that does not come for 15 s", (route: Route) => route.request().frame().page().clock.runFor(15_000)],
  ])("after an answer %s", (_, answer) => {
    test("the page says so, keeps its figures and asks again", { tags: ["deep"] }, async () => {
      const page = await stage.enter({}, { pops: 3 });
      await page.clock.install({ time: now });
      await page.evaluate(TIMEOUTS_BY_THE_CLOCK);
      await page.route(/_tidemark\/stats/, answer);
      await goTo(page, "Rules");
      await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
      const alert = page.getByRole("alert");
      await alert.filter({ hasText: "The edge cannot be reached." }).waitFor();
      expect(await page.locator("#sentence").innerText()).toContain("requests");
      await answerWith(page, { pops: 3 });
      await page.clock.runFor(5000);
      await alert.waitFor({ state: "hidden" });
      await page.context().close();
    });
  });

  /** Lets a server answer whose connection ends within the body. */
  async function breakOff(route: Route): Promise<void> {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": 1000 });
      response.write('{"version":1', () => response.destroy());
      server.close();
    });
    await once(server.listen(0), "listening");
    await route.continue({ url: `http://localhost:${(server.address() as AddressInfo).port}` });
  }

  test("a page of the site that opens the dashboard cannot reach into it", async () => {
    stage.origin.reply("/opener", { fields: { "content-type": "text/html" }, body: "<title>opener</title>" });
    const page = await stage.enter();
    await page.goto(`${stage.address}/opener`);
    const opened = page.context().waitForEvent("page");
    await page.evaluate("void (window.opened = window.open('/_tidemark/', 'board'))");
    const board = await opened;
    await board.locator("#sentence").filter({ hasText: /./ }).waitFor();
    expect(await board.evaluate("window.opener")).toBe(null);
    await expect.poll(() => page.evaluate("opened.closed")).toBe(true);
    await page.goto(`${stage.address}/opener`);
    const isFramed = `new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.src = "/_tidemark/";
      frame.onload = () => resolve(frame.contentDocument !== null);
      document.body.append(frame);
    })`;
    expect(await page.evaluate(isFramed)).toBe(false);
    stage.errors.length = 0; // Chromium reports the frame that was refused.
    await page.context().close();
  });
});

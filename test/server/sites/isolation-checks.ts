import { once } from "node:events";
import { Agent } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { expect } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import type { WorkerProgram } from "../../../server/program/worker-program.ts";
import type { EdgeSettings } from "../../../server/startup/edge-settings.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import type { ClientAnswer } from "../../engine/engine.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { RawClient } from "../raw-client.ts";
import { startSites, type WorkerUnderTest } from "./worker-under-test.ts";

/*
 * What keeps the sites of one server apart, each as a check over sockets, with the sites' origins as witnesses. The mutants
 * beside this file name the check that has to fail under them.
 */

/** Two sites and their origins, which have pages under the same paths and with the same tags. */
export interface TwoSites {
  readonly shop: ScriptedOrigin;
  readonly blog: ScriptedOrigin;
  readonly worker: WorkerUnderTest;
}

export const SHOP = "shop.test";
export const BLOG = "blog.test";
const TOKENS = { shop: "the-token-of-the-shop-0123456789-abcdef", blog: "the-token-of-the-blog-0123456789-abcdef" };

const AGENT = new Agent({ keepAlive: false });

interface Wishes {
  readonly shop?: Partial<SiteInput>;
  readonly blog?: Partial<SiteInput>;
  readonly settings?: Partial<EdgeSettings>;
  readonly notAdmitted?: readonly string[];
}

/** Runs a check on two sites, and ends them. Resolves to the lines of the access log. */
async function withTwoSites(
  program: WorkerProgram,
  wishes: Wishes,
  check: (sites: TwoSites) => Promise<void>,
): Promise<string[]> {
  const [shop, blog] = [new ScriptedOrigin(() => Date.now()), new ScriptedOrigin(() => Date.now())];
  for (const [origin, name] of [[shop, "shop"] as const, [blog, "blog"] as const]) {
    await origin.comeUp();
    const fields = { "cache-control": "max-age=3600", "cache-tag": "all" };
    for (const path of ["/page", "/other"]) origin.reply(path, { fields, body: `${path} of the ${name}` });
  }
  const worker = await startSites(
    program,
    [
      { name: "shop", token: TOKENS.shop, site: { origin: shop.url, hosts: [SHOP, "www.shop.test"], ...wishes.shop } },
      { name: "blog", token: TOKENS.blog, site: { origin: blog.url, hosts: [BLOG], ...wishes.blog } },
    ],
    wishes.settings,
    wishes.notAdmitted,
  );
  let lines: string[] = [];
  try {
    await check({ shop, blog, worker });
  } finally {
    lines = await worker.stop();
    await shop.goDown();
    await blog.goDown();
  }
  return lines;
}

interface Got {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A connection that is kept between requests. */
class Visitor {
  readonly #client: RawClient;
  #read = 0;

  constructor(port: number) {
    this.#client = new RawClient({ host: "127.0.0.1", port });
  }

  /** Sends a head, whose lines are joined, with a body, and reads one answer with a Content-Length. */
  async ask(lines: readonly string[], body = ""): Promise<Got> {
    await this.#client.send(`${lines.join("\r\n")}\r\n\r\n${body}`);
    const whole = (received: string) => readAnswer(received.slice(this.#read)) !== null;
    const received = (await this.#client.until(whole)).slice(this.#read);
    const got = readAnswer(received);
    if (got === null) throw new Error(`no answer: ${received}`);
    this.#read += got.head.length + got.body.length;
    return got;
  }

  get(host: string, target = "/page", ...fields: readonly string[]): Promise<Got> {
    return this.ask([`GET ${target} HTTP/1.1`, `Host: ${host}`, ...fields]);
  }

  leave(): void {
    this.#client.destroy();
  }
}

function readAnswer(text: string): Got | null {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const head = text.slice(0, end + 4);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  if (text.length < head.length + length) return null;
  return { status: Number(head.slice(9, 12)), head, body: text.slice(head.length, head.length + length) };
}

async function onConnection<T>(port: number, work: (visitor: Visitor) => Promise<T>): Promise<T> {
  const visitor = new Visitor(port);
  try {
    return await work(visitor);
  } finally {
    visitor.leave();
  }
}

const xCache = ({ head }: Got) => /^x-cache: (\w+)/im.exec(head)?.[1];

/** Asks until the page is a hit: it is stored behind its answer. */
async function warm(visitor: Visitor, ...hosts: readonly string[]): Promise<void> {
  for (const host of hosts) {
    let turns = 0;
    while (xCache(await visitor.get(host)) !== "HIT") if (++turns > 100) throw new Error(`${host} has no hit`);
  }
}

/** A call of the control plane. */
function call(port: number, host: string, token: string, path: string, body: object | null): Promise<ClientAnswer> {
  return exchange(new URL(`http://127.0.0.1:${port}`), AGENT, {
    ...(body !== null && { method: "POST", body: JSON.stringify(body) }),
    host,
    path: `/_tidemark/${path}`,
    fields: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  });
}

const PAGE_OF_SHOP = { status: 200, body: "/page of the shop" };
const PAGE_OF_BLOG = { status: 200, body: "/page of the blog" };

/** Keys that the sites would share, if the name of the site were not part of them. */
const ONE_ADDRESS = { shop: { publicUrl: "https://same.test" }, blog: { publicUrl: "https://same.test" } };

/** Neither finds the other's page, nor replaces it. */
async function expectOwnPages({ worker }: TwoSites): Promise<void> {
  await onConnection(worker.port, async (visitor) => {
    for (let hits = 0, turns = 0; hits < 6; turns++) {
      const [ofShop, ofBlog] = [await visitor.get(SHOP), await visitor.get(BLOG)];
      expect(ofShop).toMatchObject(PAGE_OF_SHOP);
      expect(ofBlog).toMatchObject(PAGE_OF_BLOG);
      hits = xCache(ofShop) === "HIT" && xCache(ofBlog) === "HIT" ? hits + 1 : 0;
      expect(turns).toBeLessThan(100);
    }
  });
}

/**
 * Each page has its own file. Only a restart shows that: before it a page that is being fetched is a hit, too, and a disk
 * may take as long as it likes to write the files, which the restart waits for.
 */
async function expectOwnFiles(sites: TwoSites): Promise<void> {
  await onConnection(sites.worker.port, async (visitor) => {
    for (let turn = 0; turn < 3; turn++) {
      expect(await visitor.get(SHOP)).toMatchObject(PAGE_OF_SHOP);
      expect(await visitor.get(BLOG)).toMatchObject(PAGE_OF_BLOG);
    }
  });
  await sites.worker.restart();
  await onConnection(sites.worker.port, async (visitor) => {
    for (const [host, page] of [[SHOP, PAGE_OF_SHOP] as const, [BLOG, PAGE_OF_BLOG] as const]) {
      const got = await visitor.get(host);
      expect({ ...got, xCache: xCache(got) }).toMatchObject({ ...page, xCache: "HIT" });
    }
  });
}

export type Check = (program: WorkerProgram, settings?: Partial<EdgeSettings>) => Promise<void>;

function on(check: (sites: TwoSites) => Promise<void>, wishes: Wishes = {}): Check {
  return async (program, settings) => {
    await withTwoSites(program, { ...wishes, settings: { ...wishes.settings, ...settings } }, check);
  };
}

export const CHECKS: Readonly<Record<string, Check>> = {
  "each request on a connection has the site of its own host": on(async ({ worker, shop, blog }) => {
    await onConnection(worker.port, async (visitor) => {
      await warm(visitor, SHOP, BLOG);
      const asked = [shop.countOf("/page"), blog.countOf("/page")];
      for (const host of [SHOP, BLOG, "SHOP.test", "www.shop.test:80", "Blog.Test", SHOP]) {
        const expected = /shop/i.test(host) ? PAGE_OF_SHOP : PAGE_OF_BLOG;
        expect(await visitor.get(host), host).toMatchObject(expected);
      }
      expect(await visitor.get(BLOG)).toMatchObject(PAGE_OF_BLOG);
      expect([blog.countOf("/page"), shop.countOf("/page")]).toEqual([asked[1], asked[0]! + 1]); // www.shop.test
    });
  }),

  "requests sent at once on a connection keep their sites": on(async ({ worker }) => {
    const client = new RawClient({ host: "127.0.0.1", port: worker.port });
    const hosts = Array.from({ length: 40 }, (_, at) => (at % 3 === 0 ? SHOP : BLOG));
    await client.send(hosts.map((host) => `GET /page HTTP/1.1\r\nHost: ${host}\r\n\r\n`).join(""));
    const pages = (received: string) => received.match(/\/page of the \w{4}/g) ?? [];
    const received = await client.until((text) => pages(text).length === hosts.length);
    client.destroy();
    expect(pages(received)).toEqual(hosts.map((host) => `/page of the ${host.slice(0, 4)}`));
  }),

  "a target in absolute form outranks Host": on(async ({ worker }) => {
    await onConnection(worker.port, async (visitor) => {
      await warm(visitor, SHOP, BLOG);
      expect(await visitor.get(SHOP, `http://${BLOG}/page`)).toMatchObject(PAGE_OF_BLOG);
      expect(await visitor.get(BLOG, `http://${SHOP}/page`)).toMatchObject(PAGE_OF_SHOP);
      expect(await visitor.get(SHOP, "http://unknown.test/page")).toMatchObject({ status: 421 });
    });
  }),

  "a request in HTTP/1.0 without Host has the site that takes any host": on(
    async ({ worker }) => {
      await onConnection(worker.port, async (visitor) => {
        expect(await visitor.ask(["GET /page HTTP/1.0"])).toMatchObject(PAGE_OF_BLOG);
      });
    },
    { blog: { hosts: undefined } },
  ),

  "a host of no site gets 421, and asks nobody": on(async ({ worker, shop, blog }) => {
    const others: Record<string, string> = {
      "unknown.test": "",
      "shop.test.unknown.test": "",
      "shop.test:8081": ", but shop.test is: the port counts",
      [`${SHOP}..`]: "",
    };
    for (const [host, hint] of Object.entries(others)) {
      const got = await onConnection(worker.port, (visitor) => visitor.get(host));
      expect(got, host).toMatchObject({ status: 421 });
      expect(got.head).toContain("detail=host-unknown");
      expect(got.body).toBe(`421: ${host} is not a host of a site of this server${hint}.\n`);
    }
    expect(await call(worker.port, "unknown.test", TOKENS.shop, "purge", { everything: true })).toMatchObject({
      status: 421,
    });
    expect([...shop.seen, ...blog.seen]).toEqual([]);
  }),

  "each request of a connection in HTTP/2 has the site of its own authority": on(async ({ worker }) => {
    const session = connectHttp2(`https://127.0.0.1:${worker.tlsPort}`, {
      rejectUnauthorized: false,
      servername: SHOP,
    });
    const ask = async (authority: string, fields: Readonly<Record<string, string>> = {}) => {
      const stream = session.request({ ":authority": authority, ":path": "/page", ...fields });
      const [head] = (await once(stream, "response")) as [Record<string, unknown>];
      let body = "";
      for await (const piece of stream) body += piece;
      return { status: head[":status"], body };
    };
    for (let turn = 0; turn < 5; turn++) {
      const both = await Promise.all([ask(SHOP), ask(BLOG), ask(SHOP), ask(BLOG)]);
      expect(both).toEqual([PAGE_OF_SHOP, PAGE_OF_BLOG, PAGE_OF_SHOP, PAGE_OF_BLOG]);
    }
    expect(await ask("unknown.test")).toMatchObject({ status: 421 });
    expect(await ask(BLOG, { host: SHOP })).toMatchObject({ status: 400 });
    session.close();
  }),

  "no site finds the pages of another in memory": on(expectOwnPages, { ...ONE_ADDRESS, settings: { disk: null } }),
  "no site finds the pages of another on the disk": on(expectOwnFiles, {
    ...ONE_ADDRESS,
    settings: { memoryBytes: 0 }, // nothing is found in memory
  }),

  "a body that a site is slow to send leaves room for the pages of another": on(
    async ({ worker, shop, blog }) => {
      const inParts = { fields: { "cache-control": "max-age=3600" }, body: "slow", hold: "rest", bytesBeforeHold: 1 };
      const clients: RawClient[] = [];
      for (const [origin, host] of [[shop, SHOP] as const, [blog, BLOG] as const]) {
        origin.reply("/slow", inParts, { status: 500 });
        const client = new RawClient({ host: "127.0.0.1", port: worker.port });
        clients.push(client);
        await client.send(`GET /slow HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        await client.until((received) => received.includes("\r\n\r\n"));
      }
      blog.release("rest");
      await clients[1]!.until((received) => received.endsWith("slow"));
      await onConnection(worker.port, async (visitor) => expect(xCache(await visitor.get(BLOG, "/slow"))).toBe("HIT"));
      shop.release("rest");
      for (const client of clients) client.destroy();
    },
    { shop: { limits: { fills: 1 } }, blog: { limits: { fills: 1 } }, settings: { disk: null } },
  ),

  "a purge reaches its own site alone": on(async ({ worker, shop, blog }) => {
    const purges = [{ urls: ["/page"] }, { tags: ["all"] }, { prefixes: ["/page"] }, { everything: true }];
    await onConnection(worker.port, async (visitor) => {
      await warm(visitor, SHOP, BLOG);
      const asked = blog.countOf("/page");
      for (const [index, purge] of purges.entries()) {
        const before = shop.countOf("/page");
        const receipt = await call(worker.port, SHOP, TOKENS.shop, "purge", purge);
        expect(JSON.parse(receipt.body)).toMatchObject({ seq: index + 1, settlesInMs: 0 });
        expect(xCache(await visitor.get(BLOG)), JSON.stringify(purge)).toBe("HIT");
        await warm(visitor, SHOP);
        expect(shop.countOf("/page"), JSON.stringify(purge)).toBeGreaterThan(before);
      }
      expect(blog.countOf("/page")).toBe(asked);
      const rows = await call(worker.port, BLOG, TOKENS.blog, "purges", null);
      expect(JSON.parse(rows.body)).toMatchObject({ purges: [] });
      const first = await call(worker.port, BLOG, TOKENS.blog, "purge", { urls: ["/page"] });
      expect(JSON.parse(first.body)).toMatchObject({ seq: 1 });
    });
  }),

  "a token opens the control plane of its own site alone": on(async ({ worker, shop }) => {
    await onConnection(worker.port, (visitor) => warm(visitor, SHOP));
    const asked = shop.countOf("/page");
    for (const [path, body] of [["purge", { everything: true }] as const, ["site", null] as const]) {
      expect(await call(worker.port, SHOP, TOKENS.blog, path, body), path).toMatchObject({ status: 401 });
      expect(await call(worker.port, BLOG, TOKENS.shop, path, body), path).toMatchObject({ status: 401 });
    }
    await onConnection(worker.port, async (visitor) => expect(xCache(await visitor.get(SHOP))).toBe("HIT"));
    expect(shop.countOf("/page")).toBe(asked);
    const session = await call(worker.port, SHOP, TOKENS.shop, "session", {});
    const [cookie] = session.fields["set-cookie"]!.split(";");
    const read = (host: string) =>
      onConnection(worker.port, (visitor) => visitor.get(host, "/_tidemark/site", `Cookie: ${cookie}`));
    expect(await read(SHOP)).toMatchObject({ status: 200 });
    expect(await read(BLOG)).toMatchObject({ status: 401 });
  }),

  "a proxy's word counts for the sites that trust it": on(
    async ({ worker, shop, blog }) => {
      const told = ["X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https"];
      await onConnection(worker.port, async (visitor) => {
        await visitor.get(SHOP, "/page", ...told);
        await visitor.get(BLOG, "/page", ...told);
        await visitor.get(SHOP, `http://${BLOG}/other`, ...told);
      });
      const seen = (origin: ScriptedOrigin) =>
        origin.seen.map(({ fields }) => [fields["x-forwarded-for"], fields["x-forwarded-proto"]]);
      expect(seen(shop)).toEqual([["192.0.2.7", "https"]]);
      expect(seen(blog)).toEqual([
        ["127.0.0.1", "http"],
        ["127.0.0.1", "http"],
      ]);
    },
    { shop: { trustedProxies: ["127.0.0.1"] } },
  ),

  "the origin of each site gets its part of the connections to all of them": on(
    async ({ worker, shop }) => {
      shop.reply("/held", { hold: "answers" });
      const ask = (path: string) => onConnection(worker.port, (visitor) => visitor.get(SHOP, path));
      const held = ask("/held");
      await shop.waitUntilSeen("/held", 1);
      const waits = ask("/other");
      await onConnection(worker.port, async (visitor) => {
        for (const path of ["/page", "/other"]) expect(await visitor.get(BLOG, path)).toMatchObject({ status: 200 });
      });
      const seen = shop.seen.length;
      shop.release("answers");
      await Promise.all([held, waits]);
      expect(seen).toBe(1);
    },
    { settings: { maxOriginConnections: 2 } },
  ),

  "a site whose log does not answer is not served, and the others are": on(
    async ({ worker, blog }) => {
      await onConnection(worker.port, async (visitor) => {
        expect(await visitor.get(SHOP)).toMatchObject(PAGE_OF_SHOP);
        const refused = await visitor.get(BLOG);
        expect(refused).toMatchObject({ status: 503 });
        expect(refused.head).toMatch(/^retry-after: 1\r$/m);
        expect(blog.seen).toEqual([]);
        worker.worker.admit!("blog");
        expect(await visitor.get(BLOG)).toMatchObject(PAGE_OF_BLOG);
      });
    },
    { notAdmitted: ["blog"] },
  ),

  "an only site whose log does not answer is not served until it does": async (program, settings) => {
    const origin = new ScriptedOrigin(() => Date.now());
    await origin.comeUp();
    origin.reply("/page", { fields: {}, body: PAGE_OF_SHOP.body });
    const only = { name: ONLY_SITE, token: TOKENS.shop, site: { origin: origin.url, hosts: [SHOP] } };
    const worker = await startSites(program, [only], settings ?? {}, [ONLY_SITE]);
    try {
      await onConnection(worker.port, async (visitor) => {
        for (const path of ["/page", "/_tidemark/dashboard"]) {
          const refused = await visitor.get(SHOP, path);
          expect(refused).toMatchObject({ status: 503 });
          expect(refused.head).toMatch(/^retry-after: 1\r$/m);
        }
        // A child is told nothing that it could take for the origin's answer.
        const toChild = await visitor.get(SHOP, "/page", `Tidemark-Parent-Token: ${TOKENS.shop}`);
        expect(toChild.status).toBe(503);
        expect(toChild.head).not.toMatch(/^tidemark-parent:/im);
        expect(origin.seen).toEqual([]);
        worker.worker.admit!(ONLY_SITE);
        expect(await visitor.get(SHOP)).toMatchObject(PAGE_OF_SHOP);
      });
    } finally {
      await worker.stop();
      await origin.goDown();
    }
  },

  "a health check need not know a host": on(async ({ worker, shop, blog }) => {
    await onConnection(worker.port, async (visitor) => {
      const path = "/_tidemark/health";
      for (const probe of [path, `${path}?ready`]) {
        expect(await visitor.get("127.0.0.1", probe)).toMatchObject({ status: 200, body: '{"status":"ok"}' });
      }
      expect(await visitor.get("127.0.0.1", `${path}?a`)).toMatchObject({ status: 421 });
      expect(await visitor.get("127.0.0.1", "/_tidemark/stats")).toMatchObject({ status: 421 });
    });
    expect([...shop.seen, ...blog.seen]).toEqual([]);
  }),

  "the access log names the site of each request": async (program, settings) => {
    const lines = await withTwoSites(program, { settings: settings ?? {} }, async ({ worker }) => {
      await onConnection(worker.port, async (visitor) => {
        await warm(visitor, SHOP);
        for (const host of [BLOG, "unknown.test"]) await visitor.get(host);
      });
    });
    expect(lines.map((line) => line.split(" ", 2).join(" "))).toContain("shop 127.0.0.1");
    expect(lines.slice(-2).map((line) => line.split(" ", 2).join(" "))).toEqual(["blog 127.0.0.1", "- 127.0.0.1"]);
  },
};

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import { fetchedFromNpm, VENDORS_CLIENTS } from "../../backends/npm-packages.ts";
import { pythonWithPackages } from "../../backends/python-environment.ts";
import { TOKEN } from "../../engine/scenario.ts";
import { run } from "../../packed/installed-package.ts";
import { blockWith } from "../../snippets/blocks.ts";
import { DOOR_TOKENS, EVERY_DOOR, TOKEN_LIST, ZONE } from "./door-edges.ts";

const WORDS = "the real clients of other vendors are SKIPPED, because";

// The first run fetches them, unless `test/packed/setup.ts` has.
const [ofNpm, ofPypi] = await Promise.all([fetchedFromNpm(VENDORS_CLIENTS), pythonWithPackages()]);
for (const each of [ofNpm, ofPypi]) if ("missing" in each) process.stdout.write(`${WORDS} ${each.missing}\n`);

const origin = new ScriptedOrigin(() => Date.now());
let edge: EdgeRuntime;
let base: string;

beforeAll(async () => {
  await origin.comeUp();
  const variables = {
    SITE: { origin: origin.url, doors: EVERY_DOOR },
    TIDEMARK_HOSTS: "*",
    TIDEMARK_TOKEN: TOKEN,
    TIDEMARK_TOKENS: TOKEN_LIST,
  };
  edge = await startEdgeRuntime(
    { script: await bundleWorker("local/runtime/virtual-time.worker.ts"), variables },
    { port: 0 },
  );
  base = edge.url.origin;
});

afterAll(async () => {
  await edge.stop();
  await origin.goDown();
});

beforeEach(async () => {
  const fields = { "cache-control": "max-age=3600", "cache-tag": "song:1" };
  const replies = Array.from({ length: 50 }, () => ({ fields, body: "page" }));
  origin.reply("/about", ...replies);
  await fetch(`${base}/about`);
  expect(await xCache()).toBe("HIT");
});

/** Whether the page comes from the store. Asking puts it there. */
async function xCache(): Promise<string | null> {
  const response = await fetch(`${base}/about`);
  await response.text();
  return response.headers.get("x-cache");
}

/** Tells whether a call has purged the page, or how it has failed. */
async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    expect(await xCache()).toBe("HIT");
    return error;
  }
  expect(await xCache()).not.toBe("HIT");
  return "purged";
}

describe.skipIf("missing" in ofNpm)("missing" in ofNpm ? `${WORDS} ${ofNpm.missing}` : "clients from npm", () => {
  const { folder } = ofNpm as { folder: string };
  const require = "missing" in ofNpm ? createRequire(import.meta.url) : createRequire(join(folder, "of-npm.cjs"));

  // Loading them takes seconds, in which the edge would close connections that nobody uses.
  beforeAll(() => {
    for (const each of VENDORS_CLIENTS) require(each.replace(/@[\d.]+$/, ""));
  }, 120_000);

  describe("cloudflare", { tags: ["deep"] }, () => {
    const client = (apiToken: string) => {
      const Cloudflare = require("cloudflare");
      return new Cloudflare({ apiToken, baseURL: `${base}/_tidemark/doors/cloudflare/client/v4`, maxRetries: 0 }).cache;
    };
    const token = DOOR_TOKENS.cloudflare[0];
    const url = () => `${base}/about`;

    test("purges", async () => {
      expect(await client(token).purge({ zone_id: ZONE, tags: ["song:1"] })).toEqual({ id: ZONE });
      expect(await xCache()).toBe("MISS");
      const { host } = edge.url;
      for (const items of [
        { files: [url()] },
        { hosts: [host] },
        { prefixes: [`${host}/about`] },
        { purge_everything: true },
      ])
        expect(await outcome(() => client(token).purge({ zone_id: ZONE, ...items }))).toBe("purged");
    });

    test.each([
      ["a wrong token", "wrong", ZONE, ["song:1"], { status: 403, errors: [{ code: 10000 }] }],
      ["an unknown zone", token, "f".repeat(32), ["song:1"], { status: 403, errors: [{ code: 10000 }] }],
      ["a bad item", token, ZONE, ["a b"], { status: 400, errors: [{ code: 1000 }] }],
    ])("fails with %s as with Cloudflare", async (_, apiToken, zone_id, tags, error) => {
      expect(await outcome(() => client(apiToken).purge({ zone_id, tags }))).toMatchObject(error);
    });
  });

  describe("fastly", () => {
    const service_id = EVERY_DOOR.fastly.service;
    const token = DOOR_TOKENS.fastly[0];
    /** The client has its address built in for each call. The page shows the plugin that changes it. */
    beforeAll(async () => {
      const plugin = blockWith("docs/purging.md", "instance.plugins").replace("https://www.example.com", base);
      const file = join(folder, "plugin.mjs");
      writeFileSync(file, plugin);
      process.env.FASTLY_API_TOKEN = token;
      await import(/* @vite-ignore */ pathToFileURL(file).href);
      delete process.env.FASTLY_API_TOKEN;
    });
    const client = (key: string) => {
      const Fastly = require("fastly");
      Fastly.ApiClient.instance.authenticate(key);
      return new Fastly.PurgeApi();
    };

    test("purges", async () => {
      const { PurgeApi } = require("fastly"); // with the token that the page gives it
      expect(await new PurgeApi().purgeTag({ service_id, surrogate_key: "song:1" })).toMatchObject({ status: "ok" });
      expect(await xCache()).toBe("MISS");
      for (const call of [
        () => client(token).bulkPurgeTag({ service_id, surrogate_key: "song:1 other" }),
        () =>
          client(token).bulkPurgeTag({
            service_id,
            purge_response: { surrogate_keys: ["song:1"] },
            fastly_soft_purge: 1,
          }),
        () => client(token).purgeSingleUrl({ cached_url: `${edge.url.host}/about` }),
        () => client(token).purgeAll({ service_id }),
      ])
        expect(await outcome(call)).toBe("purged");
    });

    test.each([
      ["a wrong token", "wrong", service_id, "song:1", { status: 401, body: { msg: /credentials/ } }],
      ["an unknown service", token, "other", "song:1", { status: 404, body: { msg: /Record not found/ } }],
      ["a bad item", token, service_id, "a,b", { status: 400, body: { msg: /Bad request/ } }],
    ])("fails with %s as with Fastly", async (_, key, service, surrogate_key, { status, body }) => {
      const failed = await outcome(() => client(key).purgeTag({ service_id: service, surrogate_key }));
      expect(failed).toMatchObject({ status, body: { msg: expect.stringMatching(body.msg) } });
    });
  });

  describe("keycdn", () => {
    const token = DOOR_TOKENS.keycdn[0];
    const call = (key: string, method: "get" | "del", path: string, data: object = {}) => {
      const KeyCDN = require("keycdn");
      const client = new KeyCDN(key);
      client.apiServer = `${base}/_tidemark/doors/keycdn/`;
      return new Promise((resolve, reject) =>
        client[method](path, data, (error: unknown, result: unknown) => (error ? reject(error) : resolve(result))),
      );
    };

    test("purges", async () => {
      const { host } = edge.url;
      expect(await outcome(() => call(token, "get", "zones/purge/4711.json"))).toBe("purged");
      expect(await outcome(() => call(token, "del", "zones/purgeurl/4711.json", { urls: [`${host}/about`] }))).toBe(
        "purged",
      );
      expect(await outcome(() => call(token, "del", "zones/purgetag/4711.json", { tags: ["song:1"] }))).toBe("purged");
    });

    test.each([
      ["a wrong token", "wrong", "zones/purgetag/4711.json", "song:1", "Access denied"],
      ["an unknown zone", token, "zones/purgetag/1.json", "song:1", "The requested item does not exist"],
      ["a bad item", token, "zones/purgetag/4711.json", "a b", "Bad request: tags[0]: "],
    ])("fails with %s as with KeyCDN", async (_, key, path, tag, words) => {
      const failed = await outcome(() => call(key, "del", path, { tags: [tag] }));
      expect((failed as Error).message).toContain(words);
    });
  });

  describe("@netlify/functions", () => {
    const siteID = EVERY_DOOR.netlify.site;
    const token = DOOR_TOKENS.netlify[0];
    const call = (options: object) => () =>
      require("@netlify/functions").purgeCache({ apiURL: `${base}/_tidemark/doors/netlify`, ...options });

    test("purges", async () => {
      expect(await outcome(call({ siteID, token, tags: ["song:1"] }))).toBe("purged");
      expect(await outcome(call({ siteID, token }))).toBe("purged");
    });

    test.each([
      ["a wrong token", { siteID, token: "wrong", tags: ["song:1"] }, 401],
      ["an unknown site", { siteID: "other", token, tags: ["song:1"] }, 404],
      ["a bad item", { siteID, token, tags: ["a b"] }, 400],
    ])("fails with %s as with Netlify", async (_, options, status) => {
      expect(await outcome(call(options))).toMatchObject({
        message: expect.stringContaining(`status code: ${status}`),
      });
    });
  });

  describe("@vercel/sdk", { tags: ["deep"] }, () => {
    const projectIdOrName = EVERY_DOOR.vercel.project;
    const bearerToken = DOOR_TOKENS.vercel[0];
    const client = (bearer: string) => {
      const { Vercel } = require("@vercel/sdk");
      return new Vercel({ bearerToken: bearer, serverURL: `${base}/_tidemark/doors/vercel` }).edgeCache;
    };

    test("purges", async () => {
      const request = { projectIdOrName, requestBody: { tags: ["song:1"] } };
      expect(await outcome(() => client(bearerToken).invalidateByTags(request))).toBe("purged");
      expect(await outcome(() => client(bearerToken).dangerouslyDeleteByTags(request))).toBe("purged");
    });

    test.each([
      ["a wrong token", "wrong", projectIdOrName, "song:1", 403],
      ["an unknown project", bearerToken, "other", "song:1", 404],
      ["a bad item", bearerToken, projectIdOrName, "a b", 400],
    ])("fails with %s as with Vercel", async (_, bearer, project, tag, statusCode) => {
      const request = { projectIdOrName: project, requestBody: { tags: [tag] } };
      expect(await outcome(() => client(bearer).invalidateByTags(request))).toMatchObject({ statusCode });
    });
  });
});

describe.skipIf("missing" in ofPypi)("missing" in ofPypi ? `${WORDS} ${ofPypi.missing}` : "clients from PyPI", () => {
  const { python } = ofPypi as { python: string };
  /** Each call is a process, and the first ones compile what they import. */
  const timeout = 120_000;

  /** Runs lines of Python. Rejects with what they write to stderr if they fail. */
  async function inPython(lines: readonly string[]): Promise<string> {
    const env = { PYTHONPATH: resolve("docs/examples"), no_proxy: "*" };
    const { exit, stdout, stderr } = await run(python, ["-c", lines.join("\n")], { cwd: process.cwd(), env });
    if (exit !== 0) throw new Error(stderr);
    return stdout;
  }

  const cloudflare = (token: string, call: string) => () =>
    inPython([
      "from cloudflare import Cloudflare",
      `client = Cloudflare(api_token="${token}", base_url="${base}/_tidemark/doors/cloudflare/client/v4", max_retries=0)`,
      `client.cache.purge(${call})`,
    ]);

  test("cloudflare purges, and fails as with Cloudflare", { tags: ["deep"], timeout }, async () => {
    const token = DOOR_TOKENS.cloudflare[0];
    expect(await outcome(cloudflare(token, `zone_id="${ZONE}", files=["${base}/about"]`))).toBe("purged");
    for (const [key, call, words] of [
      ["wrong", `zone_id="${ZONE}", tags=["song:1"]`, "PermissionDeniedError"],
      [token, `zone_id="${"f".repeat(32)}", tags=["song:1"]`, "PermissionDeniedError"],
      [token, `zone_id="${ZONE}", tags=["a b"]`, "BadRequestError"],
    ] as const) {
      expect(String(await outcome(cloudflare(key, call)))).toContain(words);
    }
  });

  test("keycdn purges, and fails as with KeyCDN", { tags: ["deep"], timeout }, async () => {
    const call = (token: string, zone: string, tag: string) =>
      inPython([
        "import keycdn",
        `api = keycdn.Api("${token}")`,
        `api.set_endpoint("${base}/_tidemark/doors/keycdn")`,
        `print(api.delete("zones/purgetag/${zone}.json", {"tags": ["${tag}"]})["description"])`,
      ]);
    const token = DOOR_TOKENS.keycdn[0];
    expect(await call(token, "4711", "song:1")).toBe("Cache has been cleared for zone 4711.\n");
    expect(await xCache()).toBe("MISS");
    expect(await call("wrong", "4711", "song:1")).toBe("Access denied\n");
    expect(await call(token, "1", "song:1")).toBe("The requested item does not exist\n");
    expect(await call(token, "4711", "a b")).toMatch(/^Bad request: tags\[0\]: /);
    expect(await xCache()).toBe("HIT");
  });

  test("wagtail's front-end cache purges through the subclass of docs/examples, and logs what the edge refuses", {
    tags: ["deep"],
    timeout,
  }, async () => {
    const settings = blockWith("docs/purging.md", "WAGTAILFRONTENDCACHE");
    const call = (token: string, zone: string, url: string) =>
      inPython([
        "import logging, sys",
        'logging.basicConfig(stream=sys.stdout, format="%(message)s")',
        "import os",
        "from django.utils.module_loading import import_string",
        `os.environ["TIDEMARK_DOOR_TOKEN"] = "${token}"`,
        settings.replace("https://www.example.com", base).replace(ZONE, zone),
        'params = WAGTAILFRONTENDCACHE["tidemark"]',
        `import_string(params.pop("BACKEND"))(params).purge_batch(["${url}"])`,
      ]);
    const token = DOOR_TOKENS.cloudflare[0];
    expect(await call(token, ZONE, `${base}/about`)).toBe("");
    expect(await xCache()).toBe("MISS");
    expect(await call("wrong", ZONE, `${base}/about`)).toContain("Authentication error");
    expect(await call(token, "f".repeat(32), `${base}/about`)).toContain("Authentication error");
    expect(await call(token, ZONE, `${base}/*`)).toContain("Unable to purge, urls[0]: ");
    expect(await xCache()).toBe("HIT");
  });

  test("wagtail's front-end cache for Varnish purges a page, with an opener that adds the token", {
    tags: ["deep"],
    timeout,
  }, async () => {
    const call = (token: string) =>
      inPython([
        "import logging, sys, urllib.request",
        'logging.basicConfig(stream=sys.stdout, format="%(message)s")',
        "from wagtail.contrib.frontend_cache.backends import HTTPBackend",
        "opener = urllib.request.build_opener()",
        `opener.addheaders = [("Authorization", "Bearer ${token}")]`,
        "urllib.request.install_opener(opener)",
        `HTTPBackend({"LOCATION": "${base}"}).purge("${base}/about")`,
      ]);
    expect(await call(DOOR_TOKENS.varnish[0])).toBe("");
    expect(await xCache()).toBe("MISS");
    expect(await call("wrong")).toContain("HTTPError: 405 Not allowed");
    expect(await xCache()).toBe("HIT");
  });
});

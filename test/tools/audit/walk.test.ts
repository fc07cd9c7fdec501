import { createServer as createTlsServer } from "node:tls";
import { describe, expect, test } from "vitest";
import { auditText } from "../../../tools/audit/audit-text.ts";
import type { Identity } from "../../../tools/audit/identity.ts";
import { USUAL_INPUTS } from "../../../tools/audit/input.ts";
import { type MadeCertificate, makeCertificate } from "../../server/connections/make-certificate.ts";
import { inGate } from "../../suite/depth.ts";
import { listenLocally } from "../../suite/local-url.ts";
import { audited } from "./audited.ts";
import { type MembersSite, PATHS } from "./members-site.ts";
import { type ToyCache, type ToyCacheOptions, toyCache } from "./toy-cache.ts";

/** Few of them, for pages of megabytes, each of which is requested for every input that is tried. */
const TWO_INPUTS = USUAL_INPUTS.slice(0, 2);

const behind = (options?: ToyCacheOptions) => (origin: URL) => toyCache(origin, options);
const withoutQuery = (url: string) => url.split("?", 1)[0]!;

/** Whether the site was asked by anybody with credentials. */
function sawCredentials({ seen }: MembersSite): boolean {
  return seen.some(({ cookie }) => cookie.includes("sessionid"));
}

describe("the cache-buster", () => {
  test("is in every request, so that nothing is stored that others find", { tags: ["gate"] }, async () => {
    let cache: ToyCache | undefined;
    const start = async (origin: URL) => {
      cache = await toyCache(origin);
      return cache;
    };
    const { report, site } = await audited(start, { paths: inGate(6, PATHS) });
    expect(report.verdict).toBe("findings");
    expect(cache!.keys().length).toBeGreaterThan(50);
    expect(cache!.keys().filter((key) => !/[?&]tidemark-audit=[0-9a-f]{32}$/.test(key))).toEqual([]);
    expect(site.seen.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("that is not in the key ends the audit before any request with credentials", async () => {
    const { report, site } = await audited(behind({ keyOf: withoutQuery }));
    expect(report).toMatchObject({ verdict: "not-audited", pages: [], findings: [] });
    expect(report.problems).toEqual([
      "No stored page has the parameter tidemark-audit in its key. No request had credentials.",
    ]);
    expect(report.notAudited).toContainEqual({
      path: "/",
      because: expect.stringMatching(/^came from the cache for a URL that nobody had requested.*--buster$/),
      dropsBuster: true,
    });
    expect(sawCredentials(site)).toBe(false);
  });

  test("that is not in the key of one page leaves out only that page", async () => {
    const keyOf = (url: string) => (url.startsWith("/form") ? withoutQuery(url) : url);
    const { report, site } = await audited(behind({ keyOf }), { paths: ["/form", "/style.css", "/me.json"] });
    expect(report.notAudited.map(({ path }) => path)).toEqual(["/form"]);
    expect(report.pages).toContain("/me.json");
    expect(site.seen.filter(({ target, cookie }) => target.startsWith("/form") && cookie !== "")).toEqual([]);
  });

  test("that turns out on a visitor's own page not to be in the key says whose page to purge", async () => {
    const keyOf = (url: string) => (url.startsWith("/account") ? withoutQuery(url) : url);
    const { report } = await audited(behind({ keyOf }), { paths: ["/style.css", "/account"] });
    const [page] = report.notAudited;
    expect(page).toMatchObject({ path: "/account", dropsBuster: true });
    expect(page!.because).toMatch(/(alice|bob)'s request showed this, so the cache may now have that page: purge it/);
    expect(report.verdict).toBe("not-audited");
  });

  test("can have another name if the key ignores the default one", { tags: ["deep"] }, async () => {
    const keyOf = (url: string) => `${withoutQuery(url)} ${new URL(url, "http://edge.invalid").searchParams.get("q")}`;
    const { report } = await audited(behind({ keyOf }), { paths: ["/style.css", "/me.json?q=a"], buster: "q" });
    expect(report.findings.map(({ id }) => id)).toEqual(["shared:/me.json?q=a"]);
    expect(report.notAudited).toEqual([]);
  });

  test("that a page removes by a redirect is reported", async () => {
    const { report } = await audited(behind(), { paths: ["/style.css", "/canonical"] });
    expect(report.notAudited).toEqual([
      {
        path: "/canonical",
        because: "redirects to itself without the parameter tidemark-audit: name another parameter with --buster",
        dropsBuster: false,
      },
    ]);
  });

  test("without a page that is stored for strangers proves nothing, and no credentials are sent", async () => {
    const { report, site } = await audited(behind({ stores: () => false }));
    expect(report.verdict).toBe("not-audited");
    expect(report.problems).toEqual([expect.stringContaining("No page was answered from the cache")]);
    expect(sawCredentials(site)).toBe(false);
  });
});

describe("a page that is never stored under the buster", () => {
  /** The answer to which request for a URL is stored. */
  const storesAt = (uses: number) => {
    const times = new Map<string, number>();
    return (path: string, status: number, url: string) => {
      times.set(url, (times.get(url) ?? 0) + 1);
      return path === "/style.css" || (status === 200 && times.get(url) === uses);
    };
  };
  const SEES_NOTHING =
    "is stored only without the parameter tidemark-audit, or only after more requests, so the audit cannot see to whom " +
    "the cache gives it";

  test.each<[string, ToyCacheOptions]>([
    [
      "without a query",
      { stores: (path, _status, url) => path === "/style.css" || (path === "/" && !url.includes("?")) },
    ],
    ["after more requests", { stores: storesAt(5) }],
    [
      "without a query, in a cache that does not mark hits",
      { tells: false, stores: (path, _status, url) => path === "/form" || (path === "/" && !url.includes("?")) },
    ],
  ])("but %s, is not audited", async (_name, options) => {
    const first = options.tells === false ? "/form" : "/style.css";
    const { report, site } = await audited(behind(options), { paths: [first, "/", "/account"] });
    expect(report.notAudited).toEqual([{ path: "/", because: SEES_NOTHING, dropsBuster: false }]);
    expect(report).toMatchObject({ verdict: first === "/form" ? "findings" : "not-audited", problems: [] });
    // Nobody's page but a stranger's can have been stored where others find it.
    const bare = site.seen.filter(({ target }) => !target.includes("tidemark-audit="));
    expect(new Set(bare.map(({ target }) => target))).toEqual(new Set(["/", "/account"]));
    expect(bare.filter(({ cookie }) => cookie !== "")).toEqual([]);
  });

  test("is clean, if it is stored under no other URL either", async () => {
    const { report } = await audited(behind({ stores: (path) => path === "/style.css" }), {
      paths: ["/style.css", "/", "/account"],
    });
    expect(report).toMatchObject({ verdict: "clean", pages: ["/style.css", "/", "/account"], notAudited: [] });
  });
});

describe("a cache that does not mark hits", () => {
  test("is recognized by a page that is never the same twice", async () => {
    const { report } = await audited(behind({ tells: false }), { paths: ["/", "/account"] });
    expect(report.findings.map(({ id }) => id).sort()).toEqual([
      "shared:/",
      "shared:/account",
      "stored:private:/account",
    ]);
  });

  test("is not audited if no page can show where it comes from", async () => {
    const { report, site } = await audited(behind({ tells: false }), { paths: ["/style.css", "/me.json"] });
    expect(report.problems).toEqual([expect.stringContaining("--hit")]);
    expect(sawCredentials(site)).toBe(false);
  });
});

describe("a cache that marks hits by Age alone", () => {
  test("is audited", async () => {
    const { report } = await audited(behind({ tells: "by-age" }), { paths: ["/style.css", "/account"] });
    expect(report).toMatchObject({ pages: ["/style.css", "/account"], notAudited: [], problems: [] });
    expect(report.findings.map(({ id }) => id)).toEqual(["shared:/account", "stored:private:/account"]);
  });

  test("and has the buster not in its key gets no credentials", async () => {
    const options = { tells: "by-age", keyOf: withoutQuery } as const;
    const { report, site } = await audited(behind(options), { paths: ["/style.css", "/account"] });
    expect(report).toMatchObject({ verdict: "not-audited", notAudited: [{ path: "/style.css", dropsBuster: true }] });
    expect(sawCredentials(site)).toBe(false);
  });
});

describe("a page that answers some requests with 503", () => {
  test.each([1, 4, 11])("is not audited, if it does so every %i requests", async (every) => {
    let requests = 0;
    const isBusy = (url: string) => url.startsWith("/me.json") && ++requests % every === 0;
    const { report } = await audited(behind({ isBusy }), { paths: ["/style.css", "/", "/me.json"] });
    expect(report.notAudited).toEqual([
      { path: "/me.json", because: "answered 503: if the site is busy, set a lower --rate", dropsBuster: false },
    ]);
    expect(report.findings.map(({ id }) => id)).toEqual(["shared:/"]);
  });

  test("is audited, if those are the requests with a tried input", async () => {
    const isBusy = (url: string) => url.includes("format=json");
    const { report } = await audited(behind({ isBusy }), { paths: ["/style.css", "/me.json"] });
    expect(report.notAudited).toEqual([]);
    expect(report.findings.map(({ id }) => id)).toEqual(["shared:/me.json"]);
  });
});

describe("a page that is an error", () => {
  test("for everybody is not audited, and one for strangers alone is", async () => {
    const { report } = await audited(behind(), { paths: ["/style.css", "/nowhere", "/me.json"] });
    expect(report.notAudited).toEqual([{ path: "/nowhere", because: "answered 404 to everybody", dropsBuster: false }]);
    expect(report.pages).toEqual(["/style.css", "/me.json"]);
  });

  test("as all others are tells why nothing came from the cache", async () => {
    const { report } = await audited(behind(), { paths: ["/nowhere", "/me.json"] });
    expect(report.problems).toEqual([
      expect.stringMatching(
        /^No page was answered from the cache \(strangers got 404 and 401\), so the audit cannot tell/,
      ),
    ]);
  });
});

describe("the text of a page", () => {
  test("is read in its charset", async () => {
    const { report } = await audited(behind(), { paths: ["/style.css", "/russian"] });
    expect(report.findings).toMatchObject([
      { id: "shared:/russian", evidence: expect.arrayContaining([expect.stringContaining('"Алиса"')]) },
    ]);
  });

  test("is not compared if it is too long, and only a page that is the same for all is then audited", async () => {
    const { report } = await audited(behind(), { paths: ["/style.css", "/archive", "/bundle.js"], inputs: TWO_INPUTS });
    expect(report.notAudited).toEqual([
      { path: "/archive", because: "is larger than 2 MiB, so its text is not compared", dropsBuster: false },
    ]);
    expect(report).toMatchObject({ verdict: "not-audited", pages: ["/style.css", "/bundle.js"], findings: [] });
  });

  test("that is too long does not hide what the fields show", async () => {
    const { report } = await audited(behind(), { paths: ["/style.css", "/export"], inputs: TWO_INPUTS });
    expect(report.findings).toMatchObject([{ id: "stored:private:/export" }]);
    expect(report.notAudited).toMatchObject([{ path: "/export" }]);
  });
});

describe("sessions", () => {
  test("that have ended are reported, and no page counts as clean", { tags: ["deep"] }, async () => {
    const prepare = (site: MembersSite) => {
      site.letsIn = (name) => name !== "bob";
    };
    const { report } = await audited(behind({ stores: (path) => path === "/style.css" }), { prepare });
    expect(report).toMatchObject({ verdict: "not-audited", findings: [], interrupted: false });
    expect(report.problems).toEqual([expect.stringMatching(/^bob gets the same answers as a stranger everywhere\./)]);
  });

  test.each(["/me.json", "/"])("that end during the audit are reported, by %s", { tags: ["deep"] }, async (path) => {
    const prepare = (site: MembersSite) => {
      // The last page of the list.
      site.letsIn = () => !site.seen.some(({ target }) => target.startsWith("/news"));
    };
    const { report } = await audited(behind({ stores: (each) => each === "/style.css" }), {
      prepare,
      paths: ["/style.css", path, "/news"],
      concurrency: 1,
    });
    expect(report.verdict).toBe("not-audited");
    expect(report.problems).toEqual([
      `alice's session ended during the audit: ${path} now answers alice like a stranger.`,
      `bob's session ended during the audit: ${path} now answers bob like a stranger.`,
    ]);
  });

  test("of one account are reported", { tags: ["deep"] }, async () => {
    const identities = (cookie: string) =>
      ["alice", "bob"].map((name) => ({ name, credentials: { cookie }, canaries: [] }));
    const list: ReturnType<typeof identities> = [];
    const { report } = await audited(behind({ stores: (path) => path === "/style.css" }), {
      prepare: (site) => void list.push(...identities(site.logIn("alice"))),
      identities: list,
    });
    expect(report.problems).toEqual(["alice and bob get the same answers everywhere. Are they one account?"]);
  });

  test("whose canary is nowhere are reported", { tags: ["deep"] }, async () => {
    const list: { name: string; credentials: Record<string, string>; canaries: string[] }[] = [];
    const { report } = await audited(behind({ stores: (path) => path === "/style.css" }), {
      prepare: (site) =>
        void list.push({
          name: "alice",
          credentials: { cookie: site.logIn("alice") },
          canaries: ["alice@example.org"],
        }),
      identities: list,
    });
    expect(report.problems).toEqual(["alice's own answers do not contain the canary of alice."]);
    expect(JSON.stringify(report)).not.toContain("alice@example.org");
  });

  test("are not ended by the audit", async () => {
    const { report, site } = await audited(behind(), { paths: ["/style.css", "/me.json", "/logout"] });
    expect(report.leftOut).toEqual(["/logout"]);
    expect(site.seen.filter(({ target }) => target.startsWith("/logout"))).toEqual([]);
  });
});

test("a page that is requested with HEAD is compared by its fields", { tags: ["deep"] }, async () => {
  const targets = [
    { method: "GET", path: "/style.css" },
    { method: "HEAD", path: "/me.json" },
  ] as const;
  const { report } = await audited(behind(), { targets });
  expect(report.findings).toMatchObject([
    {
      id: "shared:/me.json",
      evidence: expect.arrayContaining(['of alice: X-Account: "account-of-alice"']),
    },
  ]);
});

describe("a report", () => {
  test("does not count findings that are accepted, and shows them", async () => {
    const { report } = await audited(behind(), { paths: ["/style.css", "/me.json"], accepted: ["shared:/me.json"] });
    expect(report).toMatchObject({ verdict: "clean", findings: [], accepted: [{ id: "shared:/me.json" }] });
    expect(auditText(report)).toContain("Accepted: shared:/me.json");
    expect(auditText(report)).not.toContain("--accept");
  });

  test("names what was accepted and is not found, unless pages could not be audited", async () => {
    const accepted = ["shared:/me.jsn", "shared:/me.json"];
    const { report } = await audited(behind(), { paths: ["/style.css", "/me.json"], accepted });
    expect(auditText(report)).toContain("Not found, so leave out: --accept shared:/me.jsn\n");
    const { report: ofPart } = await audited(behind(), { paths: ["/style.css", "/no-such-page"], accepted });
    expect(ofPart.verdict).toBe("not-audited");
    expect(auditText(ofPart)).not.toContain("leave out");
  });

  test("names only cookies by which visitors are known, for others have the rest, too", async () => {
    const list: Identity[] = [];
    const { report } = await audited(behind(), {
      prepare: (site) =>
        void list.push(
          ...["alice", "bob"].map((name) => {
            const cookie = `${site.logIn(name)}; _ga=GA1.${name}; theme=dark; basket=of-${name}`;
            return { name, credentials: { cookie }, canaries: [] };
          }),
        ),
      identities: list,
      paths: ["/style.css", "/basket"],
    });
    const shared = report.findings.find(({ kind }) => kind === "shared");
    expect(shared!.mend[1]).toBe("the cache: neither look up nor store requests with the cookie sessionid");
  });

  test("keeps its results when it is interrupted", async () => {
    const ending = new AbortController();
    const { report } = await audited(behind(), {
      signal: ending.signal,
      concurrency: 1,
      progress: ({ findings }) => {
        if (findings >= 2) ending.abort();
      },
    });
    expect(report).toMatchObject({ verdict: "findings", interrupted: true });
    expect(report.findings).toHaveLength(2);
    expect(auditText(report)).toContain("Interrupted:");
  });

  test("names pages without an answer", async () => {
    const { report } = await audited(
      async (origin) => {
        const cache = await toyCache(origin);
        await cache[Symbol.asyncDispose]();
        return { url: cache.url, [Symbol.asyncDispose]: async () => undefined };
      },
      { paths: ["/"] },
    );
    expect(report).toMatchObject({
      verdict: "not-audited",
      notAudited: [{ path: "/", because: "has no answer: the connection was refused" }],
    });
  });

  test("says which certificate to trust", async () => {
    const root = makeCertificate(["root"]);
    const middle = makeCertificate(["middle"], { issuer: { name: "root", key: root.key } });
    const signedBy = (name: string, { key }: MadeCertificate) =>
      makeCertificate(["localhost"], { issuer: { name, key } });
    const becauseOf = async ({ chain, key }: MadeCertificate, more = "") => {
      const server = createTlsServer({ cert: chain + more, key });
      const start = async () => ({
        url: new URL((await listenLocally(server)).replace("http:", "https:")),
        [Symbol.asyncDispose]: async () => void server.close(),
      });
      return (await audited(start, { paths: ["/"] })).report.notAudited.map(({ because }) => because);
    };
    const unknown = /^has no answer: the issuer of its certificate is unknown; name .* in NODE_EXTRA_CA_CERTS/;
    expect(await becauseOf(signedBy("root", root))).toEqual([expect.stringMatching(unknown)]);
    expect(await becauseOf(signedBy("middle", middle), middle.chain)).toEqual([expect.stringMatching(unknown)]);
    expect(await becauseOf(signedBy("root", root), root.chain)).toEqual([
      "has no answer: its root certificate is not trusted; name it in NODE_EXTRA_CA_CERTS to trust it",
    ]);
  });
});

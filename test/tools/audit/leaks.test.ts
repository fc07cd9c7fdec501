import { describe, expect, test } from "vitest";
import type { AuditReport } from "../../../tools/audit/audit-site.ts";
import { nginxVersion } from "../import/nginx-process.ts";
import { audited } from "./audited.ts";
import { obliviousNginx, seedNginx, tidemark, usualWorker } from "./edges.ts";
import { PATHS } from "./members-site.ts";

const NOT_RUN = "the audits of nginx are SKIPPED, because this machine has no nginx";
const hasNginx = nginxVersion() !== null;
if (!hasNginx) process.stdout.write(`${NOT_RUN}\n`);

function idsOf({ findings }: AuditReport): readonly string[] {
  return findings.map(({ id }) => id).sort();
}

/** Pages that are another for each visitor, and do not say so. */
const SILENT = ["/", "/avatar.png", "/form", "/me.json", "/russian"];
/** The session makes these pages another's, and nginx keeps them apart if it may. */
const SPEAKING = ["/account", "/basket", "/hello"];
const UNKEYED = ["unkeyed:cookie:currency:/prices", "unkeyed:field:x-shop:/catalogue"];

const shared = (paths: readonly string[]) => paths.map((path) => `shared:${path}`);

describe.skipIf(!hasNginx)(hasNginx ? "an audit of nginx" : NOT_RUN, () => {
  test("with the project's first configuration finds what the site's fields do not prevent", {
    tags: ["deep"],
  }, async () => {
    const { report } = await audited(seedNginx);
    expect(report).toMatchObject({ verdict: "findings", notAudited: [], problems: [], interrupted: false });
    expect([...report.pages].sort()).toEqual([...PATHS].sort());
    expect(idsOf(report)).toEqual([...shared(SILENT), ...UNKEYED].sort());
  });

  test("that ignores the site's fields finds all the rest", { tags: ["deep"] }, async () => {
    const { report } = await audited(obliviousNginx);
    expect(idsOf(report)).toEqual(
      [
        ...shared([...SILENT, ...SPEAKING]),
        ...UNKEYED,
        "stored:private:/account",
        "stored:set-cookie:/basket",
        "stored:vary-cookie:/hello",
      ].sort(),
    );
  });

  test("says who got whose answer, the evidence, and how to fix it", async () => {
    const { report, site } = await audited(seedNginx, { paths: ["/me.json", "/form", "/style.css"] });
    const [profile, form] = report.findings;
    expect(profile).toMatchObject({
      id: "shared:/me.json",
      what: "alice's answer was given to bob and a stranger; bob's answer was given to alice and a stranger",
      mend: [
        "the site: send Cache-Control: private on answers for one visitor",
        "nginx: proxy_cache_bypass $cookie_sessionid; proxy_no_cache $cookie_sessionid;",
      ],
    });
    expect(profile!.evidence).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^of alice: body: "alice@example\.com", /),
        'of alice: ETag: "profile-alice"',
        'of alice: X-Account: "account-of-alice"',
        'of bob: status: "200"',
      ]),
    );
    expect(form!.evidence).toContainEqual(
      expect.stringMatching(/^of bob: form token: "[0-9a-f]{3}… \(36 characters\)"$/),
    );
    const sessions = new Set(site.seen.flatMap(({ cookie }) => cookie.match(/(?<=sessionid=)\w+/g) ?? []));
    expect(sessions.size).toBe(2);
    for (const session of sessions) expect(JSON.stringify(report)).not.toContain(session);
  });
});

describe("an audit of the usual Worker", () => {
  test("finds that everything is stored by URL", { tags: ["deep"], timeout: 60_000 }, async () => {
    const { report } = await audited(usualWorker);
    expect(report).toMatchObject({ verdict: "findings", notAudited: [], problems: [] });
    // The Cache API stores nothing with Set-Cookie.
    expect(idsOf(report)).toEqual(
      [
        ...shared([...SILENT, "/account", "/hello"]),
        ...UNKEYED,
        "stored:vary-cookie:/hello",
        "unkeyed:field:x-forwarded-host:/share",
      ].sort(),
    );
    expect(report.findings[0]!.mend[1]).toMatch(/^the Worker or rule: /);
  });
});

describe("an audit of Tidemark", () => {
  /** The lifetime of the configuration of nginx, and what the site chooses by. */
  const routes = [
    { match: "/prices", defaultTtl: "1h", key: { cookies: { currency: ["EUR", "USD"] } } },
    { match: "/catalogue", defaultTtl: "1h", key: { fields: ["x-shop"] } },
    { match: "/*", defaultTtl: "1h" },
  ] as const;

  test("finds nothing on the same site, whose pages it stores", { tags: ["deep"] }, async () => {
    const { report } = await audited((origin) => tidemark(origin, { routes }));
    expect(report).toMatchObject({ verdict: "clean", findings: [], notAudited: [], problems: [] });
    expect([...report.pages].sort()).toEqual([...PATHS].sort());
    expect(report.fromStore).toBeGreaterThan(10);
  });

  test("finds the cookie that its owner forgot", async () => {
    const forgotten = routes.filter(({ match }) => match !== "/prices");
    const paths = ["/prices", "/", "/style.css"];
    const { report } = await audited((origin) => tidemark(origin, { routes: forgotten }), { paths });
    expect(idsOf(report)).toEqual(["unkeyed:cookie:currency:/prices"]);
    expect(report.findings[0]!.mend[1]).toBe(
      'tidemark.config.ts: { match: "/prices", key: { cookies: { "currency": ["…"] } } }',
    );
  });
});

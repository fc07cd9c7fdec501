import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ImportedSite, siteOf } from "../../../tools/import/imported-site.ts";
import { importNginx } from "../../../tools/import/nginx/import-nginx.ts";
import { compileSite } from "../../../worker/site/site.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-fields-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const CACHED = "proxy_pass http://10.0.0.1; proxy_cache c; proxy_cache_valid 200 1h;";

function imported(server: string, http = ""): ImportedSite {
  const file = join(folder, "nginx.conf");
  writeFileSync(file, `http {\n${http}\nserver {\nserver_name www.example.com;\n${server}\n}\n}\n`);
  const site = importNginx(file, { origin: null, host: null, server: null, root: null });
  compileSite(siteOf(site), {});
  return site;
}

const setting = (...lines: string[]) =>
  imported(`location / { ${lines.map((each) => `proxy_set_header ${each};`).join(" ")} ${CACHED} }`);

/** What the list says of a field. */
const toldOf = ({ differences }: ImportedSite, field: string) =>
  differences.filter((each) => each.source !== null && each.field === field);
const kindsOf = (site: ImportedSite, field: string) => toldOf(site, field).map(({ kind }) => kind);

describe("a visitor's own value of a field that nginx set or erased never reaches the origin", () => {
  test.each([
    "X-Client-Verify $ssl_client_verify",
    "X-Client-DN $ssl_client_s_dn",
    "X-Auth-User $user",
    "X-Authenticated-Uid $remote_user",
    "X-Upstream-Role $upstream_http_x_role",
    "Remote-User $remote_user",
    "X-API-Key $key",
    'Authorization "Bearer $token"',
  ])("%s, which the edge cannot send: it is in the first list", (line) => {
    const [name = ""] = line.split(" ");
    const site = setting(line);
    expect(siteOf(site).originFields).toEqual({ [name]: "" });
    expect(toldOf(site, name.toLowerCase())).toMatchObject([
      { kind: "access", why: expect.stringContaining(`sends ${name} empty on all routes`) },
    ]);
  });

  test.each(['X-Remote-User ""', 'Authorization ""', 'Remote-User ""', 'X-HTTP-Method-Override ""'])(
    "%s, of which the edge sends an empty one",
    (line) => {
      const [name = ""] = line.split(" ");
      const site = setting(line);
      expect(siteOf(site).originFields).toEqual({ [name]: "" });
      expect(kindsOf(site, name.toLowerCase())).toEqual(["changed"]);
      expect(JSON.stringify(site.differences)).not.toMatch(/name it in fields\.drop/);
    },
  );

  test.each([
    ["X-Role guest", ""],
    ['X-Role ""', ""],
    ["X-Role guest", "proxy_set_header X-Role staff;"],
    ["X-Role guest", "proxy_set_header X-Role $http_x_role;"],
  ])("%s in one of two locations, beside '%s'", (line, other) => {
    const site = imported(`location / { proxy_set_header ${line}; ${CACHED} } location /b { ${other} ${CACHED} }`);
    expect(siteOf(site).originFields).toEqual({ "X-Role": "" });
    expect(kindsOf(site, "x-role")).toContain(line.endsWith('""') ? "changed" : "access");
    if (!other.includes("staff")) expect(JSON.stringify(site.differences)).toContain("Elsewhere nginx passed that on");
  });

  test("except what is a proof, where another location takes it: the first list says so", () => {
    const site = imported(
      `location / { proxy_set_header Authorization ""; ${CACHED} } location /api/ { proxy_pass http://10.0.0.1; }`,
    );
    expect(siteOf(site).originFields).toBeUndefined();
    expect(toldOf(site, "authorization")).toMatchObject([
      { kind: "access", why: expect.stringMatching(/visitor's own Authorization now reaches.*must not believe it/) },
    ]);
  });

  test("X-Forwarded-User, which the edge sends to no origin, is in the first list, too", () => {
    expect(kindsOf(setting("X-Forwarded-User $remote_user"), "x-forwarded-user")).toEqual(["access"]);
    expect(kindsOf(setting('X-Forwarded-User ""'), "x-forwarded-user")).toEqual([]);
  });

  test("a fixed value everywhere is the site's", () => {
    const site = setting("X-Role guest", "Authorization 'Basic YTpi'", "User-Agent edge");
    expect(siteOf(site).originFields).toEqual({
      "X-Role": "guest",
      Authorization: "Basic YTpi",
      "User-Agent": "edge",
    });
    expect(site.differences.filter(({ source }) => source !== null)).toEqual([]);
  });
});

describe("a fixed word on the visitor's scheme, from an nginx behind what ends TLS", () => {
  test.each([
    "X-Forwarded-Proto https",
    "X-Forwarded-Ssl on",
    "X-Forwarded-Port 443",
    "X-Scheme https",
    "X-Forwarded-Scheme https",
  ])("%s is sent, so that the origin does not redirect for ever", (line) => {
    const [name = "", value] = line.split(" ");
    const site = setting(line);
    expect(siteOf(site).originFields).toEqual({ [name]: value });
    expect(toldOf(site, name.toLowerCase())).toEqual([]);
  });

  test("is told where it is not the same on all routes", () => {
    const site = imported(
      `location / { proxy_set_header X-Forwarded-Proto https; ${CACHED} } location /b { ${CACHED} }`,
    );
    expect(siteOf(site).originFields).toBeUndefined();
    expect(kindsOf(site, "x-forwarded-proto")).toEqual(["dropped"]);
  });

  test.each(["X-Forwarded-Host www.example.org", "X-Forwarded-For 192.0.2.7"])("but not %s", (line) => {
    expect(siteOf(setting(line)).originFields).toBeUndefined();
  });
});

test.each(["X-Sendfile-Type X-Accel-Redirect", "X-Accel-Mapping /srv/=/files/"])(
  "%s is never sent, because nobody would fill the origin's empty answers",
  (line) => {
    const [name = ""] = line.split(" ");
    const site = setting(line);
    expect(siteOf(site).originFields).toEqual({ [name]: "" });
    expect(toldOf(site, name.toLowerCase())).toMatchObject([
      { kind: "changed", why: expect.stringContaining("sends no files for the origin") },
    ]);
  },
);

test.each(['Proxy ""', 'X-Original-URL ""', 'X-Real-IP ""', 'Keep-Alive ""', 'TE ""'])(
  "%s needs no line: the edge forwards none",
  (line) => expect(toldOf(setting(line), line.split(" ")[0]!.toLowerCase())).toEqual([]),
);

test.each([
  ["X-Request-ID $request_id", "reaches the origin where its answers are not stored"],
  ['Accept-Language ""', "reaches the origin where its answers are not stored"],
  ["X-Original-URI $request_uri", "sends the origin no X-Original-URI"],
])("%s: what the origin gets is told", (line, words) => {
  const site = setting(line);
  expect(toldOf(site, line.split(" ")[0]!.toLowerCase())).toMatchObject([
    { kind: "dropped", why: expect.stringContaining(words) },
  ]);
});

test("a visitor's own value that nginx passed on is passed on", () => {
  const site = setting("X-Api-Key $http_x_api_key", "Authorization $http_authorization");
  expect(siteOf(site).originFields).toBeUndefined();
  expect(site.differences.filter(({ source }) => source !== null)).toEqual([]);
});

describe("the name of an upstream, which nginx sends as Host without a line for it,", () => {
  const POOL = "upstream pool { server 10.0.0.1:8000; }";
  const at = (pass: string, lines = "", http = POOL) =>
    toldOf(imported(`location / { ${lines} proxy_pass ${pass}; proxy_cache c; }`, http), "host").map(
      ({ kind, why, source }) => `${kind} ${source!.text}: ${why}`,
    );
  const TOLD =
    "The edge asks for the host 10.0.0.1:8000, which is the origin's name, not for pool. If the site answers at that name, import with --origin http://pool.";

  test("is told", () => {
    expect(at("http://pool")).toEqual([`dropped proxy_pass http://pool: ${TOLD}`]);
    expect(at("http://pool", "proxy_set_header Host $proxy_host;")).toEqual([
      `dropped proxy_set_header Host $proxy_host: ${TOLD}`,
    ]);
    expect(at("http://pool", "", "upstream pool { server unix:/run/app.sock; }")[0]).toContain("not for pool.");
  });

  test("but not an address that is the origin's own", () => {
    expect(at("http://10.0.0.1:80")).toEqual([]);
    expect(at("http://App.internal:8000/")).toEqual([]);
    expect(at("http://unix:/run/app.sock")).toEqual([]);
  });

  test("is told once, and not beside a line for another Host", () => {
    expect(at("http://pool", "location /a { proxy_pass http://pool; }")).toHaveLength(1);
    expect(at("http://pool", "proxy_set_header Host $host;").join()).not.toContain(TOLD);
  });
});

describe("a Host that is not the visitor's", () => {
  const hostOf = (value: string, target = "http://10.0.0.1") => {
    const lines = CACHED.replace("http://10.0.0.1", target);
    return toldOf(imported(`location / { proxy_set_header Host ${value}; ${lines} }`), "host").map(({ why }) => why);
  };

  test("is the origin's, if the origin has that name", () => {
    expect(hostOf("'bucket.s3.example.com'")).toEqual([
      expect.stringMatching(/The edge asks for the host 10\.0\.0\.1.*--origin http:\/\/bucket\.s3\.example\.com/),
    ]);
    expect(hostOf("bucket.s3.example.com", "https://10.0.0.1")[0]).toContain("--origin https://bucket.s3.example.com");
    expect(hostOf("bucket.s3.example.com", "https://bucket.s3.example.com")).toEqual([]);
    expect(hostOf("$bucket.s3.example.com")).toEqual([expect.stringContaining("--origin can name another")]);
  });

  test.each(["$host", "$http_host", "$server_name", "$host:$server_port", '"$host"'])(
    "%s is the visitor's",
    (value) => {
      expect(hostOf(value)).toEqual([expect.stringContaining('forward: { host: "visitor" }')]);
    },
  );

  test("is no name for the site where another upstream gets it", () => {
    const site = imported(
      `location / { ${CACHED} } location /a { proxy_set_header Host plausible.io; proxy_pass https://plausible.io; }`,
    );
    const [told] = toldOf(site, "host");
    expect(told?.why).toMatch(/not for plausible\.io\.$/);
  });

  test("never leads to a forwarded one", () => {
    for (const value of ["bucket.s3.example.com", "$bucket"]) expect(hostOf(value).join()).not.toContain("forward:");
  });
});

describe("proxies in front", () => {
  const BALANCED = "real_ip_header X-Forwarded-For;";
  const behind = (lines: string, fields = "", http = "") =>
    imported(`${lines} location / { ${fields} ${CACHED} }`, http);
  const toldOfAddresses = ({ differences }: ImportedSite) =>
    differences.filter(({ source }) => /^(?:set_real_ip_from|real_ip_header)/.test(source?.text ?? ""));

  test("whose addresses nginx takes visitors' from are trustedProxies", () => {
    const lines = `set_real_ip_from 10.0.0.0/8; set_real_ip_from 192.0.2.7; set_real_ip_from 2001:db8::/32; ${BALANCED}`;
    const site = behind(`${lines} real_ip_recursive on;`);
    expect(siteOf(site).trustedProxies).toEqual(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]);
    expect(toldOfAddresses(site)).toMatchObject([
      { kind: "changed", why: expect.stringContaining("X-Forwarded-Proto") },
    ]);
    expect(toldOfAddresses(site)[0]?.why).not.toContain("recursive");
    expect(toldOfAddresses(behind(lines))[0]?.why).toContain("as with real_ip_recursive on");
  });

  test("are the same where only the http block names them, and a network is written with another address of it", () => {
    const site = behind("", "", `set_real_ip_from 10.1.2.3/8; set_real_ip_from 2001:db8::1/32; ${BALANCED}`);
    expect(siteOf(site).trustedProxies).toEqual(["10.0.0.0/8", "2001:db8::/32"]);
  });

  test.each([
    ["another field", "set_real_ip_from 10.0.0.0/8; real_ip_header CF-Connecting-IP;"],
    ["nginx's own default", "set_real_ip_from 10.0.0.0/8;"],
    ["the PROXY protocol", "set_real_ip_from 10.0.0.0/8; real_ip_header proxy_protocol;"],
    ["everybody", `set_real_ip_from 0.0.0.0/0; ${BALANCED}`],
    ["everybody, over IPv6", `set_real_ip_from ::/0; ${BALANCED}`],
    ["names and sockets alone", `set_real_ip_from unix:; set_real_ip_from lb.internal; ${BALANCED}`],
  ])("are not imported for %s, and the list says so", (_, lines) => {
    const site = behind(lines);
    expect(siteOf(site).trustedProxies).toBeUndefined();
    const told = toldOfAddresses(site);
    expect(told.length).toBeGreaterThan(0);
    expect(told.map(({ kind, why }) => [kind, /trustedProxies/.test(why)])).toEqual(told.map(() => ["dropped", true]));
  });

  test("of one location alone are not imported", () => {
    const site = behind("", `set_real_ip_from 10.0.0.0/8; ${BALANCED}`);
    expect(siteOf(site).trustedProxies).toBeUndefined();
    expect(toldOfAddresses(site)[0]?.kind).toBe("dropped");
  });

  const PASSED_ON = [
    "X-Forwarded-Proto $http_x_forwarded_proto",
    "X-Forwarded-Proto $real_scheme",
    "X-Forwarded-For $http_x_forwarded_for",
    "X-Forwarded-Host $http_x_forwarded_host",
    "X-Real-IP $http_x_real_ip",
    "X-Real-IP $http_x_forwarded_for",
  ];
  const MAP = "map $http_x_forwarded_proto $real_scheme { default $http_x_forwarded_proto; '' $scheme; }";

  test.each(PASSED_ON)("whose word nginx passed on must be in trustedProxies: %s", (line) => {
    const site = behind("", `proxy_set_header ${line};`, MAP);
    const told = toldOf(site, line.split(" ")[0]!.toLowerCase());
    expect(told.map(({ kind }) => kind)).toEqual([/Host|Proto/.test(line) ? "dropped" : "access"]);
    expect(told[0]?.why).toMatch(/in trustedProxies/);
  });

  test("whose word nginx passed on, and which are in trustedProxies, need no line", () => {
    for (const line of PASSED_ON.slice(0, 3)) {
      const site = behind(`set_real_ip_from 10.0.0.0/8; ${BALANCED}`, `proxy_set_header ${line};`, MAP);
      expect(toldOf(site, line.split(" ")[0]!.toLowerCase())).toEqual([]);
    }
  });
});

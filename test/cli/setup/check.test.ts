import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { checkProject } from "../../../cli/check/check-project.ts";
import { type CheckReport, checkText, warning } from "../../../cli/check/check-report.ts";
import { readWranglerSettings } from "../../../cli/check/wrangler-settings.ts";
import { initProject } from "../../../cli/init/init-project.ts";
import { COMPATIBILITY_DATE } from "../../../package/compatibility-date.ts";
import { tidemark } from "../run-command.ts";

let folder: string;

beforeEach(async () => {
  await mkdir(".tidemark", { recursive: true });
  folder = await mkdtemp(join(".tidemark", "check-"));
  const answers = { origin: "https://origin.example.com", host: "www.example.com", passed: ["/admin"] };
  await initProject({ folder, answers, force: false });
});

afterEach(() => rm(folder, { recursive: true }));

/** Changes a file of a project that is sound, and checks the project. */
async function checkWith(file: string, from: string, to: string): Promise<CheckReport> {
  const path = join(folder, file);
  const text = await readFile(path, "utf8");
  expect(text.split(from)).toHaveLength(2);
  await writeFile(
    path,
    text.replace(from, () => to),
  );
  return checkProject({ config: join(folder, "wrangler.toml"), environment: null });
}

const LOG_BINDING = '[[durable_objects.bindings]]\nname = "PURGE_LOG"\nclass_name = "PurgeLog"\n';
const MIGRATION = 'tag = "v1"\nnew_sqlite_classes = ["PurgeLog"]\n';

describe("what init writes", () => {
  test("has no finding", { tags: ["deep"], timeout: 60_000 }, async () => {
    const report = await checkProject({ config: join(folder, "wrangler.toml"), environment: null });
    const serves = { environment: null, origin: "https://origin.example.com", hosts: ["www.example.com"] };
    expect(report).toMatchObject({ findings: [], deployments: [serves] });
    // The parts have ceilings of their own, in test/runtime/deploy.test.ts. The rest is the dashboard.
    expect(report.bundle?.gzippedBytes).toBeLessThan(144 * 1024);
  });

  test("has no finding either with aliases, and Node's modules without node:", { tags: ["deep"] }, async () => {
    await writeFile(join(folder, "greeting.ts"), 'export const greeting = "hi";');
    const worker = await readFile(join(folder, "worker.ts"), "utf8");
    const imports = 'import { EventEmitter } from "events";\nimport { greeting } from "@app/greeting";\n';
    await writeFile(join(folder, "worker.ts"), `${imports}${worker}new EventEmitter().emit(greeting);\n`);
    const keys = 'compatibility_flags = ["nodejs_compat"]\nalias = { "@app/greeting" = "./greeting.ts" }\nroutes = ';
    expect((await checkWith("wrangler.toml", "routes = ", keys)).findings).toEqual([]);
  });

  test("has no finding either if exports creates the class instead", { tags: ["deep"], timeout: 60_000 }, async () => {
    const exported = '[exports.PurgeLog]\ntype = "durable-object"\nstorage = "sqlite"\n';
    const { findings } = await checkWith("wrangler.toml", `[[migrations]]\n${MIGRATION}`, exported);
    expect(findings).toEqual([]);
  });
});

describe("a site that reads env of the runtime", () => {
  /** Has it send a secret, and ask the origin that a variable names. */
  const readEnv = async () => {
    const path = join(folder, "tidemark.config.ts");
    const site = await readFile(path, "utf8");
    const fields = "env.ORIGIN, originFields: { secret: env.SECRET }";
    const reading = site.replace('"https://origin.example.com"', fields).replaceAll("env.", "(env as any).");
    await writeFile(path, `import { env } from "cloudflare:workers";\n${reading}`);
  };
  const SECRET = 'SECRET = "s3cret"\n';
  const VARIABLE = '[vars]\nORIGIN = "https://vars.example.com"\n\n[build]';

  test("has the secrets of .edge.vars, if that is there beside an app", { timeout: 60_000 }, async () => {
    await readEnv();
    await writeFile(join(folder, ".dev.vars"), "OF_APP = 1\n");
    await writeFile(join(folder, ".edge.vars"), SECRET);
    const toml = await readFile(join(folder, "wrangler.toml"), "utf8");
    const config = join(folder, "wrangler.edge.toml");
    await writeFile(config, toml.replace("[build]", VARIABLE));
    expect((await checkProject({ config, environment: null })).findings).toEqual([]);
  });

  test("has the variables of each environment, and the secrets in .dev.vars, whatever CLOUDFLARE_ENV names", {
    timeout: 60_000,
  }, async ({ onTestFinished }) => {
    vi.stubEnv("CLOUDFLARE_ENV", "staging");
    onTestFinished(() => void vi.unstubAllEnvs());
    await readEnv();
    await writeFile(join(folder, ".dev.vars"), `${SECRET}ORIGIN = "http://localhost:8000"\n`);
    const staging = `[env.staging]\nworkers_dev = true\nvars = { ORIGIN = "https://staging.example.com" }\n[[env.staging.dur`;
    await writeFile(
      join(folder, "wrangler.toml"),
      `${await readFile(join(folder, "wrangler.toml"), "utf8")}\n${staging}${LOG_BINDING.slice("[[dur".length)}`,
    );
    const { findings, deployments } = await checkWith("wrangler.toml", "[build]", VARIABLE);
    expect(findings.filter(({ level }) => level === "problem")).toEqual([]);
    expect(deployments.map(({ origin }) => origin)).toEqual([
      "https://vars.example.com",
      "https://staging.example.com",
    ]);
  });

  test("is a warning while its secret is not known here", { timeout: 60_000 }, async () => {
    await readEnv();
    const { findings } = await checkWith("wrangler.toml", "[build]", VARIABLE);
    expect(findings).toEqual([
      { level: "warning", where: expect.stringMatching(/worker\.ts$/), message: expect.any(String) },
    ]);
    expect(findings[0]!.message).toMatch(
      /were not checked: .* has no SECRET here, .*\.dev\.vars or \.env.*originFields\.secret/s,
    );
  });

  test("has a problem for each mistake that no secret can mend", { timeout: 60_000 }, async () => {
    await readEnv();
    const path = join(folder, "tidemark.config.ts");
    const mistaken = "limits: { variants: Number((env as any).VARIANTS) }, hots:";
    await writeFile(path, (await readFile(path, "utf8")).replace("hosts:", mistaken));
    const { findings } = await checkWith("wrangler.toml", "[build]", VARIABLE);
    expect(findings).toEqual([
      { level: "problem", where: expect.stringMatching(/tidemark\.config\.ts$/), message: expect.any(String) },
    ]);
    expect(findings[0]!.message).toMatch(
      /^the site's rules are not valid:\n {2}hots: unknown key; did you mean hosts\?.*$/,
    );
  });
});

test.each([
  { beside: "the build of an app", built: "{}", replacedBy: "dist/wrangler.json" },
  { beside: "a build of its own", built: '{ "bindings": [{ "name": "PURGE_LOG" }] }', replacedBy: null },
  { beside: "the build of an app, under another name", built: "{}", file: "wrangler.edge.toml", replacedBy: null },
  { beside: "the build of an app, in a deployment of its own", built: "{}", command: "deploy", replacedBy: null },
])("beside $beside, wrangler deploys in its place: $replacedBy", async (row) => {
  const { built, file = "wrangler.toml", command, replacedBy } = row;
  for (const each of [".wrangler/deploy", "dist"]) await mkdir(join(folder, each), { recursive: true });
  await writeFile(join(folder, ".wrangler/deploy/config.json"), '{ "configPath": "../../dist/wrangler.json" }');
  await writeFile(join(folder, "dist/wrangler.json"), built);
  await rename(join(folder, "wrangler.toml"), join(folder, file));
  vi.stubEnv("WRANGLER_COMMAND", command);
  try {
    expect(await readWranglerSettings(join(folder, file), null)).toMatchObject([{ replacedBy }]);
  } finally {
    vi.unstubAllEnvs();
  }
});

test("an older wrangler, which does not tell the secrets of this machine, is of use all the same", {
  timeout: 60_000,
}, async () => {
  vi.doMock("wrangler", async (original) => ({ ...(await original<object>()), unstable_getVarsForDev: undefined }));
  try {
    const path = join(folder, "wrangler.toml");
    const toml = await readFile(path, "utf8");
    await writeFile(path, toml.replace("[build]", '[vars]\nORIGIN = "https://vars.example.com"\n\n[build]'));
    const [settings] = await readWranglerSettings(path, null);
    expect(settings).toMatchObject({ main: expect.any(String), variables: { ORIGIN: "https://vars.example.com" } });
  } finally {
    vi.doUnmock("wrangler");
  }
});

test("each environment is run with its own definitions, and the heaviest bundle counts", {
  tags: ["deep"],
  timeout: 60_000,
}, async () => {
  const sound = await checkProject({ config: join(folder, "wrangler.toml"), environment: null });
  const site = await readFile(join(folder, "tidemark.config.ts"), "utf8");
  await writeFile(
    join(folder, "tidemark.config.ts"),
    site
      .replace('"https://origin.example.com"', "SITE_ORIGIN")
      .replace("import ", "declare const SITE_ORIGIN: string;\nimport "),
  );
  const toml = await readFile(join(folder, "wrangler.toml"), "utf8");
  const random = Array.from({ length: 4000 }, () => Math.random().toString(36)).join("");
  const another = (name: string, main: string) => `[env.${name}]
main = "${main}"
define = { SITE_ORIGIN = "'https://${name}.example.com'" }
workers_dev = true

[[env.${name}.durable_objects.bindings]]
name = "PURGE_LOG"
class_name = "PurgeLog"
`;
  await writeFile(
    join(folder, "heavy.ts"),
    `export const ballast = "${random}";\nexport * from "./worker.ts";\nexport { default } from "./worker.ts";\n`,
  );
  await writeFile(
    join(folder, "wrangler.toml"),
    `${toml.replace("routes = ", `define = { SITE_ORIGIN = "'https://origin.example.com'" }\nroutes = `)}\n${another("staging", "worker.ts")}\n${another("heavy", "heavy.ts")}`,
  );
  const { deployments, bundle } = await checkProject({ config: join(folder, "wrangler.toml"), environment: null });
  expect(deployments.map(({ environment, origin }) => [environment, origin])).toEqual([
    [null, "https://origin.example.com"],
    ["staging", "https://staging.example.com"],
    ["heavy", "https://heavy.example.com"],
  ]);
  expect(bundle!.gzippedBytes).toBeGreaterThan(sound.bundle!.gzippedBytes + 10_000);
});

describe("a problem is found", { tags: ["deep"] }, () => {
  test.each([
    {
      name: "a misspelt key of the site",
      change: ["tidemark.config.ts", "hosts:", "hots:"],
      says: /tidemark\.config\.ts: .*hots: unknown key; did you mean hosts\?/s,
    },
    {
      name: "a value that is not valid",
      change: ["tidemark.config.ts", "pass: true }", 'pass: true, ttl: "soon" }'],
      says: /routes\[0\]\.ttl: .*found "soon"/s,
    },
    {
      name: "purges by address, which Workers do not support",
      change: ["tidemark.config.ts", "hosts:", 'doors: { varnish: { from: ["192.0.2.7"] } }, hosts:'],
      says: /doors\.varnish\.from: is only for tidemark serve/s,
    },
    {
      name: "the visitor's host for the origin, which Workers cannot send",
      change: ["tidemark.config.ts", "hosts:", 'forward: { host: "visitor" }, hosts:'],
      says: /forward\.host: is only for tidemark serve: on Workers, Host is the name in the origin's URL, so leave it out/s,
    },
    {
      name: "compression, which Workers do by themselves",
      change: ["tidemark.config.ts", "hosts:", "compression: {}, hosts:"],
      says: /compression: is only for tidemark serve: Workers compress by themselves, so leave it out here/s,
    },
    {
      name: "more memory than an isolate has",
      change: ["tidemark.config.ts", "hosts:", 'limits: { memoryBytes: "128MiB" }, hosts:'],
      says: /limits\.memoryBytes: is more than an isolate of Workers has, which is 128 MB for all that it does: write at most "64MiB"/s,
    },
    {
      name: "a worker that has null for its site",
      change: ["worker.ts", "createEdge(site)", "createEdge(site && null)"],
      says: /tidemark\.config\.ts: .*origin: is required: .*; found nothing/s,
    },
    {
      name: "a worker whose site has null for its origin",
      change: ["worker.ts", "createEdge(site)", "createEdge({ ...site, origin: null })"],
      says: /tidemark\.config\.ts: .*origin: .*; found null/s,
    },
    {
      name: "a config that does not compile",
      change: ["tidemark.config.ts", "defineSite({", "defineSite(({"],
      says: /tidemark\.config\.ts:\d+:\d+: /,
    },
    {
      name: "an import that is not there",
      change: ["worker.ts", "./tidemark.config.ts", "./site.ts"],
      says: /worker\.ts:\d+:\d+: Could not resolve "\.\/site\.ts"/,
    },
    {
      name: "a worker without createEdge",
      change: ["worker.ts", "createEdge(site)", "{ fetch: () => new Response(String([createEdge, site])) }"],
      says: /worker\.ts: the worker does not call createEdge.*Add: export default createEdge\(site\)/s,
    },
    {
      name: "a route behind one that matches everything",
      change: ["tidemark.config.ts", '{ match: "/admin', '{ match: "/*" },\n    { match: "/admin'],
      says: /routes\[1\]: \/admin\{\/\*\}\? never matches, because routes\[0\], \/\*, comes first.*Move it/s,
    },
    {
      name: "a site without hosts",
      change: ["tidemark.config.ts", 'hosts: ["www.example.com"],', ""],
      says: /no public host is named.*TIDEMARK_HOSTS/s,
    },
    {
      name: "a route of wrangler for a host that the site does not name",
      change: ["tidemark.config.ts", 'hosts: ["www.example.com"]', 'hosts: ["shop.example.com"]'],
      says: /routes sends www\.example\.com here, but hosts is shop\.example\.com.*421/s,
    },
    {
      name: "an origin with the public name, in vars",
      change: ["wrangler.toml", "[build]", '[vars]\nTIDEMARK_ORIGIN = "https://www.example.com"\n\n[build]'],
      says: /wrangler\.toml, vars: origin: "https:\/\/www\.example\.com" is an address of the site itself/,
    },
    {
      name: "a token in vars",
      change: ["wrangler.toml", "[build]", '[vars]\nTIDEMARK_TOKEN = "secret"\n\n[build]'],
      says: /vars has TIDEMARK_TOKEN.*wrangler secret put TIDEMARK_TOKEN/s,
    },
    {
      name: "a misspelt variable",
      change: ["wrangler.toml", "[build]", '[vars]\nTIDEMARK_HOST = "www.example.com"\n\n[build]'],
      says: /wrangler\.toml, vars: TIDEMARK_HOST: unknown variable; did you mean TIDEMARK_HOSTS\?$/,
    },
    {
      name: "a list of tokens in vars that cannot be read",
      change: ["wrangler.toml", "[build]", "[vars]\nTIDEMARK_TOKENS = '[{'\n\n[build]"],
      says: /wrangler\.toml, vars: TIDEMARK_TOKENS is not a JSON list.*stays closed/s,
    },
    {
      name: "a compatibility date from before the runtime had what the edge needs",
      change: ["wrangler.toml", `compatibility_date = "${COMPATIBILITY_DATE}"`, 'compatibility_date = "2023-06-01"'],
      says: /wrangler\.toml: compatibility_date is 2023-06-01/,
    },
    {
      name: "no compatibility date",
      change: ["wrangler.toml", `compatibility_date = "${COMPATIBILITY_DATE}"`, ""],
      says: /wrangler\.toml: there is no compatibility_date/,
    },
    {
      name: "a cache of Cloudflare's before the edge",
      change: ["wrangler.toml", "[build]", "[cache]\nenabled = true\n\n[build]"],
      says: /wrangler\.toml: cache\.enabled puts Workers Cache before the edge/,
    },
    {
      name: "a missing purge log",
      change: ["wrangler.toml", LOG_BINDING, ""],
      says: /there is no binding PURGE_LOG.*class_name = "PurgeLog".*new_sqlite_classes/s,
    },
    {
      name: "a missing migration",
      change: ["wrangler.toml", `[[migrations]]\n${MIGRATION}`, ""],
      says: /there is no class PurgeLog.*tag = "v1"/s,
    },
    {
      name: "a migration without SQLite",
      change: ["wrangler.toml", "new_sqlite_classes", "new_classes"],
      says: /new_classes makes PurgeLog without SQLite.*new_sqlite_classes = \["PurgeLog"\]/s,
    },
    {
      name: "a class that the worker does not export",
      change: ["worker.ts", "export { PurgeLog }", "import { PurgeLog as _ }"],
      says: /names the class PurgeLog, which worker\.ts does not export/,
    },
    {
      name: "an environment that does not repeat the binding",
      change: [
        "wrangler.toml",
        "[[durable",
        '[env.staging.vars]\nTIDEMARK_ORIGIN = "https://staging.example.com"\n\n[[durable',
      ],
      says: /env\.staging: there is no binding PURGE_LOG.*do not inherit.*\[\[env\.staging\.durable_objects\.bindings\]\]/s,
    },
    { name: "a missing main", change: ["wrangler.toml", 'main = "worker.ts"', ""], says: /there is no main/ },
  ] as const)(
    "$name",
    async ({ change: [file, from, to], says }) => {
      const { findings } = await checkWith(file, from, to);
      expect(findings.map(({ level }) => level)).toEqual(["problem"]);
      expect(`${findings[0]?.where}: ${findings[0]?.message}`).toMatch(says);
    },
    60_000,
  );
});

test.each([
  {
    what: "cannot be bundled",
    change: ["./tidemark.config.ts", "./site.ts"],
    level: "problem",
    says: 'Could not resolve "./site.ts"',
  },
  {
    what: "throws",
    change: ["export default", "if (!globalThis.KEY) throw null;\nexport default"],
    level: "warning",
    says: "were not checked: it threw null",
  },
] as const)(
  "a worker that $what does not hide what is wrong in wrangler.toml",
  { timeout: 60_000 },
  async ({ change: [from, to], level, says }) => {
    const path = join(folder, "wrangler.toml");
    await writeFile(
      path,
      (await readFile(path, "utf8")).replace("[build]", '[vars]\nTIDEMARK_TOKEN = "secret"\n\n[build]'),
    );
    const { findings } = await checkWith("worker.ts", from, to);
    expect(findings).toEqual([
      { level, where: expect.stringMatching(/worker\.ts$/), message: expect.stringContaining(says) },
      { level: "problem", where: path, message: expect.stringContaining("vars has TIDEMARK_TOKEN") },
    ]);
  },
);

describe("a warning is given", { tags: ["deep"] }, () => {
  interface Warning {
    readonly name: string;
    /** In this file, this text becomes that one. */
    readonly change: readonly [file: string, from: string, to: string];
    readonly says: RegExp;
  }
  const isGiven = async ({ change: [file, from, to], says }: Warning) => {
    const { findings } = await checkWith(file, from, to);
    expect(findings).toEqual([{ level: "warning", where: expect.any(String), message: expect.stringMatching(says) }]);
  };
  test.each<Warning>([
    {
      name: "without a domain",
      change: [
        "wrangler.toml",
        'routes = [{ pattern = "www.example.com", custom_domain = true }]\nworkers_dev = false',
        "",
      ],
      says: /workers\.dev, where the Cache API stores nothing/,
    },
    {
      name: "if a module is not found that wrangler may find",
      change: ["worker.ts", 'from "./tidemark.config.ts";', 'from "./tidemark.config.ts";\nimport "__MANIFEST";'],
      says: /could not be run here.*were not checked: .*worker\.ts:\d+:\d+: Could not resolve "__MANIFEST"/,
    },
  ])("$name", { timeout: 60_000 }, isGiven);
  test.each<Warning>([
    {
      name: "of an unknown variable",
      change: ["wrangler.toml", "[build]", '[vars]\nTIDEMARK_FLAVOUR = "mint"\nMY_OWN = "1"\n\n[build]'],
      says: /^TIDEMARK_FLAVOUR: unknown variable$/,
    },
    {
      name: "for any host",
      change: ["wrangler.toml", "[build]", '[vars]\nTIDEMARK_HOSTS = "*"\n\n[build]'],
      says: /the edge answers for every name/,
    },
    {
      name: "if a module throws for its own reasons",
      change: [
        "worker.ts",
        "export default",
        "if (!globalThis.KEY) throw new Error('KEY is missing');\nexport default",
      ],
      says: /could not be run here.*were not checked: KEY is missing/,
    },
  ])("$name", { tags: ["deep"], timeout: 60_000 }, isGiven);
});

test("the hosts of routes are in the form that the site's hosts have", async () => {
  const path = join(folder, "wrangler.toml");
  const routes = ["WWW.bücher.example/*", "https://*.bücher.example/shop/*", "*bücher.example/*", "Shop.example.com"];
  await writeFile(path, `name = "edge"\nmain = "worker.ts"\nroutes = ${JSON.stringify(routes)}\n`);
  const settings = await readWranglerSettings(path, null);
  const bücher = "xn--bcher-kva.example";
  expect(settings[0]!.routedHosts).toEqual([`www.${bücher}`, `*.${bücher}`, `*${bücher}`, "shop.example.com"]);
});

test("a worker that could not be run is not said to be ready", () => {
  const findings = [warning("worker.ts", "the worker could not be run here")];
  const text = checkText({ findings, config: "wrangler.toml", bundle: null, deployments: [] });
  expect(text).toMatch(/\nwrangler\.toml was not checked completely\.\n$/);
});

describe("the command", () => {
  const check = (...args: string[]) => tidemark({ args: ["check", ...args], env: { PATH: process.env.PATH! } });

  test("exits with 0 and the size of the bundle if everything is right", async () => {
    const { exit, stdout } = await check("--config", join(folder, "wrangler.toml"));
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: expect.stringMatching(/bundle .* KiB gzipped\n.*can be deployed/),
    });
  });

  test("looks at the edge's own config beside that of an app on Workers", async () => {
    await writeFile(join(folder, "wrangler.jsonc"), '{ "name": "app", "main": "app.ts" }');
    await writeFile(join(folder, "wrangler.edge.toml"), "name = \n");
    const { exit, stderr } = await tidemark({ args: ["check"], env: { PATH: process.env.PATH! }, cwd: folder });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringContaining("wrangler.edge.toml:1:8: Invalid TOML"),
    });
  });

  test("says in JSON what a wrangler.json without main needs", async () => {
    const file = join(folder, "wrangler.json");
    await writeFile(file, '{ "name": "edge" }');
    const { exit, stdout } = await check("--config", file);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: expect.stringContaining('. Add "main": "worker.ts", or') });
  });

  test("as wrangler's build command, says where wrangler runs it", async () => {
    const env = { PATH: process.env.PATH!, WRANGLER_COMMAND: "versions upload" };
    const { exit, stderr } = await tidemark({ args: ["check"], env, cwd: join(folder, "test") });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringMatching(
        /there is no wrangler\.toml in .*test: wrangler runs .*: npx wrangler versions upload --cwd apps\/edge --config wr.*l\n$/,
      ),
    });
  });

  test("exits with 1 and the findings as JSON if something is wrong", { tags: ["deep"] }, async () => {
    await checkWith("tidemark.config.ts", "pass: true", "pas: true");
    const { exit, stdout } = await check("--json", "--config", join(folder, "wrangler.toml"));
    expect(exit).toBe(1);
    const message = expect.stringContaining("did you mean pass?");
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, findings: [{ level: "problem", message }] });
  });

  test.each([
    { args: ["--config", "none.toml"], words: "there is no none.toml. npx tidemark init writes one" },
    {
      args: ["--config", "wrangler.toml", "--env", "nope"],
      words: "wrangler.toml: there is no [env.nope]. Known: none",
    },
    { args: ["--config", "LICENSE"], words: "LICENSE cannot be checked: a wrangler config ends with .toml" },
    { args: ["--config", "docs"], words: "docs cannot be checked: a wrangler config ends with .toml" },
    { args: ["--confg", "a"], words: "unknown option" },
  ])(
    "ends with 2 for $args",
    async ({ args, words }) => {
      const { exit, stderr } = await check(...args);
      expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(words) });
    },
    60_000,
  );
});

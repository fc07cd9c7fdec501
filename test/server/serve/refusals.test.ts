import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tidemark } from "../../cli/run-command.ts";
import { freePort } from "../../suite/free-ports.ts";
import { makeCertificate } from "../connections/make-certificate.ts";
import { ServerProcess } from "./running-server.ts";

const ORIGIN = ["--origin", "http://127.0.0.1:8000"];

/** Notes of a shared log that are damaged, or another version's. */
const NOTES = [
  '{"machine":"m',
  "null",
  '{"machine":7,"position":null,"left":[]}',
  '{"machine":"m","position":null}',
  '{"machine":"m","position":null,"left":[7]}',
  '{"machine":"m","position":{"logId":"log","seq":"1","mark":""},"left":[]}',
  '{"machine":"m","position":{"logId":"log","seq":1},"left":[]}',
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  writeFileSync(join(folder, "file"), "");
  const mistaken = { origin: "http://127.0.0.1:8000", compression: { codings: ["deflate"] } };
  writeFileSync(join(folder, "mistaken.config.mjs"), `export default ${JSON.stringify(mistaken)};\n`);
  writeFileSync(join(folder, "service.config.mjs"), 'export default { origin: { service: "APP" } };\n');
  writeFileSync(join(folder, "socket.config.mjs"), 'export default { origin: "http://unix-socket.invalid" };\n');
  mkdirSync(join(folder, "folder"));
  writeFileSync(join(folder, "site.json"), '{ "origin": "http://127.0.0.1:8000" }');
  mkdirSync(join(folder, "unusable", "log", "purge-log.sqlite"), { recursive: true });
  mkdirSync(join(folder, "locked", "log"), { recursive: true });
  writeFileSync(join(folder, "locked", "log", "supervisor.lock"), "no lock");
  mkdirSync(join(folder, "shared", "log"), { recursive: true });
  writeFileSync(join(folder, "shared", "log", "shared-log.json"), "{}");
  for (const [index, text] of NOTES.entries()) {
    mkdirSync(join(folder, `noted-${index}`, "log"), { recursive: true });
    writeFileSync(join(folder, `noted-${index}`, "log", "shared-log.json"), text);
  }
  mkdirSync(join(folder, "marked", "pages", "files-1"), { recursive: true });
  writeFileSync(join(folder, "marked", "pages", "tidemark-cache.json"), "torn");
  mkdirSync(join(folder, "foreign", "pages"), { recursive: true });
  writeFileSync(join(folder, "foreign", "pages", "mine.txt"), "");
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Run {
  readonly code: number | null;
  readonly printed: string;
}

/** Runs `tidemark serve` in this process: what only checks, or is refused, starts nothing. */
async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Run> {
  const { exit, stdout, stderr } = await tidemark({ args: ["serve", ...args], env: environment, cwd: folder });
  return { code: exit, printed: stderr + stdout };
}

async function runAlone(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Run> {
  const server = new ServerProcess(folder, args, environment);
  const code = await server.ended();
  return { code, printed: server.printed };
}

interface Refusal {
  readonly name: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly words: readonly string[];
}

const HOSTS = { TIDEMARK_HOSTS: "www.example.test" };

const refusals: readonly Refusal[] = [
  {
    name: "hosts of the environment that are addresses",
    args: [...ORIGIN, "--check"],
    environment: { TIDEMARK_HOSTS: "https://www.example.test" },
    words: ["the settings are not valid", "  TIDEMARK_HOSTS: is not a host name", "https://www.example.test"],
  },
  {
    name: "a host with a star, which would be no host at all",
    args: [...ORIGIN, "--check"],
    environment: { TIDEMARK_HOSTS: "*.example.test" },
    words: [
      "TIDEMARK_HOSTS: matches only itself: name each host, or set TIDEMARK_HOSTS to * for any",
      "*.example.test",
    ],
  },
  {
    name: "an origin with a password, which is not printed",
    args: ["--check"],
    environment: { TIDEMARK_ORIGIN: "https://deploy:hunter2@origin.example.test" },
    words: ['the origin "https://…@origin.example.test" must be an address alone', "without a path, query or password"],
  },
  {
    name: "an origin with a path",
    args: ["--check", "--origin", "http://127.0.0.1:8000/app"],
    words: ['the origin "http://127.0.0.1:8000/app" must be an address alone', "without a path, query or password"],
  },
  {
    name: "an origin with a password and without a scheme, which is not printed either",
    args: ["--check"],
    environment: { TIDEMARK_ORIGIN: "deploy:hunter2@origin.example.test" },
    words: ['the origin "deploy:…@origin.example.test" is neither like'],
  },
  {
    name: "a coding that cannot be made",
    args: ["--config", "mistaken.config.mjs", "--check"],
    words: ["mistaken.config.mjs is not valid", 'compression.codings[0]: is none of "br", "gzip" and "zstd"'],
  },
  {
    name: "a worker in the origin's place",
    args: ["--config", "service.config.mjs", "--check"],
    words: ["origin names the service binding APP, which exists only on Workers", "--origin http://127.0.0.1:8000"],
  },
  {
    name: "the name that tidemark import writes for a socket, which no machine has",
    args: ["--config", "socket.config.mjs", "--check"],
    words: ['the origin "http://unix-socket.invalid" ', "with --origin or TIDEMARK_ORIGIN"],
  },
  {
    name: "an origin that is the server itself",
    args: ["--origin", "http://127.0.0.1:8091", "--listen", "8091", "--check"],
    words: [
      'tidemark: the settings are not valid: origin "http://127.0.0.1:8091" is an address of this server itself, which listens ' +
        "on localhost:8091: name the server behind it, or listen elsewhere with --listen",
    ],
  },
  {
    name: "an origin on the port at which the server listens unless told otherwise",
    args: ["--origin", "http://127.0.0.1:8080", "--check"],
    words: ["which listens on localhost:8080: name the server behind it, or listen elsewhere with --listen\n"],
  },
  {
    name: "an origin that is the server's own address with TLS",
    args: ["--origin", "https://localhost:8443", "--listen-tls", "*:8443", "--check"],
    environment: HOSTS,
    words: ["which listens on *:8443: name the server behind it, or listen elsewhere with --listen-tls\n"],
  },
  {
    name: "an origin that is the server's own socket",
    args: ["--origin", "unix:/run/edge.sock", "--listen", "unix:/run/edge.sock", "--check"],
    words: [
      'origin "unix:/run/edge.sock" is an address of this server itself, which listens on unix:/run/edge.sock: name',
    ],
  },
  {
    name: "an origin that is the server itself, among hosts that others know it by",
    args: ["--origin", "http://localhost:8091", "--listen", "*:8091", "--check"],
    environment: HOSTS,
    words: ['origin "http://localhost:8091" is an address of this server itself'],
  },
  {
    name: "a port that the system chooses, for this machine alone",
    args: [...ORIGIN, "--listen", "127.0.0.1:0", "--check"],
    words: ["with port 0 the address is not known in advance: name hosts, or choose a port."],
  },
  {
    name: "an access log in a folder that does not exist",
    args: [...ORIGIN, "--access-log", "nowhere/access.log"],
    words: ["the access log nowhere/access.log cannot be written", "there is no folder"],
  },
  {
    name: "a pid file in a folder that does not exist",
    args: [...ORIGIN, "--pid-file", "nowhere/tidemark.pid"],
    words: ["the pid file nowhere/tidemark.pid cannot be written: there is no folder"],
  },
  ...["at the start", "when the settings are checked"].flatMap((when, checks) => {
    const args = [...ORIGIN, ...(checks ? ["--check"] : []), "--cache"];
    return [
      {
        name: `a cache whose path is too long for the log's socket, ${when}`,
        args: [...args, "long".repeat(30)],
        words: ["too long for a Unix socket"],
      },
      {
        name: `a cache that has shared its log, ${when}`,
        args: [...args, "shared"],
        words: ["shared its purge log with others (--log)"],
      },
      {
        name: `a cache whose log cannot be opened, ${when}`,
        args: [...args, "unusable"],
        words: ["The purge log in", "it cannot be used"],
      },
      {
        name: `a cache with foreign files among its pages, ${when}`,
        args: [...args, "foreign"],
        words: ["is not empty and is not a cache of tidemark"],
      },
    ];
  }),
  {
    name: "a cache whose lock is damaged, and not its log",
    args: [...ORIGIN, "--cache", "locked"],
    words: [
      "tidemark: The lock ",
      "/locked/log/supervisor.lock is damaged. Delete it while no server runs on the folder.\n",
    ],
  },
  ...NOTES.map((text, index) => ({
    name: `a cache with ${text} as its note of a shared log`,
    args: [...ORIGIN, "--cache", `noted-${index}`, "--log", "postgres://nobody@127.0.0.1:9/none"],
    environment: HOSTS,
    words: [`/noted-${index}/log/shared-log.json is damaged, or another version wrote it`, "Delete it together with"],
  })),
  {
    name: "a cache whose mark is damaged",
    args: [...ORIGIN, "--cache", "marked"],
    words: ["is not a cache of tidemark (its tidemark-cache.json is damaged; a cache can be deleted)"],
  },
  {
    name: "an access log that is a folder",
    args: [...ORIGIN, "--access-log", "folder"],
    words: ["the access log folder cannot be written, because it is a folder"],
  },
  {
    name: "a format of no access log",
    args: [...ORIGIN, "--log-format", "json"],
    words: ["--log-format needs --access-log"],
  },
  {
    name: "a cache in a file, when the settings are checked",
    args: [...ORIGIN, "--check", "--cache", "file/cache"],
    words: ["the cache cannot be in file/cache", "is a file"],
  },
  {
    name: "a cache in a file, at the start",
    args: [...ORIGIN, "--cache", "file/cache"],
    words: ["cannot be used as a cache", "Name another one with --cache."],
  },
  {
    name: "a cache without a name, as of a variable that is not set",
    args: [...ORIGIN, "--check", "--cache", ""],
    words: ["option '--cache <folder>' argument '' is invalid. It is empty."],
  },
  ...["--config", "--sites", "--tls-folder", "--access-log", "--pid-file"].flatMap((flag) => [
    {
      name: `${flag} without a name, as of a variable that is not set`,
      args: [...ORIGIN, "--check", flag, ""],
      words: [`option '${flag} <f`, "argument '' is invalid. It is empty."],
    },
    {
      name: `${flag} with another flag in the place of its name`,
      args: [...ORIGIN, flag, "--check"],
      words: [`option '${flag} <f`, "argument '--check' is invalid. That is a flag; the value before it is missing."],
    },
  ]),
  {
    name: "a cache below /proc, at the start",
    args: [...ORIGIN, "--cache", "/proc/tidemark/cache"],
    words: ["/proc/tidemark/cache", "cannot be used as a cache"],
  },
  {
    name: "a cache below /proc without a disk tier, at the start",
    args: [...ORIGIN, "--disk", "0", "--cache", "/proc/tidemark/cache"],
    words: ["The purge log in /proc/tidemark/cache/log: it cannot be used"],
  },
  {
    name: "a cache below /proc, when the settings are checked",
    args: [...ORIGIN, "--check", "--cache", "/proc/tidemark/cache"],
    words: ["the cache cannot be in /proc/tidemark/cache: /"],
  },
  {
    name: "a unix socket in a folder that does not exist",
    args: [...ORIGIN, "--listen", "unix:/nowhere/edge.sock"],
    words: ["Cannot listen on /nowhere/edge.sock: its folder does not exist"],
  },
  {
    name: "a unix socket whose path is too long",
    args: [...ORIGIN, "--listen", `unix:/tmp/${"long".repeat(30)}`],
    words: ["longlong: the path is too long for a Unix socket; choose one of at most 99 bytes."],
  },
  {
    name: "an origin's socket with a relative path",
    args: ["--origin", "unix:app.sock", "--check"],
    words: ['the origin "unix:app.sock" needs an absolute path, like unix:/run/app.sock'],
  },
  {
    name: "a socket to listen on with a relative path",
    args: [...ORIGIN, "--listen", "unix:edge.sock", "--check"],
    words: ["A unix socket has an absolute path: unix:/run/edge.sock."],
  },
  ...["127.0.0.1:99999", "[::1]", "::1:8080", ""].map((address) => ({
    name: `an address without a port that exists: "${address}"`,
    args: [...ORIGIN, "--listen", address, "--check"],
    words: ["It must have a port, up to 65535: 8080, 127.0.0.1:8080, [::]:80 or *:80; or be like unix:/run/edge.sock."],
  })),
  ...(["--listen", "--listen-tls"] as const).map((option) => ({
    name: `an IPv6 zone in ${option}`,
    args: [...ORIGIN, option, "[fe80::1%eth0]:8080", "--check"],
    words: [
      "is invalid. An IPv6 zone, like %eth0, is not supported: leave it out. A link-local address needs one: listen on [::]:8080 instead.",
    ],
  })),
  {
    name: "a port as the dev command names it",
    args: [...ORIGIN, "--port", "8080"],
    words: ["error: there is no --port here: write --listen 8080\n"],
  },
  {
    name: "a folder of sites that does not exist",
    args: ["--sites", "nosites", "--check"],
    words: ["the sites cannot be read from nosites: there is no such folder."],
  },
  {
    name: "sites in a file",
    args: ["--sites", "file", "--check"],
    words: ["the sites cannot be read from file: it is a file, not a folder."],
  },
  ...(
    [
      ["*:8191", "0.0.0.0:8191"],
      ["127.0.0.1:8191", "[::]:8191"],
      ["0.0.0.0:8191", "localhost:8191"],
      ["localhost:8191", "127.0.0.1:8191"],
    ] as const
  ).map(([first, second]) => ({
    name: `two addresses of which one includes the other: ${first} and ${second}`,
    args: [...ORIGIN, "--listen", first, "--listen", second, "--check"],
    environment: HOSTS,
    words: [
      `tidemark: ${first} and ${second.replace("[::]", "*")} overlap: leave one out. Each address is either for http`,
    ],
  })),
  {
    name: "a socket that is named twice",
    args: [...ORIGIN, "--listen", "unix:/run/edge.sock", "--listen", "unix:/run/edge.sock"],
    words: ["tidemark: unix:/run/edge.sock is named twice: leave one out."],
  },
  {
    name: "a size in a unit that is none",
    args: [...ORIGIN, "--memory", "256mb", "--check"],
    words: ["It must be like 512MiB, 512m or 10GiB."],
  },
  {
    name: "a name without an address",
    args: [...ORIGIN, "--listen", "nowhere.invalid:8080"],
    environment: HOSTS,
    words: ["Cannot listen on nowhere.invalid: "],
  },
  {
    name: "an address that the machine does not have, when the settings are checked",
    args: [...ORIGIN, "--listen", "192.0.2.1:21099", "--check"],
    environment: HOSTS,
    words: ["Cannot listen on 192.0.2.1:21099: this machine does not have that address"],
  },
  ...[HOSTS, {}].map((hosts) => ({
    name: `a token that could be guessed, when the settings are checked, ${"TIDEMARK_HOSTS" in hosts ? "with" : "without"} hosts`,
    args: [...ORIGIN, "--check"],
    environment: { ...hosts, TIDEMARK_TOKEN: "hunter2" },
    words: ["TIDEMARK_TOKEN is weak", "The control plane stays closed until this is corrected."],
  })),
  {
    name: "named tokens that cannot be read, when the settings are checked",
    args: [...ORIGIN, "--check"],
    environment: { ...HOSTS, TIDEMARK_TOKENS: "[{}]" },
    words: ["TIDEMARK_TOKENS is not a JSON list", "The control plane stays closed until this is corrected."],
  },
];

describe("tidemark serve refuses in words, and with exit code 2:", () => {
  test.each(refusals)("$name", async ({ args, environment, words }) => {
    const { code, printed } = await run(args, environment);
    for (const each of words) expect(printed).toContain(each);
    expect(printed).not.toMatch(/^ +at /m); // no stack
    expect(printed).not.toContain("The settings are valid");
    expect(code).toBe(2);
  });

  test.each([
    ["", []],
    [", when the settings are checked", ["--check"]],
  ])("a unix socket in the place of a file%s", async (_, flags) => {
    const { code, printed } = await run([...ORIGIN, "--listen", `unix:${join(folder, "file")}`, ...flags]);
    expect(printed).toContain(`Cannot listen on ${join(folder, "file")}: there is a file that is not a socket.`);
    expect(code).toBe(2);
  });

  test("a port on which another process listens", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, printed } = await run([...ORIGIN, "--listen", `127.0.0.1:${port}`]);
    other.close();
    expect(printed).toBe(
      `tidemark: Cannot listen on 127.0.0.1:${port}: another process is listening there. Stop it, or choose another address with --listen.\n`,
    );
    expect(code).toBe(2);
  });
});

test.each([
  { name: "for this machine", environment: {} },
  { name: "for the host localhost", environment: { TIDEMARK_HOSTS: "localhost" } },
])("a server and its origin may both be on unix sockets, $name", async ({ environment }) => {
  const { code, printed } = await run(
    ["--origin", "unix:/run/app.sock", "--listen", "unix:/run/edge.sock", "--check"],
    {
      ...environment,
    },
  );
  expect(printed).toContain("The settings are valid");
  expect(code).toBe(0);
});

test("a misspelt variable is warned of, and no variable of the owner's", async () => {
  const owners = { TIDEMARK_DOOR_TOKEN: "a", TIDEMARK_OPTIONS: "b", TIDEMARK_PORT: "c", TIDEMARK_B_PORT: "d" };
  const environment = { ...HOSTS, ...owners, TIDEMARK_ORGIN: "http://127.0.0.1:8001", TIDEMARK_HOST: "a.test" };
  const { code, printed } = await run([...ORIGIN, "--check"], environment);
  expect(printed.match(/^.*unknown variable.*$/gm)).toEqual([
    "tidemark: TIDEMARK_ORGIN: unknown variable; did you mean TIDEMARK_ORIGIN?",
    "tidemark: TIDEMARK_HOST: unknown variable; did you mean TIDEMARK_HOSTS?",
  ]);
  expect(code).toBe(0);
});

test("settings without a token are valid, though nobody can purge", async () => {
  const { code, printed } = await runAlone([...ORIGIN, "--check"], HOSTS);
  expect(printed).toContain("TIDEMARK_TOKEN is not set, so nobody can purge.");
  expect(printed).toContain("The settings are valid");
  expect(code).toBe(0);
});

test("an origin without TLS may have the name of a server with TLS", async () => {
  const { chain, key } = makeCertificate(["localhost"]);
  writeFileSync(join(folder, "localhost.crt"), chain);
  writeFileSync(join(folder, "localhost.key"), key);
  const tls = ["--listen-tls", "localhost:443", "--tls-folder", "."];
  const { code, printed } = await run(["--origin", "http://localhost", ...tls, "--check"]);
  expect(printed).toContain("The settings are valid: origin http://localhost");
  expect(code).toBe(0);
});

test.each([
  { name: "the variable", flags: [], environment: HOSTS },
  { name: "the flag", flags: ["--hosts", "www.example.test"], environment: {} },
])("a config is valid whose Host needs hosts, if $name names them", async ({ flags, environment }) => {
  const site = '{ origin: "http://127.0.0.1:8000", forward: { host: "visitor" } }';
  const text = `import { defineSite } from "tidemark/worker";\nexport default defineSite(${site});\n`;
  writeFileSync(join(folder, "visitor.config.ts"), text);
  const { printed, code } = await run(["--config", "visitor.config.ts", ...flags, "--check"], environment);
  expect(printed).toMatch(/^The settings are valid: .*, hosts www\.example\.test\.$/m);
  expect(code).toBe(0);
  const alone = await run(["--config", "visitor.config.ts", "--check"]);
  expect(alone.printed).toMatch(/^ {2}forward\.host: "visitor" needs hosts: /m);
  expect(alone.code).toBe(2);
});

test("a second address of the origin that is the server itself is refused, too", { tags: ["deep"] }, async () => {
  const origin = '{ url: ["http://127.0.0.1:8000", "http://127.0.0.1:8091"] }';
  writeFileSync(join(folder, "two.config.mjs"), `export default { origin: ${origin} };\n`);
  const { code, printed } = await run(["--config", "two.config.mjs", "--listen", "8091", "--check"]);
  expect(printed).toContain('origin "http://127.0.0.1:8091" is an address of this server itself');
  expect(code).toBe(2);
});

describe("tidemark serve says of a config", () => {
  const refusalOf = async (text: string) => {
    writeFileSync(join(folder, "refused.config.ts"), text);
    const { code, printed } = await run(["--config", "refused.config.ts", "--check"]);
    expect(code).toBe(2);
    return printed;
  };

  test("in which line its syntax is wrong", async () => {
    const text = 'export default {\n  origin: "http://127.0.0.1:8000"\n  hosts: ["www.example.test"],\n};\n';
    expect(await refusalOf(text)).toMatch(/^tidemark: refused\.config\.ts:3: /);
  });

  test("in which line it throws", { tags: ["deep"] }, async () => {
    expect(await refusalOf('const name: string = "boom";\n\nthrow new Error(name);\n')).toBe(
      "tidemark: refused.config.ts:3: boom\n",
    );
  });

  test("and no line if there is none", { tags: ["deep"] }, async () => {
    expect(await refusalOf('throw "boom";\n')).toBe("tidemark: refused.config.ts: boom\n");
  });

  test("that it lacks the origin, as when a variable is not set", { tags: ["deep"] }, async () => {
    expect(await refusalOf('export default { origin: process.env.NOPE, hosts: ["www.example.test"] };\n')).toBe(
      "tidemark: refused.config.ts: origin is required: name it in this file, or with --origin or TIDEMARK_ORIGIN; found nothing\n",
    );
  });

  test("that it has no site", { tags: ["deep"] }, async () => {
    expect(await refusalOf("export const site = {};\n")).toContain("the file must end in export default defineSite(");
  });

  test.each([
    [
      "folder",
      "folder is a folder, and a config is a file. Docker makes such a folder where the file to mount does not exist: " +
        "remove the folder, and write the file.",
    ],
    [
      "site.json",
      "site.json has no name of a module. Write the site as one, with export default, into a file like tidemark.config.ts.",
    ],
  ])("that it cannot be %s", async (config, words) => {
    const { code, printed } = await run(["--config", config, "--check"]);
    expect(printed).toBe(`tidemark: ${words}\n`);
    expect(code).toBe(2);
  });

  test("that a file that it imports is wrong, and where", { tags: ["deep"] }, async () => {
    writeFileSync(join(folder, "broken.ts"), "export const a = 1;\nexport const = 2;\n");
    expect(await refusalOf('export { a as default } from "./broken.ts";\n')).toMatch(
      /^tidemark: refused\.config\.ts: .*broken\.ts:2: /,
    );
  });
});

describe("tidemark serve --sites says of NAME.env", () => {
  const check = (text: string) => {
    const sites = join(folder, "sites");
    mkdirSync(sites, { recursive: true });
    writeFileSync(join(sites, "shop.config.mjs"), 'export default { origin: "http://127.0.0.1:8000" };\n');
    writeFileSync(join(sites, "shop.env"), text);
    return run(["--sites", "sites", "--check"]);
  };
  const TOKEN = "the-token-of-shop-0123456789-abcdefghijkl";

  test("that it opens nothing to anybody, though the other site's does", { tags: ["deep"] }, async () => {
    const site = 'export default { origin: "http://127.0.0.1:8000", hosts: ["blog.test"] };\n';
    mkdirSync(join(folder, "sites"), { recursive: true });
    writeFileSync(join(folder, "sites", "blog.config.mjs"), site);
    writeFileSync(join(folder, "sites", "blog.env"), `TIDEMARK_TOKEN=${TOKEN}\n`);
    const { code, printed } = await check("TIDEMARK_TOKEN=hunter2\n");
    for (const ending of ["config.mjs", "env"]) rmSync(join(folder, "sites", `blog.${ending}`));
    expect(printed).toContain("site shop: TIDEMARK_TOKEN is weak");
    expect(printed).not.toContain("The settings are valid");
    expect(code).toBe(2);
  });

  test.each([
    `TIDEMARK_TOKEN=${TOKEN}#more\n`,
    `TIDEMARK_TOKEN=#${TOKEN}\n`,
    `TIDEMARK_HOSTS=shop.test\n  export TIDEMARK_TOKEN = ${TOKEN}#more # ours\n`,
  ])("that a value would end at its #: %j", async (text) => {
    const { code, printed } = await check(text);
    expect(printed).toContain("sites/shop.env: TIDEMARK_TOKEN has a # in its value: put the value in single quotes.");
    expect(code).toBe(2);
  });

  test.each([
    `TIDEMARK_TOKEN='${TOKEN}#more'\n`,
    `TIDEMARK_TOKEN = "${TOKEN}#more" # ours\n`,
    `TIDEMARK_TOKEN=${TOKEN} # ours, not TIDEMARK_TOKEN=a#b\n#TIDEMARK_TOKEN=a#b\nTIDEMARK_HOSTS= # none\n`,
  ])("nothing if its values are whole: %j", async (text) => {
    const { code, printed } = await check(text);
    expect(printed).not.toContain("#");
    expect(code).toBe(0);
  });
});

describe("tidemark serve --check, of valid settings,", () => {
  const check = async (config: string, ...args: readonly string[]): Promise<readonly string[]> => {
    writeFileSync(join(folder, "checked.config.mjs"), `export default ${config};\n`);
    const { code, printed } = await run(["--config", "checked.config.mjs", ...args, "--check"]);
    expect(code).toBe(0);
    return printed.trim().split("\n");
  };
  const CONFIG = '{ origin: "http://127.0.0.1:8000", routes: [{ match: "/a" }, { match: "/b", pass: true }] }';

  test("tells origin, config and hosts, and nothing else", async () => {
    const lines = await check(CONFIG, "--listen", `127.0.0.1:${await freePort()}`);
    expect(lines).toEqual([
      "The settings are valid: origin http://127.0.0.1:8000, 2 routes in checked.config.mjs, no hosts, so it would answer only this machine.",
    ]);
  });

  test("tells of a route that never matches, and of settings that do nothing", { tags: ["deep"] }, async () => {
    const routes = '[{ match: "/*" }, { match: "/admin/*", pass: true, ttl: "1h", tags: ["admin"] }]';
    const lines = await check(`{ origin: "http://127.0.0.1:8000", routes: ${routes} }`);
    expect(lines).toContain(
      "tidemark: routes[1]: /admin/* never matches, because routes[0], /*, comes first and matches all of it. Move it before that route, or remove it.",
    );
    expect(lines).toContain(
      "tidemark: routes[1]: /admin/* has pass: true and stores nothing, so these settings have no effect: ttl, tags.",
    );
  });

  test("tells of an expression that may take exponential time", async () => {
    const site = '{ origin: "http://127.0.0.1:8000", bypass: { cookies: [/(a+)+$/] } }';
    expect(await check(site)).toContain(
      "tidemark: bypass.cookies: /(a+)+$/ may take exponential time: one request could keep a worker busy until it is killed. Write it without nested quantifiers.",
    );
  });

  test("tells that a config cannot say how much memory pages have", { tags: ["deep"] }, async () => {
    const limited = (limits: string) => CONFIG.replace("{", `{ limits: ${limits},`);
    const warning = /^tidemark: limits\.memoryBytes has no effect here, .*--memory sets the memory for pages/;
    expect(await check(limited('{ memoryBytes: "64MiB" }'))).toContainEqual(expect.stringMatching(warning));
    expect(await check(limited("{ memoryBytes: 0 }"))).toContainEqual(expect.stringMatching(warning));
    expect(await check(limited('{ storeBytes: "1MiB" }'))).not.toContainEqual(expect.stringContaining("--memory"));
  });

  test("tells of more memory for pages than there is", async () => {
    const warning = /^tidemark: --workers \d+ and --memory 8000GiB may take 8\d\d\dGiB, but only /;
    expect(await check(CONFIG, "--memory", "8000GiB")).toContainEqual(expect.stringMatching(warning));
  });

  test("tells of HSTS without TLS, unless a proxy may say that there is TLS", { tags: ["deep"] }, async () => {
    const hsts = ["--hsts", "max-age=60"];
    expect(await check(CONFIG, ...hsts)).toContainEqual(
      expect.stringMatching(/^tidemark: --hsts has no effect, .*TLS/),
    );
    const trusting = CONFIG.replace("{", '{ trustedProxies: ["127.0.0.1"],');
    expect(await check(trusting, ...hsts)).not.toContainEqual(expect.stringContaining("--hsts"));
  });

  test("tells that deltas are for nobody where no page comes by https", { tags: ["deep"] }, async () => {
    const site = (rules: string) =>
      `{ origin: "http://127.0.0.1:8000", compression: {}, routes: [{ match: "/a" }, { match: "/*", deltas: true }], ${rules} }`;
    const warning = expect.stringMatching(
      /^tidemark: routes\[1\]: deltas has no effect, because no page comes by https/,
    );
    const listen = ["--listen", `127.0.0.1:${await freePort()}`];
    for (const rules of [
      'hosts: ["www.example.com"]',
      'hosts: ["www.example.com"], publicUrl: "http://www.example.com"',
    ]) {
      expect(await check(site(rules), ...listen)).toContainEqual(warning);
    }
    for (const rules of [
      "",
      'hosts: ["localhost:8080"]',
      'hosts: ["www.example.com"], publicUrl: "https://www.example.com"',
      'hosts: ["www.example.com"], trustedProxies: ["127.0.0.1"]',
    ]) {
      expect(await check(site(rules), ...listen)).not.toContainEqual(warning);
    }
  });

  test("tells of addresses on which others listen, of which one may be this server, and takes none from them", {
    tags: ["deep"],
  }, async () => {
    const used = join(folder, "used.sock");
    const others = [createServer().listen(0, "127.0.0.1"), createServer().listen(used)];
    await Promise.all(others.map((other) => once(other, "listening")));
    const { port } = others[0]!.address() as AddressInfo;
    const listen = ["--listen", `127.0.0.1:${port}`, "--listen", `unix:${used}`];
    const lines = await check(CONFIG, ...listen, "--listen", `unix:${join(folder, "unused.sock")}`);
    for (const other of others) other.close();
    expect(lines.slice(0, -1)).toEqual([
      `tidemark: Cannot listen on 127.0.0.1:${port}: another process is listening there.`,
      `tidemark: Cannot listen on ${used}: another process is listening there.`,
    ]);
    expect(readdirSync(folder)).not.toContainEqual(expect.stringContaining("unused"));
  });

  test("tells that the folder of a socket does not exist, which systemd may make at the start", async () => {
    const [line] = await check(CONFIG, "--listen", "unix:/nowhere/edge.sock");
    expect(line).toBe("tidemark: Cannot listen on /nowhere/edge.sock: its folder does not exist.");
  });

  test("tells that the origin's socket does not exist", { tags: ["deep"] }, async () => {
    const lines = await check(CONFIG, "--origin", "unix:/nope.sock", "--listen", `127.0.0.1:${await freePort()}`);
    expect(lines).toEqual([
      "tidemark: the origin's socket /nope.sock does not exist yet.",
      "The settings are valid: origin unix:/nope.sock, 2 routes in checked.config.mjs, no hosts, so it would answer only this machine.",
    ]);
  });
});

test("sizes may be written as nginx writes them", { tags: ["deep"] }, async () => {
  const { code } = await run([...ORIGIN, "--memory", "256m", "--disk", "10G", "--check"]);
  expect(code).toBe(0);
});

test("--check makes nothing", { tags: ["deep"] }, async () => {
  const before = readdirSync(folder);
  const { code } = await run([...ORIGIN, "--check", "--cache", "new/cache", "--access-log", "new.log"]);
  expect(code).toBe(0);
  expect(readdirSync(folder)).toEqual(before);
});

test("--check that is interrupted does not end as one that has found nothing wrong", { tags: ["deep"] }, async () => {
  const config =
    'process.kill(process.pid, "SIGTERM");\nawait new Promise((resolve) => setTimeout(resolve, 60_000));\n';
  writeFileSync(join(folder, "interrupted.config.mjs"), config);
  const { code } = await runAlone(["--check", "--config", "interrupted.config.mjs"]);
  expect(code).toBeNull();
});

test("a config in TypeScript is a module also where the package is CommonJS, with the files that it imports", {
  tags: ["deep"],
}, async () => {
  const site = join(folder, "folder");
  writeFileSync(join(site, "package.json"), '{ "type": "commonjs" }');
  writeFileSync(join(site, "routes.ts"), 'export const routes: object[] = [{ match: "/*", ttl: "60s" }];\n');
  const config = 'import { routes } from "./routes.ts";\nexport default { origin: "http://127.0.0.1:8000", routes };\n';
  writeFileSync(join(site, "tidemark.config.ts"), config);
  const { code, printed } = await run(["--check", "--config", "folder/tidemark.config.ts"]);
  expect(printed).toMatch(/^The settings are valid: origin http:\/\/127\.0\.0\.1:8000/m);
  expect(printed).not.toContain("Warning");
  expect(code).toBe(0);
});

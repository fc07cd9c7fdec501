import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { tidemark } from "../../cli/run-command.ts";
import { freePort } from "../../suite/free-ports.ts";

const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
afterAll(() => rmSync(folder, { recursive: true }));

const FILE = join(folder, "site.ts");
writeFileSync(FILE, `export default { origin: "http://127.0.0.1:1" };\n`);
/** It leads to itself. */
const LINK = join(folder, "link.ts");
symlinkSync(LINK, LINK);

describe("tidemark dev explains", () => {
  test.each<[string, string[], RegExp]>([
    [
      "a config that does not exist",
      ["--config", "nowhere.ts"],
      /there is no nowhere\.ts\. Name another file with --config/,
    ],
    ["a config that is a folder", ["--config", "test"], /test is a folder, and a config is a file\. Docker makes/],
    [
      "a config that no path leads to",
      ["--config", LINK],
      /link\.ts cannot be read: too many symbolic links encountered \(ELOOP\)\.\n/,
    ],
    ["an origin with a path", ["--origin", "http://localhost:8000/app"], /without a path/],
    [
      "an origin with a user and password",
      ["--origin", "https://user:secret@localhost:8000"],
      /cannot have a user and password\. .* originFields: \{ authorization: "Basic …" \}\.\n/,
    ],
    ["an origin with a password alone", ["--origin", "https://:secret@localhost:8000"], /user and password/],
    ["a port that is not a number", ["--port", "http"], /1 to 65535/],
    ["a port that is written in another way", ["--port", "1e4"], /1 to 65535/],
    ["a port that the system would choose", ["--port", "0"], /1 to 65535/],
    ["an address, as tidemark serve takes it", ["--listen", "127.0.0.1:9000"], /no --listen here: write --port 9000\n/],
    ["an unknown flag", ["--prot", "1"], /--port/],
    ["a misspelt flag", ["--latncy"], /Did you mean --latency\?/],
    ["an unknown region", ["--regions", "nyc,fro"], /no region fro\. Did you mean fra\? The regions are sfo, /],
    ["a region that is listed twice", ["--regions", "nyc,fra,nyc"], /nyc is listed twice/],
    ["a public address with a path", ["--public", "https://www.example.test/app"], /without a path/],
    ["latency without regions", ["--latency"], /--latency needs regions/],
    ["regions beyond the last port", ["--regions", "nyc,fra", "--port", "65535"], /choose a lower --port/],
    ["--json together with --quiet", ["--json", "--quiet"], /'--quiet' cannot be used with option '--json'/],
  ])("%s", async (_, args, expected) => {
    const config = args.includes("--config") ? [] : ["--config", FILE];
    const { exit, stderr } = await tidemark({ args: ["dev", ...config, ...args] });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringMatching(expected) });
  });

  test.each([
    ["throw null;", "it threw null"],
    ["throw undefined;", "it threw undefined"],
    ['throw "boom";', "boom"],
    ["throw { code: 7 };", "it threw { code: 7 }"],
    ["throw new TypeError();", "it threw a TypeError without a message"],
    ["throw new Error('boom');", "boom"],
    [
      "export default { origin: 5 };",
      'origin must be the address of the site, like "https://origin.example.com"; found 5',
    ],
    ["export default { origin: null };", /^origin must be .*; found null$/],
    ["export default { origin: { url: [] } };", /^origin must be .*; found \{"url":\[\]\}$/],
  ])("a config that says %s", async (text, expected) => {
    const file = join(folder, "wrong.ts");
    writeFileSync(file, `${text}\n${text.startsWith("throw") ? "export default {};\n" : ""}`);
    const { exit, stderr } = await tidemark({ args: ["dev", "--config", file] });
    const before = `tidemark: ${file}: `;
    expect({ exit, before: stderr.slice(0, before.length) }).toEqual({ exit: 2, before });
    expect(stderr.slice(before.length).trimEnd()).toEqual(
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    );
  });

  test.each<[string, object, string]>([
    ["main", { main: "one.js" }, "one"],
    ["module beside main", { main: "one.js", module: "two.js" }, "two"],
    ["an entry for workers", { type: "module", exports: { workerd: "./one.js", default: "./two.js" } }, "one"],
  ])("a config by what it imports from a package with %s, as the worker gets it", async (_, entries, expected) => {
    const own = mkdtempSync(join(folder, "own-"));
    const inPackage = join(own, "node_modules", "@acme", "shared");
    mkdirSync(inPackage, { recursive: true });
    writeFileSync(join(inPackage, "package.json"), JSON.stringify({ name: "@acme/shared", ...entries }));
    for (const name of ["one", "two"]) writeFileSync(join(inPackage, `${name}.js`), `export const origin = "${name}";`);
    writeFileSync(
      join(own, "site.ts"),
      'import { origin } from "@acme/shared";\nexport default { origin: { url: [[origin]] } };\n',
    );
    const { exit, stderr } = await tidemark({ args: ["dev", "--config", join(own, "site.ts")] });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(`found {"url":[["${expected}"]]}`) });
  });

  test("a mistake that is saved between the check of the config and the start", async () => {
    const file = join(folder, "saved.ts");
    const save = `process.getBuiltinModule("node:fs").writeFileSync(${JSON.stringify(file)}, "{{{")`;
    writeFileSync(file, `${save};\nexport default { origin: "http://127.0.0.1:1" };\n`);
    const port = String(await freePort());
    const { exit, stderr } = await tidemark({ args: ["dev", "--config", file, "--port", port] });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringMatching(/^tidemark: .*saved\.ts:1:\d+: [^\n]+\n$/),
    });
  });

  test("that --persist has no folder", async () => {
    const own = mkdtempSync(join(folder, "own-"));
    writeFileSync(join(own, ".tidemark"), "in the way");
    const { exit, stderr } = await tidemark({ args: ["dev", "--origin", "http://127.0.0.1:1", "--persist"], cwd: own });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringMatching(/^tidemark: --persist cannot keep .*\.tidemark/),
    });
  });

  test.each([
    ["TIDEMARK_PUBLIC_URL", "www.example.test"],
    ["TIDEMARK_ORIGIN", "localhost:8000"],
    ["TIDEMARK_ORIGIN", "https://deploy:hunter2@", "https://…@"],
    ["TIDEMARK_PORT", "http"],
  ])("an invalid setting of the environment: %s=%s", async (name, value, shown = value) => {
    const { exit, stderr } = await tidemark({ args: ["dev", "--config", FILE], env: { [name]: value } });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringContaining(`${name} is ${JSON.stringify(shown)}. It must be `),
    });
  });

  test("that this user may not listen on the port", async () => {
    const refused = Object.assign(new Error("listen EACCES: permission denied"), { code: "EACCES" });
    const listen = vi.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server) {
      queueMicrotask(() => this.emit("error", refused));
      return this;
    });
    try {
      const { exit, stderr } = await tidemark({ args: ["dev", "--config", FILE, "--port", "80"] });
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: "tidemark: this user may not listen on port 80. Choose another with --port, above 1023.\n",
      });
    } finally {
      listen.mockRestore();
    }
  });

  test("that there is neither a config nor an origin, and suggests --origin", async () => {
    const empty = mkdtempSync(join(folder, "empty-"));
    const { exit, stderr } = await tidemark({ args: ["dev"], cwd: empty });
    const words = /there is no tidemark\.config\.ts here, and no --origin\. Name your site, like --origin /;
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringMatching(words) });
  });

  test("every flag, with --help", async () => {
    const { exit, stdout } = await tidemark({ args: ["dev", "--help"] });
    expect(exit).toBe(0);
    for (const flag of ["origin", "port", "config", "public", "regions", "latency", "persist", "json", "quiet"]) {
      expect(stdout).toMatch(new RegExp(`^  --${flag} .*\\w`, "m"));
    }
  });
});

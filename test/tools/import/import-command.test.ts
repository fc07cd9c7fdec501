import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { run } from "../../packed/installed-package.ts";
import { MAIN } from "../../server/serve/running-server.ts";
import { inGate } from "../../suite/depth.ts";

const SOURCES = resolve("cli/main.ts");

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-import-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

const put = (file: string, text: string) => writeFileSync(join(folder, file), text);

const server = (body: string) => `http {\nserver {\nserver_name www.example.com;\n${body}\n}\n}\n`;
const CACHED = "proxy_pass http://10.0.0.1; proxy_cache c;";

describe("tidemark import", () => {
  const command = (...args: string[]) => run(process.execPath, [MAIN, ...args], { cwd: folder });
  const CONF = server(`location / { ${CACHED} proxy_cache_valid 200 1h; }\nlocation /x { deny all; }`);

  test("writes the config, and never replaces one without --force", async () => {
    put("nginx.conf", CONF);
    expect(await command("import", "nginx.conf")).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/nginx\.conf:5: deny all: .*written {4}tidemark\.config\.ts/s),
    });
    put("tidemark.config.ts", "// mine");
    expect(await command("import", "nginx.conf")).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("tidemark.config.ts exists already"),
    });
    expect(readFileSync(join(folder, "tidemark.config.ts"), "utf8")).toBe("// mine");
    expect(await command("import", "nginx.conf", "--force")).toMatchObject({ exit: 0 });
    expect(readFileSync(join(folder, "tidemark.config.ts"), "utf8")).toContain("defineSite");
    expect(readdirSync(folder).sort()).toEqual(["nginx.conf", "tidemark.config.ts"]);
  });

  test.each(["-", "/dev/stdin"])("reads what can be read only once: %s", async (file) => {
    put("nginx.conf", CONF);
    const piped = `cat nginx.conf | "$0" "$1" import ${file} --json`;
    const { exit, stdout } = await run("sh", ["-c", piped, process.execPath, MAIN], { cwd: folder });
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ site: { origin: "http://10.0.0.1" } });
  });

  test("--json prints one object, and writes nothing", { tags: ["deep"] }, async () => {
    put("nginx.conf", CONF);
    const { exit, stdout } = await command("import", "nginx.conf", "--json");
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      files: ["nginx.conf"],
      site: { origin: "http://10.0.0.1", hosts: ["www.example.com"] },
      differences: expect.arrayContaining([
        expect.objectContaining({ kind: "access", source: { place: "nginx.conf:5", text: "deny all" } }),
      ]),
    });
    expect(readdirSync(folder)).toEqual(["nginx.conf"]);
  });

  test.each(
    inGate(2, [
      { args: ["import", "none.conf"], exit: 1, words: "there is no file none.conf" },
      { args: ["import", "."], exit: 1, words: "is a folder" },
      { args: ["import", "nginx.conf", "--strict"], exit: 1, words: "kept visitors out" },
      { args: ["import"], exit: 2, words: "missing required argument" },
      { args: ["import", "nginx.conf", "--origin", "http://a/b"], exit: 2, words: "is not an address" },
      { args: ["import", "nginx.conf", "--outt", "x"], exit: 2, words: "unknown option" },
      {
        args: ["import", "nginx.conf", "--out", "none/x.ts"],
        exit: 1,
        words: "none/x.ts cannot be written: there is no folder none",
      },
      { args: ["init", "--import", "none.conf"], exit: 2, words: "there is no file none.conf" },
      {
        args: ["init", "--import", "nginx.conf", "--pass", "/a"],
        exit: 2,
        words: "leave out --pass with --import",
      },
      {
        args: ["init", "--import", "two.conf"],
        exit: 2,
        words: "run npx tidemark import two.conf --server NAME, which writes tidemark.config.ts",
      },
      {
        args: ["init", "--import", "lost.conf"],
        exit: 2,
        words: "run npx tidemark import lost.conf --root FOLDER, which writes tidemark.config.ts",
      },
    ]),
  )("$args ends with $exit, writes nothing and says $words", async ({ args, exit, words }) => {
    put("nginx.conf", CONF);
    put("two.conf", `${CONF}${CONF}`);
    put("lost.conf", "include lost/lost.conf;");
    expect(await command(...args)).toMatchObject({ exit, stderr: expect.stringContaining(words) });
    expect(readdirSync(folder).sort()).toEqual(["lost.conf", "nginx.conf", "two.conf"]);
  });

  test.each([
    { pass: "proxy_pass http://unix:/run/app.sock", flags: [], socket: "/run/app.sock" },
    { pass: "uwsgi_pass unix:/run/uwsgi.sock", flags: ["--origin", "unix:///run/app.sock"], socket: "/run/app.sock" },
    { pass: "proxy_pass http://10.0.0.1", flags: ["--origin", "unix:/run/b-1.sock"], socket: "/run/b-1.sock" },
  ])(
    "a socket ($pass, $flags) is named to tidemark serve, which takes it",
    { tags: ["deep"] },
    async ({ pass, flags, socket }) => {
      put("nginx.conf", server(`location / { ${pass}; ${pass.split("_")[0]}_cache c; }`));
      const written = await command("import", "nginx.conf", ...flags);
      expect(written).toMatchObject({ exit: 0, stdout: expect.stringContaining(`serve --origin unix:${socket}\n`) });
      // The written config imports the package, which the built command has not beside it.
      const serve = [SOURCES, "serve", "--origin", `unix:${socket}`, "--check"];
      const checked = await run(process.execPath, serve, { cwd: folder });
      expect(checked).toMatchObject({ exit: 0, stdout: expect.stringContaining("The settings are valid") });
    },
  );

  test("tidemark init --import writes no worker for a socket", { tags: ["deep"] }, async () => {
    put("nginx.conf", server("location / { proxy_pass http://unix:/run/app.sock; proxy_cache c; }"));
    expect(await command("init", "--import", "nginx.conf")).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/Workers cannot reach the socket unix:\/run\/app\.sock.*--origin/),
    });
    expect(readdirSync(folder)).toEqual(["nginx.conf"]);
  });

  test("tidemark init --import points from a VCL to the table, and writes nothing", { tags: ["deep"] }, async () => {
    put("nginx.conf", 'vcl 4.1;\nbackend b { .host = "10.0.0.1"; }');
    expect(await command("init", "--import", "nginx.conf")).toMatchObject({
      exit: 2,
      stdout: "",
      stderr: expect.stringMatching(/nginx\.conf is VCL, which is a program.*docs\/tools\.md, "From VCL to a route"/),
    });
    expect(readdirSync(folder)).toEqual(["nginx.conf"]);
  });

  test.each([
    ["the first page's location", `location / { ${CACHED} }`, "/hello"],
    ["one location", `location / { proxy_pass http://10.0.0.1; } location /static/ { ${CACHED} }`, "/static/hello"],
    ["one path", `location / { proxy_pass http://10.0.0.1; } location = /robots.txt { ${CACHED} }`, "/robots.txt"],
    ["files", `location / { proxy_pass http://10.0.0.1; } location ~* \\.(css|js)$ { ${CACHED} }`, "/hello.css"],
    ["no page named so", `location / { ${CACHED} } location ~ ello { proxy_pass http://10.0.0.1; }`, "/index.php"],
    ["an unusual path", `location / { proxy_pass http://10.0.0.1; } location ~ ^/v\\d$ { ${CACHED} }`, null],
    ["nothing", `location / { ${CACHED} deny all; }`, null],
  ])("tidemark init --import tests a page that the rules store: %s", async (_, body, stored) => {
    put("nginx.conf", server(body));
    const { exit } = await command("init", "--import", "nginx.conf");
    expect(exit).toBe(0);
    const text = readFileSync(join(folder, "test/edge.test.ts"), "utf8");
    expect(text.match(/(?<=purgeUrls\(").*(?="\))/)?.[0] ?? null).toBe(stored);
    expect(text.match(/toNeverStore\(.*\)/)?.[0]).toBe(stored === null ? 'toNeverStore("/hello")' : undefined);
  });

  test("tidemark init --import makes a project of it", { tags: ["deep"] }, async () => {
    put("nginx.conf", CONF);
    expect(await command("init", "--import", "nginx.conf")).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("Not carried over, although it kept visitors out"),
    });
    expect(readFileSync(join(folder, "tidemark.config.ts"), "utf8")).toContain(
      "nginx.conf:4: proxy_cache_valid 200 1h",
    );
    expect(readFileSync(join(folder, "wrangler.toml"), "utf8")).toContain("www.example.com");
    const again = await command("init", "--import", "nginx.conf");
    expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining("tidemark.config.ts exists already") });
  });
});

import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { listeningHandles } from "../../../bench/processes/listening-process.ts";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { createPurger } from "../../../sdk/index.ts";
import { tidemark } from "../../cli/run-command.ts";
import { makeCertificate } from "../connections/make-certificate.ts";
import { ServerProcess } from "./running-server.ts";

const TOKEN = "token-of-the-server-with-tls-0123456789";

describe("tidemark serve with TLS", () => {
  const origin = new ScriptedOrigin(() => Date.now());
  const running: ServerProcess[] = [];
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await origin.comeUp();
    put("a", ["www.example.test"]);
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()));
  });
  afterAll(async () => {
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  /** Writes a certificate and its key as `NAME.crt` and `NAME.key`. */
  function put(name: string, hosts: readonly string[], validUntil = new Date("2099-01-01")): void {
    const { chain, key } = makeCertificate(hosts, { validUntil });
    writeFileSync(join(folder, `${name}.crt`), chain);
    writeFileSync(join(folder, `${name}.key`), key);
  }
  const start = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const given = { TIDEMARK_HOSTS: "*", ...environment };
    const server = new ServerProcess(folder, ["--origin", origin.url, "--workers", "2", ...args], given);
    running.push(server);
    return server;
  };
  /** In this process: what is refused, or only checked, starts nothing. */
  const refused = (args: readonly string[]) =>
    tidemark({ args: ["serve", "--origin", origin.url, ...args], env: { TIDEMARK_HOSTS: "*" }, cwd: folder });
  const A = ["--listen-tls", "127.0.0.1:0", "--tls-cert", "a.crt", "--tls-key", "a.key"];
  const ACME = ["--acme", "you@example.com"];
  const portOf = async (server: ServerProcess) => Number((await server.prints(/https:\/\/127\.0\.0\.1:(\d+)/))[1]);
  const ask = async (port: number, path: string, options: RequestOptions = {}) => {
    const where = { host: "127.0.0.1", port, path, servername: "www.example.test", rejectUnauthorized: false };
    const sent = httpsRequest({ ...where, headers: { host: "www.example.test" }, ...options }).end();
    const [got] = await once(sent, "response");
    let body = "";
    for await (const piece of got) body += piece;
    return { status: got.statusCode, headers: got.headers, body };
  };
  /** The names of the certificate that some new connections see. */
  const namesSeen = async (port: number) => {
    const seen = new Set<string | undefined>();
    for (let turn = 0; turn < 8; turn++) {
      const socket = connect({ host: "127.0.0.1", port, servername: "www.example.test", rejectUnauthorized: false });
      await once(socket, "secureConnect");
      seen.add(socket.getPeerCertificate().subjectaltname);
      socket.destroy();
    }
    return [...seen];
  };

  test("tells the origin the scheme, and answers beside a listener without TLS", { tags: ["deep"] }, async () => {
    origin.reply("/page", { fields: { "cache-control": "max-age=60" }, body: "page" });
    const server = start([...A, "--listen", "127.0.0.1:0", "--hsts", "max-age=600"]);
    const port = await portOf(server);
    const [, plain] = await server.prints(/http:\/\/127\.0\.0\.1:(\d+)/);
    const answer = await ask(port, "/page");
    expect(answer).toMatchObject({
      status: 200,
      body: "page",
      headers: { "strict-transport-security": "max-age=600" },
    });
    expect(origin.seen.at(-1)!.fields["x-forwarded-proto"]).toBe("https");
    const sent = httpRequest({ host: "127.0.0.1", port: Number(plain), path: "/page" }).end();
    const [got] = await once(sent, "response");
    got.resume();
    expect(got.headers["strict-transport-security"]).toBeUndefined();
    expect(origin.seen.at(-1)!.fields["x-forwarded-proto"]).toBe("http");
  });

  test("sends clients to https by setting", { tags: ["deep"] }, async () => {
    const server = start([...A, "--listen", "127.0.0.1:0", "--redirect-to-https"], {
      TIDEMARK_HOSTS: "www.example.test",
    });
    await portOf(server);
    const [, plain] = await server.prints(/http:\/\/127\.0\.0\.1:(\d+)/);
    const host = `www.example.test:${plain}`;
    const sent = httpRequest({ host: "127.0.0.1", port: Number(plain), path: "/a?b", headers: { host } }).end();
    const [got] = await once(sent, "response");
    got.resume();
    expect([got.statusCode, got.headers.location]).toEqual([308, "https://www.example.test/a?b"]);
  });

  test("a purge by the plain address of a server that redirects fetches the page of https again", async () => {
    origin.reply("/again", { fields: { "cache-control": "max-age=600" }, body: "page" });
    const server = start([...A, "--listen", "127.0.0.1:0", "--redirect-to-https", "--workers", "1"], {
      TIDEMARK_HOSTS: "www.example.test",
      TIDEMARK_TOKEN: TOKEN,
    });
    const port = await portOf(server);
    const [, plain] = await server.prints(/http:\/\/127\.0\.0\.1:(\d+)/);
    await ask(port, "/again");
    const edge = createPurger({ endpoint: `http://127.0.0.1:${plain}`, token: TOKEN });
    const { refreshed } = await edge.purge({ urls: ["/again"], refresh: true });
    expect(refreshed).toMatchObject([{ url: "https://www.example.test/again", status: 200 }]);
    const fetched = origin.seen.filter(({ target }) => target === "/again");
    expect(fetched.map(({ fields }) => fields["x-forwarded-proto"])).toEqual(["https", "https"]);
  });

  test("reads certificates again on SIGHUP, in all workers, while answers go on; a broken one changes nothing", async () => {
    put("b", ["first.test"]);
    origin.reply("/slow", { body: "x".repeat(200_000) });
    const server = start(["--listen-tls", "127.0.0.1:0", "--tls-cert", "b.crt", "--tls-key", "b.key"]);
    const port = await portOf(server);
    expect(await namesSeen(port)).toEqual(["DNS:first.test"]);

    // An answer that the client has not read to its end when the certificates change.
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
    const where = { host: "127.0.0.1", port, path: "/slow", agent, headers: { host: "www.example.test" } };
    const [slow] = await once(httpsRequest(where).end(), "response");

    writeFileSync(join(folder, "b.crt"), "-----BEGIN CERTIFICATE-----\nAAAA");
    server.child.kill("SIGHUP");
    await server.prints(/the old settings stay in use: the certificate b\.crt cannot be used: it is not a certificate/);
    expect(await namesSeen(port)).toEqual(["DNS:first.test"]);

    put("b", ["second.test"], new Date(Date.now() + 5 * 86_400_000));
    server.child.kill("SIGHUP");
    await server.prints(/the new settings are in use/);
    await server.prints(/b\.crt \(second\.test\) expires in [45] days/);
    let bytes = 0;
    for await (const piece of slow) bytes += piece.length;
    expect(bytes).toBe(200_000);
    agent.destroy();
    for (let seen: unknown[] = []; seen.length !== 1 || seen[0] !== "DNS:second.test"; ) seen = await namesSeen(port);
  });

  test("uses renewed certificates also while the config has a mistake, which alone changes nothing", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    put("c", ["first.test"]);
    writeFileSync(join(folder, "site.config.mjs"), "export default {};\n");
    const files = ["--config", "site.config.mjs", "--tls-cert", "c.crt", "--tls-key", "c.key", "--cache", "mistaken"];
    const server = start(["--listen-tls", "127.0.0.1:0", ...files]);
    const port = await portOf(server);
    writeFileSync(join(folder, "site.config.mjs"), "export default { rutes: [] };\n");
    await server.prints(/the old settings stay in use: .*rutes/s);
    put("c", ["second.test"]);
    const from = server.printed.length;
    server.child.kill("SIGHUP");
    const [said] = await server.prints(/the old settings stay in use.*rutes/s, from);
    expect(said).toMatch(/^the old settings stay in use, but with the new certificates: /);
    await server.prints(/the new settings are in use/, from);
    await server.hasRetired(2);
    expect(await namesSeen(port)).toEqual(["DNS:second.test"]);
  });

  test("takes new rules into use beside a broken certificate, and that without a signal once it is mended", async () => {
    put("d", ["first.test"]);
    const rules = (value: string) =>
      writeFileSync(join(folder, "d.config.mjs"), `export default { originFields: { "x-rules": "${value}" } };\n`);
    rules("old");
    const files = ["--config", "d.config.mjs", "--tls-cert", "d.crt", "--tls-key", "d.key", "--cache", "broken"];
    const server = start(["--listen-tls", "127.0.0.1:0", ...files, "--workers", "1"]);
    const port = await portOf(server);
    writeFileSync(join(folder, "d.key"), "half");
    rules("new");
    await server.prints(/the old certificates stay in use, but with the new settings: the key d\.key cannot be used/);
    await server.prints(/the new settings are in use/);
    await server.hasRetired(1);
    await ask(port, "/beside-a-broken-certificate");
    expect(origin.seen.at(-1)!.fields["x-rules"]).toBe("new");
    expect(await namesSeen(port)).toEqual(["DNS:first.test"]);
    const from = server.printed.length;
    put("d", ["second.test"]);
    await server.prints(/the new settings are in use/, from);
    await server.hasRetired(2);
    expect(await namesSeen(port)).toEqual(["DNS:second.test"]);
  });

  test("resumes sessions that began before a reload", { tags: ["deep"] }, async () => {
    const server = start(A);
    const port = await portOf(server);
    const where = { host: "127.0.0.1", port, servername: "www.example.test", rejectUnauthorized: false };
    const first = connect({ ...where, maxVersion: "TLSv1.2" });
    const [session] = await once(first, "session");
    first.destroy();
    server.child.kill("SIGHUP");
    await server.prints(/the new settings are in use/);
    const next = connect({ ...where, maxVersion: "TLSv1.2", session });
    await once(next, "secureConnect");
    expect(next.isSessionReused()).toBe(true);
    next.destroy();
  });

  test("serves each name with its certificate of a folder", { tags: ["deep"] }, async () => {
    const live = join(folder, "live");
    for (const name of ["one.test", "two.test"]) {
      const { chain, key } = makeCertificate([name]);
      mkdirSync(join(live, name), { recursive: true });
      writeFileSync(join(live, name, "fullchain.pem"), chain);
      writeFileSync(join(live, name, "privkey.pem"), key);
    }
    const port = await portOf(start(["--listen-tls", "127.0.0.1:0", "--tls-folder", "live"]));
    for (const servername of ["one.test", "two.test"]) {
      const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false });
      await once(socket, "secureConnect");
      expect(socket.getPeerCertificate().subjectaltname).toBe(`DNS:${servername}`);
      socket.destroy();
    }
  });

  test.skipIf(platform() !== "linux")(
    "accepts from several handles, also without TLS (read from /proc)",
    { tags: ["deep"] },
    async () => {
      const server = start([...A, "--listen", "127.0.0.1:0"]);
      const [, pid] = await server.prints(/worker-1 \(process (\d+)\) accepts/);
      const [, plain] = await server.prints(/http:\/\/127\.0\.0\.1:(\d+)/);
      expect(listeningHandles(await portOf(server), Number(pid))).toBe(16);
      expect(listeningHandles(Number(plain), Number(pid))).toBe(8); // two workers share them
    },
  );

  test.each([
    ["an address without certificates", ["--listen-tls", "127.0.0.1:0"], /--tls-cert fullchain\.pem/],
    ["a certificate without a key", ["--listen-tls", "127.0.0.1:0", "--tls-cert", "a.crt"], /needs its --tls-key/],
    [
      "a key that is not there",
      [...A.slice(0, 4), "--tls-key", "none.key"],
      /none\.key cannot be used: it does not exist/,
    ],
    ["a redirect to nowhere", ["--listen", "127.0.0.1:0", "--redirect-to-https"], /redirect clients forever/],
    [
      "an address with TLS and without it",
      ["--listen", "127.0.0.1:8443", "--listen-tls", "127.0.0.1:8443"],
      /127\.0\.0\.1:8443 is named twice: leave one out\. Each address is either for http, as --listen, or for https, as --listen-tls\./,
    ],
    ["another status", [...A, "--redirect-to-https", "302"], /301 or 308/],
    ["an HSTS that is none", [...A, "--hsts", "1 year"], /max-age=31536000/],
    ["a preload that browsers would refuse", [...A, "--hsts", "max-age=60; preload"], /needs includeSubDomains/],
    [
      "a preload for less than a year",
      [...A, "--hsts", "max-age=31535999; includeSubDomains; preload"],
      /a max-age of a year: 31536000/,
    ],
    ["a PROXY header that anybody could send", ["--listen", "127.0.0.1:0", "--proxy-protocol"], /needs trustedProxies/],
    ["TLS on a unix socket", ["--listen-tls", "unix:/run/edge.sock"], /\*:443/],
    ["ACME beside certificates", [...A, ...ACME], /--acme orders .* leave out --tls-cert/],
    ["ACME for any host", ACME, /a certificate for each public host, but there is none\. Name them: --hosts/],
    [
      "ACME for hosts that the internet does not know",
      [...ACME, "--hosts", "localhost,box.local"],
      /there is none among localhost, box\.local\./,
    ],
    ["an address to write to that is none", ["--acme", "you"], /you@example\.com/],
    ["an authority without TLS", [...ACME, "--acme-directory", "http://ca.test/dir"], /the https URL of a directory/],
    [
      "an authority of which nothing is ordered",
      ["--acme-directory", "https://ca.test/dir"],
      /--acme you@example\.com/,
    ],
  ])("refuses %s in words", async (_, args, words) => {
    const { exit, stderr } = await refused(args);
    expect(exit).not.toBe(0);
    expect(stderr.replace(/\s+/g, " ")).toMatch(words);
  });

  test("takes ACME without addresses, which are then those that authorities and browsers ask at", async () => {
    const { exit, stdout, stderr } = await refused(["--check", ...ACME, "--hosts", "www.example.com,localhost"]);
    expect(exit).toBe(0);
    expect(stdout).toContain("hosts www.example.com, localhost");
    expect(stderr).toContain("no certificate is ordered for localhost, because these are not public host names.");
  });

  test("takes ACME beside addresses without TLS, and redirects to that of TLS", async () => {
    const args = ["--check", "--listen", "127.0.0.1:0", ...ACME, "--hosts", "www.example.com", "--redirect-to-https"];
    expect(await refused(args)).toMatchObject({ exit: 0 });
  });

  test("orders for the hosts of all sites, but not for those that a config does not name", async () => {
    const sites = join(folder, "sites");
    mkdirSync(sites);
    for (const [name, hosts] of [
      ["one", "www.example.com"],
      ["two", "*"],
    ]) {
      writeFileSync(join(sites, `${name}.config.ts`), 'export default { origin: "http://127.0.0.1:1" };\n');
      writeFileSync(join(sites, `${name}.env`), `TIDEMARK_HOSTS=${hosts}\n`);
    }
    const checked = await tidemark({ args: ["serve", "--check", "--sites", "sites", ...ACME], env: {}, cwd: folder });
    expect(checked).toMatchObject({ exit: 0 });
    expect(checked.stderr).toContain("--acme orders no certificates for hosts that no config names.");
  });

  test("takes hosts of one site only", async () => {
    const args = ["serve", "--sites", "sites", "--hosts", "www.example.com", ...ACME];
    expect((await tidemark({ args, env: {}, cwd: folder })).stderr).toContain(
      "with --sites, name them in each site's config",
    );
  });

  test("says at once which public hosts have no certificate", async () => {
    const { exit, stderr } = await refused([
      "--check",
      ...A,
      "--hosts",
      "www.example.test,shop.example.test,localhost",
    ]);
    expect(exit).toBe(0);
    expect(stderr).toContain("no certificate names shop.example.test: browsers are shown another one there");
  });

  test("takes the directives of HSTS in any case", async () => {
    expect(await refused(["--check", ...A, "--hsts", "Max-Age=31536000; includesubdomains; PRELOAD"])).toMatchObject({
      exit: 0,
    });
  });

  test("says at once what is wrong with a certificate that has expired", async () => {
    put("old", ["www.example.test"], new Date("2021-01-01"));
    const args = ["--check", "--listen-tls", "127.0.0.1:0", "--tls-cert", "old.crt", "--tls-key", "old.key"];
    const { exit, stderr } = await refused(args);
    expect(exit).toBe(0);
    expect(stderr).toContain("old.crt (www.example.test) expired at 2021-01-01T00:00:00.000Z");
  });
});

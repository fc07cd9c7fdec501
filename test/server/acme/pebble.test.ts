import { randomBytes, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { freePort } from "../../suite/free-ports.ts";
import { until } from "../../suite/until.ts";
import { makeCertificate } from "../connections/make-certificate.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { Pebble, type PebbleWishes, whyNoPebble } from "./pebble.ts";

const missing = await whyNoPebble();
const NOT_RUN = `certificates by ACME are not ordered from Pebble: ${missing}`;
const NAME = "www.example.test";
const TOKEN = randomBytes(32).toString("base64");
const DAY = 86_400_000;

describe.skipIf(missing !== null)(missing === null ? "tidemark serve --acme, with Pebble" : NOT_RUN, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let pebble: Pebble;
  let folder: string;
  const running: ServerProcess[] = [];

  beforeAll(async () => {
    await origin.comeUp();
    origin.reply("/", { body: "page" });
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()));
    await pebble.remove();
    rmSync(folder, { recursive: true });
  });
  afterAll(() => origin.goDown());

  const prepare = async (wishes: PebbleWishes = {}) => {
    pebble = await Pebble.prepare(wishes);
  };
  const serve = (args: readonly string[] = [], hosts = NAME, environment = {}) => {
    const authority = ["--acme", "you@example.com", "--acme-directory", pebble.directory, "--hosts", hosts];
    const server = new ServerProcess(
      folder,
      ["--origin", origin.url, "--workers", "2", "--cache", "cache", "--disk", "0", ...authority, ...args],
      { NODE_EXTRA_CA_CERTS: pebble.authorityFile, ...environment },
    );
    running.push(server);
    return server;
  };
  /** The listener with TLS is where the authority looks for it. */
  const byTls = () => ["--listen-tls", `127.0.0.1:${pebble.tlsPort}`];
  const kept = () => {
    const [authority] = readdirSync(join(folder, "cache/acme"));
    return join(folder, "cache/acme", authority!);
  };
  const certificateOf = (name = NAME) => readFileSync(join(kept(), `${name}.pem`), "utf8");

  /** What a visitor gets who trusts the authority. Rejects if the connection fails. */
  const visit = async (
    servername = NAME,
    version: "TLSv1.2" | "TLSv1.3" = "TLSv1.3",
    port = pebble.tlsPort,
    path = "/",
  ) => {
    const ca = await pebble.root();
    const where = { host: "127.0.0.1", port, path, servername, ca, minVersion: version, maxVersion: version };
    const headers = { host: servername, authorization: `Bearer ${TOKEN}` };
    const sent = httpsRequest({ ...where, agent: false, headers }).end();
    const [answer] = await once(sent, "response");
    let body = "";
    for await (const piece of answer) body += piece;
    return `${answer.statusCode} ${body}`;
  };
  const serialSeen = async (servername = NAME) => {
    const socket = connect({ host: "127.0.0.1", port: pebble.tlsPort, servername, rejectUnauthorized: false });
    await once(socket, "secureConnect");
    const { serialNumber } = socket.getPeerX509Certificate()!;
    socket.destroy();
    return serialNumber;
  };
  const serialOf = (pem: string) => new X509Certificate(pem).serialNumber;
  /** Resolves when a visitor gets the page. Workers that are being replaced may take a few connections more. */
  const isServed = (...visited: Parameters<typeof visit>) =>
    until(() =>
      visit(...visited).then(
        (got) => got === "200 page",
        () => false,
      ),
    );
  const NEW = /there is a new certificate for www\.example\.test, valid until/;

  test("gets a certificate by TLS-ALPN-01 if only port 443 is open, for TLS 1.2 and 1.3", async () => {
    await prepare();
    await pebble.start();
    const server = serve(["--workers", "1", ...byTls()]);
    await server.prints(NEW);
    await server.prints(/the new settings are in use/);
    await isServed(NAME, "TLSv1.2");
    await isServed(NAME, "TLSv1.3");
    const modes = readdirSync(kept()).map((file) => [file, statSync(join(kept(), file)).mode & 0o777]);
    expect(Object.fromEntries(modes)).toEqual({
      "account.key": 0o600,
      "attempts.json": 0o600,
      [`${NAME}.pem`]: 0o600,
    });
    expect(statSync(kept()).mode & 0o777).toBe(0o700);
  });

  test("has no answer over TLS before that, still redirects to https, and gets a certificate by HTTP-01", {
    tags: ["deep"],
  }, async () => {
    await prepare();
    const port = await freePort();
    const http = ["--listen", `127.0.0.1:${pebble.httpPort}`, "--redirect-to-https"];
    const server = serve(["--listen-tls", `127.0.0.1:${port}`, ...http]);
    await server.prints(
      /there is no certificate for www\.example\.test: https:\/\/localhost:\d+\/dir cannot be used: .*ECONNREFUSED/,
    );
    for (const options of [{}, { ALPNProtocols: ["h2", "http/1.1"] }, { maxVersion: "TLSv1.2" } as const]) {
      const socket = connect({ host: "127.0.0.1", port, servername: NAME, rejectUnauthorized: false, ...options });
      await expect(once(socket, "secureConnect")).rejects.toThrow(/alert/i);
    }
    const headers = { host: `${NAME}:${pebble.httpPort}` };
    const sent = httpRequest({ host: "127.0.0.1", port: pebble.httpPort, path: "/a", headers }).end();
    const [answer] = await once(sent, "response");
    answer.resume();
    expect([answer.statusCode, answer.headers.location]).toEqual([308, `https://${NAME}/a`]);

    await pebble.start();
    server.signal("SIGHUP");
    await server.prints(NEW);
    // The port at which the authority looks for TLS-ALPN-01 is nobody's.
    expect(pebble.printed).toMatch(/set INVALID by completed challenge[\s\S]*set VALID by completed challenge/);
    expect(pebble.printed).toContain("/.well-known/acme-challenge/");
    await isServed(NAME, "TLSv1.3", port);
  });

  test("reuses account and certificate after a restart, and orders for an added host", {
    tags: ["deep"],
  }, async () => {
    await prepare();
    await pebble.start();
    const first = serve(byTls());
    await first.prints(NEW);
    await first.stop();
    const certificate = certificateOf();

    const second = serve(byTls(), `${NAME},example.test`);
    await second.prints(/there is a new certificate for example\.test/);
    await second.prints(/the new settings are in use/);
    expect(certificateOf()).toBe(certificate);
    expect(pebble.printed).toContain("There are now 2 orders in the db");
    expect(pebble.printed).not.toContain("There are now 3 orders in the db");
    expect(pebble.printed).toContain("There are now 1 accounts in memory");
    expect(pebble.printed).not.toContain("There are now 2 accounts in memory");
    await isServed("example.test");
    await isServed();
  });

  test("renews when the authority suggests it, also after an upgrade, and names what is replaced", {
    tags: ["deep"],
  }, async () => {
    await prepare();
    await pebble.start();
    const server = serve(byTls(), NAME, { TIDEMARK_TOKEN: TOKEN });
    await server.prints(NEW);
    await server.prints(/the new settings are in use/);
    await server.upgrade();
    const old = certificateOf();
    await pebble.suggest(old, new Date(Date.now() - 2 * DAY), new Date(Date.now() - DAY));
    const from = server.printed.length;
    server.signal("SIGHUP");
    await server.prints(NEW, from);
    expect(serialOf(certificateOf())).not.toBe(serialOf(old));
    expect(pebble.printed.match(/is a replacement of/g)).toHaveLength(1);
    await until(async () => (await serialSeen()) === serialOf(certificateOf()));
    await isServed();
    const file = join(realpathSync(kept()), `${NAME}.pem`);
    const expires = Date.parse(new X509Certificate(certificateOf()).validTo) / 1000;
    const line = `tidemark_certificate_expiry_timestamp_seconds{file="${file}"} ${expires}\n`;
    // They tell of the settings of all workers, so the reload has to be over.
    await until(async () => (await visit(NAME, "TLSv1.3", pebble.tlsPort, "/_tidemark/metrics")).includes(line));
  });

  test("keeps the old certificate while the authority is away, and warns; renews from one that has forgotten it", {
    tags: ["deep"],
  }, async () => {
    await prepare();
    await pebble.start();
    const first = serve(byTls());
    await first.prints(NEW);
    await first.stop();
    await pebble.stop();
    const [validFrom, validUntil] = [new Date(Date.now() - 35 * DAY), new Date(Date.now() + 10 * DAY + 60_000)];
    const { chain, key } = makeCertificate([NAME], { validFrom, validUntil, authorityKey: Buffer.from("authority") });
    writeFileSync(join(kept(), `${NAME}.pem`), key + chain);

    const server = serve(byTls());
    await server.prints(
      /the certificate for www\.example\.test expires in 10 days, and could not be renewed: .* The next attempt is at 20/,
    );
    expect(await serialSeen()).toBe(serialOf(chain));
    expect(serialOf(certificateOf())).toBe(serialOf(chain));

    await pebble.start();
    server.signal("SIGHUP");
    await server.prints(NEW);
    await isServed();
  });

  test("gets certificates for the other hosts if the authority refuses one", { tags: ["deep"] }, async () => {
    await prepare({ blocked: ["blocked.test"] });
    await pebble.start();
    const server = serve(byTls(), `blocked.test,${NAME},localhost`);
    await server.prints(/no certificate is ordered for localhost, because these are not public host names/);
    await server.prints(/there is no certificate for blocked\.test: the authority says rejectedIdentifier: /);
    await server.prints(NEW);
    await isServed();
  });
});

import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { until } from "../../suite/until.ts";
import { ServerProcess } from "../serve/running-server.ts";
import { Pebble, type PebbleWishes, whyNoPebble } from "./pebble.ts";

const missing = await whyNoPebble();
const NOT_RUN = `certificates by ACME are not ordered from Pebble: ${missing}`;
const NAME = "www.example.test";

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
  const serve = (args: readonly string[] = [], hosts = NAME) => {
    const authority = ["--acme", "you@example.com", "--acme-directory", pebble.directory, "--hosts", hosts];
    const server = new ServerProcess(
      folder,
      ["--origin", origin.url, "--workers", "2", "--cache", "cache", "--disk", "0", ...authority, ...args],
      { NODE_EXTRA_CA_CERTS: pebble.authorityFile },
    );
    running.push(server);
    return server;
  };
  const byTls = () => ["--listen-tls", `127.0.0.1:${pebble.tlsPort}`];
  const byHttp = () => ["--listen", `127.0.0.1:${pebble.httpPort}`];
  const kept = () => {
    const [authority] = readdirSync(join(folder, "cache/acme"));
    return join(folder, "cache/acme", authority!);
  };
  const certificateOf = (name = NAME) => readFileSync(join(kept(), `${name}.pem`), "utf8");
  const isInUse = (server: ServerProcess, from = 0) => server.prints(/the new settings are in use/, from);

  /** What a visitor gets who trusts the authority, or why it gets nothing. */
  const visit = async (version: "TLSv1.2" | "TLSv1.3" = "TLSv1.3", servername = NAME) => {
    const ca = await pebble.root();
    const where = { host: "127.0.0.1", port: pebble.tlsPort, servername, ca, minVersion: version, maxVersion: version };
    const sent = httpsRequest({ ...where, agent: false, headers: { host: servername } }).end();
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

  test("gets a certificate by TLS-ALPN-01 where port 443 alone is open, for TLS 1.2 and 1.3, and uses it again", async () => {
    await prepare();
    await pebble.start();
    const server = serve(byTls());
    await server.prints(/there is a new certificate for www\.example\.test, valid until/);
    await isInUse(server);
    await until(async () => (await serialSeen().catch(() => null)) === serialOf(certificateOf()));
    expect([await visit("TLSv1.2"), await visit("TLSv1.3")]).toEqual(["200 page", "200 page"]);
    const modes = readdirSync(kept()).map((file) => [file, statSync(join(kept(), file)).mode & 0o777]);
    expect(Object.fromEntries(modes)).toEqual({
      "account.key": 0o600,
      "attempts.json": 0o600,
      [`${NAME}.pem`]: 0o600,
    });
    expect(statSync(kept()).mode & 0o777).toBe(0o700);
    expect(pebble.printed).toContain("There are now 1 orders in the db");

    await server.stop();
    await serve(byTls()).prints(/accepts connections/);
    expect(await visit()).toBe("200 page");
    expect(pebble.printed).not.toContain("There are now 2 orders in the db");
  });
});

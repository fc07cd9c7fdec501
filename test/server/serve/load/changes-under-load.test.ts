import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { byDepth } from "../../../suite/depth.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { breath, until } from "../../../suite/until.ts";
import { makeCertificate } from "../../connections/make-certificate.ts";
import { ServerProcess } from "../running-server.ts";
import { Http2Visitor, noFates, type Wish } from "./http2-visitor.ts";
import { OwnPauses } from "./own-pauses.ts";

const ROUNDS = byDepth({ test: 1, gate: 1, all: 2, explore: 20 });
const UPGRADES = byDepth({ test: 1, gate: 1, all: 5, explore: 200 });
/** `operation/upgrade.test.ts` replaces two at a time. */
const WORKERS = byDepth({ test: "1", gate: "1", all: "2" });
const KEPT_CONNECTIONS = byDepth({ test: 1, gate: 1, all: 3 });
const HTTP2_CONNECTIONS = byDepth({ test: 1, gate: 1, all: 2 });
/** How long the origin takes where it is slow. Milliseconds. */
const LATE_MS = 30;
const PAGE = "page ".repeat(2000);

/*
 * Rules, certificate and server are replaced while clients ask over TLS, on kept connections and new ones, in HTTP/1.1
 * and HTTP/2.
 */
describe("tidemark serve under load", { timeout: 1_200_000 }, () => {
  const origin = createServer((_request, response) => {
    response.writeHead(200, { "cache-control": "max-age=600", "content-length": PAGE.length }).end(PAGE);
  });
  let folder: string;
  let server: ServerProcess;
  let port: number;
  let certificates = 0;

  beforeAll(async () => {
    await listenLocally(origin);
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    writeConfig(0);
    putCertificate();
    const tls = ["--listen-tls", "127.0.0.1:0", "--tls-cert", "tls.crt", "--tls-key", "tls.key"];
    server = new ServerProcess(folder, [...tls, "--workers", WORKERS], { TIDEMARK_HOSTS: "*" });
    port = Number((await server.prints(/https:\/\/127\.0\.0\.1:(\d+)/))[1]);
    await server.prints(/serves/);
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true });
  }, 60_000);

  function replace(name: string, text: string): void {
    writeFileSync(join(folder, `${name}.new`), text);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  }
  function writeConfig(version: number): void {
    const origins = localUrl(origin);
    replace("tidemark.config.ts", `export default { origin: "${origins}" }; // ${version}\n`);
  }
  /** The name in the newest certificate. */
  const newest = () => `www${certificates}.example.test`;
  function putCertificate(): void {
    certificates++;
    const { chain, key } = makeCertificate(["localhost", newest()]);
    replace("tls.key", key);
    replace("tls.crt", chain);
  }

  async function ask(agent: Agent | false): Promise<{ body: string; names: string | undefined }> {
    const sent = request({ host: "127.0.0.1", port, path: "/page", agent, rejectUnauthorized: false }).end();
    const [got] = await once(sent, "response");
    const names = (got.socket as TLSSocket).getPeerCertificate().subjectaltname;
    let body = "";
    for await (const piece of got.setEncoding("latin1")) body += piece;
    return { body, names };
  }

  /** `null` if the server has refused it unseen, because the connection ends. RFC 9113 §8.7. */
  async function askInHttp2(session: ClientHttp2Session): Promise<string | null> {
    const stream = session.request({ ":path": "/page" });
    let body = "";
    stream.on("error", () => undefined); // the code tells
    stream.setEncoding("latin1").on("data", (piece: string) => {
      body += piece;
    });
    await new Promise((resolve) => stream.on("close", resolve));
    return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? null : body;
  }

  test("fails no request while rules, certificates and the server are replaced in turn", async () => {
    let isOver = false;
    let answers = 0;
    const pauses = new OwnPauses();
    onTestFinished(() => pauses.stop());
    const kept = new Agent({ keepAlive: true, maxSockets: 4 });
    const visit = async (agent: Agent | false) => {
      while (!isOver) {
        const answer = await pauses.orNull(ask(agent));
        if (answer === null) continue;
        expect(answer.body).toBe(PAGE);
        answers++;
        await breath();
      }
    };
    const visitInHttp2 = async () => {
      let session: ClientHttp2Session | undefined;
      while (!isOver) {
        if (!session || session.closed || session.destroyed) {
          session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
          session.on("error", () => undefined);
        }
        expect([PAGE, null]).toContain(await askInHttp2(session));
        answers++;
        await breath();
      }
      session?.destroy();
    };
    /** Workers of the old settings may take connections a moment longer. */
    const hasNewest = () => until(async () => (await ask(false)).names?.includes(newest()) ?? false);
    const work = (async () => {
      const reloadsBy = async (cause: () => void) => {
        const from = server.printed.length;
        cause();
        await server.prints(/the new settings are in use/, from);
      };
      for (let round = 1; round <= ROUNDS; round++) {
        await reloadsBy(() => writeConfig(round));
        await reloadsBy(() => {
          putCertificate();
          server.signal("SIGHUP");
        });
        await hasNewest();
        await server.upgrade();
        await hasNewest();
        const before = answers;
        await until(() => answers >= before + 100);
      }
    })().finally(() => {
      isOver = true;
    });
    const inHttp1 = Array.from({ length: KEPT_CONNECTIONS }, () => visit(kept));
    const inHttp2 = Array.from({ length: HTTP2_CONNECTIONS }, visitInHttp2);
    await Promise.all([work, ...inHttp1, visit(false), ...inHttp2]);
    kept.destroy();
    expect(server.printed).not.toMatch(/old settings stay|old server goes on|died|killed/);
  });
});

const page: Wish = { path: "/page", body: null, expected: PAGE };
const late: Wish = { path: "/late", body: null, expected: "late" };
const form: Wish = { path: "/form", body: "form ".repeat(1000), expected: "form ".repeat(1000) };

/** What each visitor asks for at a time. */
const VISITORS: readonly (readonly Wish[])[] = [
  [page],
  Array<Wish>(8).fill(page),
  [late, late, late],
  [form, form],
  [page, page, late, form],
  [page, late, page, page, page],
];

describe("tidemark serve in HTTP/2", { timeout: 3_600_000 }, () => {
  const origin = createServer((request, response) => {
    if (request.url === "/page") response.setHeader("cache-control", "max-age=600").end(PAGE);
    else if (request.url === "/form") void text(request).then((body) => response.end(body));
    else setTimeout(() => response.end("late"), LATE_MS);
  });
  let folder: string;
  let server: ServerProcess;
  let url: string;

  beforeAll(async () => {
    await listenLocally(origin);
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    writeFileSync(join(folder, "tidemark.config.ts"), `export default { origin: "${localUrl(origin)}" };\n`);
    const { chain, key } = makeCertificate(["localhost"]);
    writeFileSync(join(folder, "tls.key"), key);
    writeFileSync(join(folder, "tls.crt"), chain);
    const tls = ["--listen-tls", "127.0.0.1:0", "--tls-cert", "tls.crt", "--tls-key", "tls.key"];
    server = new ServerProcess(folder, [...tls, "--workers", "2"], { TIDEMARK_HOSTS: "*" });
    const [, port] = await server.prints(/https:\/\/127\.0\.0\.1:(\d+)/);
    url = `https://127.0.0.1:${port}`;
    await server.prints(/serves/);
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true });
  }, 60_000);

  test("loses no request while the server is replaced, also right after its rules were", {
    tags: ["deep"],
  }, async () => {
    const fates = noFates();
    let isOver = false;
    const visits = VISITORS.map((wishes) => new Http2Visitor(url, fates).visit(wishes, () => isOver));
    for (let upgrade = 1; upgrade <= UPGRADES && fates.lost.length === 0; upgrade++) {
      if (upgrade % 2 === 1) server.signal("SIGHUP");
      await server.upgrade();
      const before = fates.answered;
      await until(() => fates.answered >= before + 200 || fates.lost.length > 0);
    }
    isOver = true;
    await Promise.all(visits);
    expect(fates).toMatchObject({ lost: [] });
    expect(server.printed).not.toMatch(/old settings stay|old server goes on|died|killed/);
    // If the signal to replace the server comes first, its successor reads the settings, perhaps only now.
    await until(() => server.printed.match(/new settings are in use/g)?.length === Math.ceil(UPGRADES / 2));
  });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byDepth } from "../../../suite/depth.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { until } from "../../../suite/until.ts";
import { makeCertificate } from "../../connections/make-certificate.ts";
import { ServerProcess } from "../running-server.ts";
import { Http2Visitor, noFates, type Wish } from "./http2-visitor.ts";

const UPGRADES = byDepth({ test: 1, gate: 1, all: 5, explore: 200 });
/** How long the origin takes where it is slow. Milliseconds. */
const LATE_MS = 30;
const PAGE = "page ".repeat(2000);

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

  test("loses no request while the server is replaced, also right after its rules were", async () => {
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
    expect(server.printed.match(/new settings are in use/g)).toHaveLength(Math.ceil(UPGRADES / 2));
  });
});

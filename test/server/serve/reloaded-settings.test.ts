import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { prepare } from "../../../server/startup/prepare-server.ts";
import { makeCertificate } from "../connections/make-certificate.ts";
import { serveOptions } from "./serve-options.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes the only certificate of the folder. */
function put(host: string): void {
  const { chain, key } = makeCertificate([host]);
  writeFileSync(join(folder, "a.crt"), chain);
  writeFileSync(join(folder, "a.key"), key);
}

describe("a reload of tidemark serve", () => {
  test("goes ahead while the access log cannot be written, of which a start would die", async () => {
    const logs = join(folder, "logs");
    mkdirSync(logs);
    const options = serveOptions(folder, { accessLog: { path: join(logs, "access.log"), format: "combined" } });
    const started = await prepare(options);
    rmdirSync(logs);
    await expect(prepare(options)).rejects.toThrow("there is no folder");
    const { warnings } = await prepare(options, started);
    expect(warnings).toContainEqual(expect.stringMatching(/there is no folder .*\. Its lines wait in memory\.$/));
  });

  test("lets clients resume their sessions until a certificate is another one", async () => {
    const options = serveOptions(folder, {
      listen: [{ host: "127.0.0.1", port: 8443, scheme: "https" }],
      certificates: { pairs: [], folder },
    });
    put("a.test");
    const started = await prepare(options);
    const same = await prepare(options, started);
    put("b.test");
    const other = await prepare(options, same);
    const [first, second, third] = [started, same, other].map(({ settings }) => settings.tls!.ticketSecret);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });
});

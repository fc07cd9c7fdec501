import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Prepared, prepare, type ServeOptions } from "../../../server/startup/prepare-server.ts";
import { ServerError } from "../../../server/startup/server-error.ts";
import { makeCertificate } from "../connections/make-certificate.ts";
import { serveOptions } from "./serve-options.ts";

const A = makeCertificate(["a.test"]);
const B = makeCertificate(["b.test"]);

describe("a reload with a certificate that cannot be used", () => {
  let folder: string;
  let options: ServeOptions;
  let started: Prepared;
  let lastRead: Map<string, string>;
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const put = (name: string, { chain, key }: typeof A) => {
    write(`${name}.crt`, chain);
    write(`${name}.key`, key);
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    options = serveOptions(folder, {
      listen: [{ host: "127.0.0.1", port: 8443, scheme: "https" }],
      certificates: { pairs: [], folder },
    });
    put("a", A);
    put("b", B);
    started = await prepare(options);
    lastRead = new Map();
    write("b.key", "half");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** As the server does it, which then watches what was read. */
  async function reload(before: Prepared, read = new Map<string, string>()): Promise<Prepared> {
    try {
      return await prepare(options, before, read, lastRead);
    } finally {
      lastRead = read;
    }
  }

  test("has its files watched while the folder is filled, until nothing was written between two reloads", async () => {
    await expect(reload(started)).rejects.toThrow(ServerError);
    expect(lastRead.has(folder)).toBe(true);
    for (const name of ["b.crt", "b.key"]) rmSync(join(folder, name));
    const half = await reload(started);
    expect(half.settings.tls!.certificates.map(({ names }) => names)).toEqual([["a.test"]]);
    expect(lastRead.has(folder)).toBe(true);
    put("b", B);
    const whole = await reload(half);
    expect(whole.settings.tls!.certificates).toHaveLength(2);
    expect(lastRead.has(folder)).toBe(true);
    await reload(whole);
    expect(lastRead.size).toBe(0);
  });

  test("leaves the earlier state of a file that the config has read, too", async () => {
    const key = join(folder, "b.key");
    await expect(reload(started, new Map([[key, "as it was"]]))).rejects.toThrow(ServerError);
    expect(lastRead.get(key)).toBe("as it was");
  });
});

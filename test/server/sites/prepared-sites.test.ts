import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { logFolderOf, type PreparedSites, type ReadSites, readSites } from "../../../server/startup/prepared-sites.ts";

describe("the sites of a folder", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    mkdirSync(join(folder, "sites"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(name: string, settings: string): void {
    const config = `export default { origin: "http://127.0.0.1:8000", ${settings} };\n`;
    writeFileSync(join(folder, "sites", `${name}.config.ts`), config);
  }

  function read(before: PreparedSites = new Map(), usesProxyProtocol = false): Promise<ReadSites> {
    const listen = [{ host: "127.0.0.1", port: 8080 }];
    const around = { listen, usesProxyProtocol, redirectsToHttps: null, read: new Map() };
    return readSites(join(folder, "sites"), join(folder, "cache"), around, before);
  }

  const hostsOf = ({ sites }: ReadSites) => [...sites].map(([name, { site }]) => [name, site.hosts]);

  test("one that is new with a log that was shared with other machines is refused alone", async () => {
    write("shop", 'hosts: ["shop.test"]');
    const { sites } = await read();
    mkdirSync(join(logFolderOf(join(folder, "cache"), "blog"), "shared-log.json"), { recursive: true });
    write("blog", 'hosts: ["blog.test"]');
    write("shop", 'hosts: ["www.shop.test"]');
    const again = await read(sites);
    expect(hostsOf(again)).toEqual([["shop", ["www.shop.test"]]]);
    const because = /^site blog: it is not served: .*blog.* shared its purge log with others/;
    expect(again.problems).toEqual([expect.stringMatching(because)]);
  });
});

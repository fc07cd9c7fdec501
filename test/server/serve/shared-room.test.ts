import { expect, test } from "vitest";
import { connectionLimit, mayOpenFiles } from "../../../server/startup/connection-limit.ts";
import { prepare } from "../../../server/startup/prepare-server.ts";
import { handlesOf } from "../../../server/supervisor/socket-handles.ts";
import { serveOptions } from "./serve-options.ts";

const MIB = 1024 ** 2;
const GIB = 1024 * MIB;

/** The room of a server with four workers. */
async function roomOf(diskBytes: number) {
  const options = serveOptions("nowhere", { memoryBytes: 64 * MIB, diskBytes, workers: 4 });
  const { memoryBytes, disk, roomForBodies, maxOpenPages } = (await prepare(options)).settings;
  return { memoryBytes, pagesBytes: disk?.maxBytes, bodiesBytes: 4 * roomForBodies.fileBytes, maxOpenPages };
}

test("all workers together have the memory for pages that the owner names", async () => {
  expect(await roomOf(0)).toMatchObject({ memoryBytes: 16 * MIB, pagesBytes: undefined, bodiesBytes: 0 });
});

test.each([
  ["a sixteenth of the disk", 8 * GIB, GIB / 2],
  ["a gigabyte", 100 * GIB, GIB],
])("bodies of requests have %s at most, which pages leave to them", async (_, diskBytes, bodiesBytes) => {
  expect(await roomOf(diskBytes)).toMatchObject({ bodiesBytes, pagesBytes: diskBytes - bodiesBytes });
});

test("pages that clients read slowly are open as many at a time as there are files for", async () => {
  const { pages } = connectionLimit(mayOpenFiles(), handlesOf("http", 4), 1);
  expect((await roomOf(0)).maxOpenPages).toBe(pages);
});

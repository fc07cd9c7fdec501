import { expect, test } from "vitest";
import { diskFiles } from "../../../server/disk/disk-files.ts";
import type { Answer } from "../../../worker/ports/answer.ts";
import type { StreamedBody } from "../../../worker/ports/bodies.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { HOST } from "../../engine/scenario.ts";
import { inGate } from "../../suite/depth.ts";
import { CompressingIsolate } from "../compression/compressing-isolate.ts";
import { DiskUnderTest, readWhole, temporaryFolder } from "./disk-under-test.ts";

const MIB = 1024 * 1024;
/** More than an eighth of the memory for pages, so that only the disk keeps it. */
const FILM = Array.from({ length: 6 * MIB }, (_, at) => String.fromCharCode(97 + (at % 23))).join("");

test.each(
  inGate(1, [
    ["the first byte", "bytes=0-0", 0, 1],
    ["bytes of two blocks", "bytes=262140-262149", 262_140, 262_150],
    ["the last byte", "bytes=-1", 6 * MIB - 1, 6 * MIB],
  ]),
)("of a page that only the disk keeps, no more is read than the blocks of the part: %s", async (_, range, from, to) => {
  let readBytes = 0;
  const files = {
    ...diskFiles,
    read: async (...given: Parameters<typeof diskFiles.read>) => {
      const read = await diskFiles.read(...given);
      readBytes += read;
      return read;
    },
  };
  const { tier } = await DiskUnderTest.open(temporaryFolder(), { files });
  const isolate = new CompressingIsolate({ compression: null, disk: tier });
  isolate.page("/film", FILM);
  expect((await isolate.ask("/film")).xCache).toBe("MISS");
  await isolate.settled();
  readBytes = 0;
  const answer = (await isolate.fetch({
    request: { method: "GET", headers: new Fields([["range", range]]), body: null, bodyUsed: false },
    url: `http://${HOST}/film`,
    background: { run: () => undefined },
    clientAddress: null,
  })) as Answer;
  expect([answer.status, answer.fields.get("x-cache")]).toEqual([206, "HIT"]);
  expect(answer.body).not.toBeInstanceOf(Uint8Array);
  expect((await readWhole(answer.body as StreamedBody)).toString()).toBe(FILM.slice(from, to));
  expect(readBytes).toBeLessThan(0.7 * MIB);
});

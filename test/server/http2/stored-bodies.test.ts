import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type Settings } from "node:http2";
import { afterEach, expect, test } from "vitest";
import type { ListenerParts } from "../../../server/connections/listener.ts";
import { BLOCK_BYTES } from "../../../server/disk/file-format.ts";
import { until } from "../../suite/until.ts";
import { startTlsListener, stopAll, stops, type Where } from "../connections/tls-listener.ts";
import { bodyOf, countedFiles, DiskUnderTest, noise, temporaryFolder } from "../disk/disk-under-test.ts";
import { answer } from "../http1/running-listener.ts";

afterEach(stopAll);

const BYTES = noise(2 * BLOCK_BYTES);
const KEY = "https://www.example.test/large\n1-a";
const MOST_OPEN = 8;

/** A listener that answers with a body of two blocks on the disk, and how many blocks were read. */
async function start(settings: ListenerParts["settings"] = {}) {
  const { files, open } = countedFiles();
  let blocks = 0;
  const counted: typeof files = {
    ...files,
    read: (fd, into, length, position) => {
      if (length === BLOCK_BYTES) blocks++;
      return files.read(fd, into, length, position);
    },
  };
  const disk = await DiskUnderTest.open(temporaryFolder());
  await disk.tier.putBody(KEY, bodyOf([BYTES], BYTES.byteLength));
  const tier = disk.otherTier({ files: counted, mostOpen: MOST_OPEN });
  const fields = { "content-length": `${BYTES.byteLength}` };
  const { https } = await startTlsListener(async () => answer((await tier.getBody(KEY, null))!, fields), { settings });
  return { https, open, blocks: () => blocks };
}

function session({ port }: Where, settings: Settings = {}): ClientHttp2Session {
  const opened = connect(`https://localhost:${port}`, { rejectUnauthorized: false, settings });
  opened.on("error", () => undefined);
  stops.push(() => opened.destroy());
  return opened;
}

/** Asks many times at once. Resolves when all heads have come. */
function ask(on: ClientHttp2Session, times: number): Promise<ClientHttp2Stream[]> {
  const streams = Array.from({ length: times }, () => on.request({ ":authority": "www.example.test" }));
  return Promise.all(
    streams.map(async (stream) => {
      stream.on("error", () => undefined);
      await once(stream, "response");
      return stream;
    }),
  );
}

async function isWhole(stream: ClientHttp2Stream): Promise<boolean> {
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  await once(stream, "close");
  return BYTES.length === Buffer.concat(pieces).length && Buffer.concat(pieces).equals(BYTES);
}

test("clients without windows have few pieces read for them, and few files opened, and another client gets its bodies", async () => {
  const { https, open, blocks } = await start();
  const clients = Array.from({ length: 6 }, () => session(https, { initialWindowSize: 0 }));
  await Promise.all(clients.map((client) => ask(client, 120)));
  const waiting = 64 + clients.length;
  await until(() => blocks() >= waiting && open.size <= MOST_OPEN);
  const streams = await ask(session(https), 3);
  expect(await Promise.all(streams.map(isWhole))).toEqual([true, true, true]);
  expect(blocks()).toBe(waiting + 3 * 2);
  expect(open.size).toBeLessThanOrEqual(MOST_OPEN);
  for (const client of clients) client.destroy();
  await until(() => open.size === 0);
});

test("bodies of which a client has taken something, and reads no more, hold up none of its others", async () => {
  const { https, blocks } = await start();
  const on = session(https);
  await once(on, "connect");
  on.setLocalWindowSize(64 * 1024 * 1024);
  await ask(on, 40);
  await until(() => blocks() >= 40);
  const [live] = await ask(on, 1);
  expect(await isWhole(live!)).toBe(true);
});

test("a client that opens its windows later gets all bodies, on more streams than there are places for it", async () => {
  const { https, blocks } = await start();
  const on = session(https, { initialWindowSize: 0 });
  const streams = await ask(on, 40);
  await until(() => blocks() >= 16);
  on.settings({ initialWindowSize: 16_384 });
  expect(await Promise.all(streams.map(isWhole))).toEqual(streams.map(() => true));
  expect(blocks()).toBe(40 * 2);
});

test("streams that are reset while they wait for others hold up none", async () => {
  const { https, open, blocks } = await start();
  const on = session(https, { initialWindowSize: 0 });
  const streams = await ask(on, 60);
  await until(() => blocks() >= 16);
  for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
  on.settings({ initialWindowSize: 65_535 });
  const [late] = await ask(on, 1);
  expect(await isWhole(late!)).toBe(true);
  await until(() => open.size === 0);
});

test("streams of a client that opens no window end, also those that wait for others", { tags: ["deep"] }, async () => {
  const { https, open } = await start({ stallMs: 500 });
  const streams = await ask(session(https, { initialWindowSize: 0 }), 60);
  await until(() => streams.every(({ destroyed }) => destroyed));
  expect(streams.map(({ rstCode }) => rstCode)).toEqual(streams.map(() => constants.NGHTTP2_INTERNAL_ERROR));
  await until(() => open.size === 0);
});

import { connect } from "node:net";
import { expect, test } from "vitest";
import type { AnsweredExchange } from "../../../server/connections/access-log.ts";
import { decodedText } from "../../engine/decoded-body.ts";
import { HOST } from "../../engine/scenario.ts";
import { startTestListener } from "../http1/running-listener.ts";
import { CompressingIsolate } from "./compressing-isolate.ts";

/** Sends a request on a connection of its own, and returns the head of the answer and its body. */
function exchange(port: number, target: string, fields: string): Promise<{ head: string; body: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; body: Buffer }>();
  const chunks: Buffer[] = [];
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${HOST}\r\n${fields}Connection: close\r\n\r\n`);
  });
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", reject);
  socket.on("end", () => {
    const bytes = Buffer.concat(chunks);
    const end = bytes.indexOf("\r\n\r\n");
    resolve({ head: bytes.subarray(0, end).toString(), body: bytes.subarray(end + 4) });
  });
  return promise;
}

test("hits of small and large compressed pages are answered inside the parser, and count with the bytes that are sent", async () => {
  const edge = new CompressingIsolate();
  const logged: AnsweredExchange[] = [];
  const running = await startTestListener((incoming) => edge.fetch(incoming), {
    accessLog: { record: (each) => void logged.push(each) },
  });
  const { port } = running.where;
  const pages = { "/small": "A small page. ".repeat(200), "/large": "" };
  // Digits compress to less than half, so that the compressed form is larger than what goes out as text.
  for (let state = 1; pages["/large"].length < 100_000; state = (state * 48_271) % 2_147_483_647)
    pages["/large"] += state;
  try {
    for (const [path, page] of Object.entries(pages)) {
      edge.page(path, page);
      await exchange(port, path, "Accept-Encoding: br\r\n");
      await running.listener.work.idle();
      const before = { fast: running.listener.fastHits, bytes: await edge.bytesFromCache() };
      const { head, body } = await exchange(port, path, "Accept-Encoding: br\r\n");
      expect(running.listener.fastHits).toBe(before.fast + 1);
      expect(head).toContain("x-cache: HIT");
      expect(head).toContain("content-encoding: br");
      expect(head).toContain(`content-length: ${body.length}`);
      expect(decodedText(body, "br")).toBe(page);
      expect(body.length).toBeLessThan(page.length * 0.6);
      expect(await edge.bytesFromCache()).toBe(before.bytes + body.length);
      expect(logged.at(-1)).toMatchObject({ target: path, bodyBytes: body.length, isWhole: true });
      const plain = await exchange(port, path, "");
      expect(plain.body.toString()).toBe(page);
      expect(running.listener.fastHits).toBe(before.fast + 2);
    }
    expect(running.warnings).toEqual([]);
  } finally {
    await running.stop();
  }
});

import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startEdgeRuntime } from "../../local/runtime/miniflare.ts";

const worker = (text: string) => ({
  script: `export default { fetch: () => new Response("${text}") };`,
  variables: {},
  purgeLog: false,
});

/** Takes the port as soon as it is free. */
async function take(port: number): Promise<Server> {
  for (;;) {
    const server = createServer().listen(port, "127.0.0.1");
    const isTaken = await Promise.race([
      once(server, "listening").then(() => true),
      once(server, "error").then(() => false),
    ]).catch(() => false);
    if (isTaken) return server;
    await setImmediate();
  }
}

test("an edge on a free port moves to another one if a process takes its port while it restarts", async () => {
  const edge = await startEdgeRuntime(worker("one"), { port: 0 });
  onTestFinished(() => edge.stop());
  const before = edge.url;
  const taking = take(Number(before.port));
  await edge.reload(worker("two"));
  const other = await taking;
  onTestFinished(() => void other.close());
  expect(edge.url.port).not.toBe(before.port);
  expect(await (await fetch(edge.url)).text()).toBe("two");
  await edge.reload(worker("three"));
  expect(await (await fetch(edge.url)).text()).toBe("three");
});

test("a line that comes in several chunks has its characters, also those that two chunks share", async () => {
  const script = 'export default { fetch() { console.log("x" + "ü".repeat(200_000)); return new Response(); } };';
  const { promise: line, resolve } = Promise.withResolvers<string>();
  const edge = await startEdgeRuntime({ script, variables: {}, purgeLog: false }, { port: 0, onLine: resolve });
  onTestFinished(() => edge.stop());
  await fetch(edge.url);
  expect((await line).replaceAll("ü", "")).toBe("x");
});

// In a root without the packages of the tests: `origin` at port 8000, or a `visitor` that asks until /run/test-enough is there.
import { existsSync, writeFileSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** The test makes the file from outside of the root, and has no other way to tell. */
const exists = async (file) => {
  while (!existsSync(file)) await sleep(10);
};

if (process.argv[2] === "origin") {
  createServer(async ({ url }, response) => {
    if (url === "/slow") await exists("/run/test-upgraded");
    if (url === "/held") {
      response.writeHead(200, { "cache-control": "no-store" }).write("the page");
      await exists("/run/test-stopping");
      return response.end(" /held\n");
    }
    response.writeHead(200, { "cache-control": "s-maxage=600", "cache-tag": "all" }).end(`the page ${url}`);
  }).listen(8000, "127.0.0.1", () => writeFileSync("/run/test-origin", ""));
} else {
  const found = { asked: 0, failed: [] };
  const ask = (path, agent) => {
    found.asked++;
    const { promise, resolve } = Promise.withResolvers();
    const fail = (why) => resolve(void found.failed.push(`${path}: ${why}`));
    get({ host: "127.0.0.1", headers: { host: "localhost" }, path, agent }, async (response) => {
      let body = "";
      response.on("error", (error) => fail(error.message));
      for await (const piece of response.setEncoding("utf8")) body += piece;
      if (response.statusCode !== 200 || body !== `the page ${path}`) fail(`${response.statusCode} ${body}`);
      else resolve();
    }).on("error", (error) => fail(error.message));
    return promise;
  };
  const keep = new Agent({ keepAlive: true, maxSockets: 2 });
  const slow = ask("/slow", false);
  const loops = [false, keep, keep].map(async (agent) => {
    while (!existsSync("/run/test-enough")) await ask("/", agent);
  });
  writeFileSync("/run/test-visitor", "");
  await Promise.all([...loops, slow]);
  process.stdout.write(JSON.stringify(found));
}

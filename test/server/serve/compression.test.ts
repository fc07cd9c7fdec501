import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { decodingExchange } from "../../engine/decoded-body.ts";
import { breath } from "../../suite/until.ts";
import { ServerProcess } from "./running-server.ts";
import { type Settling, settled } from "./settled-purges.ts";

const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyz";
const BROWSER = { "accept-encoding": "gzip, deflate, br, zstd" };
const V1 = "The first version. ".repeat(1000);
const V2 = "The second version. ".repeat(1000);

test("the processes of a server compress, purge what they have compressed, and stop it when the setting is gone", {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const origin = new ScriptedOrigin(() => Date.now());
  await origin.comeUp();
  const page = (body: string) => ({
    fields: {
      "cache-control": "s-maxage=3600",
      "content-type": "text/html",
      "cache-tag": "t",
      etag: `"${body.length}"`,
    },
    body,
  });
  origin.reply("/a", page(V1));
  const config = join(folder, "tidemark.config.mjs");
  const write = (settings: object) => {
    writeFileSync(
      config,
      `export default ${JSON.stringify({ origin: origin.url, hosts: ["www.example.test"], ...settings })};\n`,
    );
  };
  write({ compression: { codings: ["zstd", "gzip"] } });
  const server = new ServerProcess(folder, ["--config", config, "--listen", "0", "--workers", "2"], {
    TIDEMARK_TOKEN: TOKEN,
  });
  const agent = new Agent({ keepAlive: false });
  onTestFinished(async () => {
    await server.stop();
    agent.destroy();
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });
  const edge = await server.address();
  const ask = (fields: Readonly<Record<string, string>> = BROWSER) =>
    decodingExchange(edge, agent, { path: "/a", fields });
  /** Asks until an answer has this coding, and fails if one has another page. */
  const untilCoded = async (coding: string | undefined, body: string) => {
    for (;;) {
      const answer = await ask();
      expect(answer.body).toBe(body);
      if (answer.fields["content-encoding"] === coding) return answer;
      await breath();
    }
  };
  expect((await untilCoded("zstd", V1)).fields).toMatchObject({ etag: `W/"${V1.length}"`, vary: "Accept-Encoding" });
  expect((await ask({})).fields).toMatchObject({ etag: `"${V1.length}"`, vary: "Accept-Encoding" });
  origin.reply("/a", page(V2));
  const purge = { path: "/_tidemark/purge", method: "POST", body: JSON.stringify({ tags: ["t"] }) };
  const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const receipt = await decodingExchange(edge, agent, { ...purge, fields });
  expect(receipt.status).toBe(200);
  await settled(JSON.parse(receipt.body) as Settling);
  await untilCoded("zstd", V2);
  write({});
  server.child.kill("SIGHUP");
  const plain = await untilCoded(undefined, V2);
  expect(plain.fields.etag).toBe(`"${V2.length}"`);
});

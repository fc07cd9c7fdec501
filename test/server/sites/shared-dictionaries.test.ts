import { Agent } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import * as edgeProgram from "../../../server/program/edge-program.ts";
import { holding } from "../../engine/held-dictionaries.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { until } from "../../suite/until.ts";
import { startSites } from "./worker-under-test.ts";

const KiB = 1024;
const SITES = ["shop", "blog"];
const HOUR = { "cache-control": "max-age=3600", "content-type": "text/javascript" };

test("the memory for dictionaries is that of all sites together", async () => {
  const origin = new ScriptedOrigin(() => Date.now());
  await origin.comeUp();
  onTestFinished(() => origin.goDown());
  const versions = ["one", "two"].map((version) => `${version}\n`.padEnd(600 * KiB, "the same for all versions\n"));
  for (const [at, body] of versions.entries()) origin.reply(`/app.a1b2c3d${at}.js`, { fields: HOUR, body });
  const routes = [{ match: "/app.*.js", deltas: true as const }];
  const siteOf = (name: string) => ({
    name,
    token: `the-token-of-the-${name}-0123456789-abcdef`,
    site: { origin: origin.url, hosts: [`${name}.test`], publicUrl: `https://${name}.test`, compression: {}, routes },
  });
  const settings = { disk: null, memoryBytes: 16 * KiB * KiB };
  const worker = await startSites(edgeProgram, SITES.map(siteOf), settings);
  onTestFinished(async () => void (await worker.stop()));
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  const get = (name: string, at: number, fields: Readonly<Record<string, string>> = {}) =>
    exchange(new URL(`http://127.0.0.1:${worker.port}`), agent, {
      host: `${name}.test`,
      path: `/app.a1b2c3d${at}.js`,
      fields,
    });
  const holdsFirst = { "accept-encoding": "dcb", "available-dictionary": holding(versions[0]!) };
  const getsDelta = async (name: string) => (await get(name, 1, holdsFirst)).fields["content-encoding"] === "dcb";

  await get("shop", 0);
  await until(() => getsDelta("shop"));
  await get("blog", 0);
  await until(() => getsDelta("blog"));
  expect(await getsDelta("shop")).toBe(false); // An eighth of the memory has room for three of the four versions.
});

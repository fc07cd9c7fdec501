import { describe, expect, test } from "vitest";
import { startMemoryEngine } from "../engine/memory/memory-engine.ts";
import type { ClientRequest } from "../engine/scenario.ts";
import { Scheduler } from "../engine/scheduler.ts";
import { inGate } from "../suite/depth.ts";
import { page } from "./case.ts";
import { cases } from "./index.ts";

const PAGES = 40;
const VISITS = 2000;

/** Tricks with which pages can be requested. Wrong tokens are left out, because they are answered late. */
const tricks = cases
  .map(({ first }) => first)
  .filter(({ method, fields = {} }) => method === undefined && !("tidemark-refresh" in fields));

/** The fields of a site's ordinary visitors. */
const browsers: readonly Record<string, string>[] = [
  {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "accept-language": "de,en-US;q=0.7,en;q=0.3",
    "accept-encoding": "gzip, deflate, br, zstd",
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    referer: "https://search.example/",
    "upgrade-insecure-requests": "1",
    priority: "u=0, i",
    te: "trailers",
  },
  {
    "user-agent":
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    accept:
      "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
    "accept-language": "en-US,en;q=0.9",
    "accept-encoding": "gzip, deflate, br, zstd",
    "sec-ch-ua": '"Chromium";v="140", "Not=A?Brand";v="24", "Google Chrome";v="140"',
    "sec-ch-ua-platform": '"Windows"',
    "sec-fetch-site": "same-origin",
    cookie: "_ga=GA1.2.3; _gid=4; _fbp=fb.1",
    "cache-control": "max-age=0",
  },
  {
    "user-agent":
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
    accept: "*/*",
    "accept-language": "fr-FR,fr;q=0.9",
    "accept-encoding": "gzip, deflate, br",
    cookie: "session=17; _ga=1",
  },
  { "user-agent": "curl/8.14.1", accept: "*/*" },
  {
    "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    accept: "*/*",
    from: "googlebot(at)googlebot.com",
    "accept-encoding": "gzip, deflate, br",
  },
];

/** The share of the plain visits that are hits. Of ten visitors, `tricksters` try every trick. */
async function hitRatio(tricksters: number): Promise<number> {
  const engine = startMemoryEngine({ purge: { leaseMs: 60_000 } }, 1);
  engine.answerBy!(({ target }) => page(`page ${target}`, { "cache-control": "public, max-age=3600" }));
  const random = new Scheduler(3, 0);
  const pick = <T>(list: readonly T[]) => list[Math.floor(random.random() * list.length)]!;
  const ask = (request: ClientRequest) => engine.settle(engine.send(request));
  let plain = 0;
  let hits = 0;
  for (let visit = 0; visit < VISITS; visit++) {
    const path = `/plog/${Math.floor(PAGES * random.random() ** 2)}`;
    if (random.random() * 10 < tricksters) {
      await ask({ path, fields: pick(tricks).fields ?? {} });
      continue;
    }
    const tracking = random.random() < 0.2 ? `?utm_source=mail&fbclid=${visit}` : "";
    plain++;
    if ((await ask({ path: path + tracking, fields: pick(browsers) })).fields["x-cache"] === "HIT") hits++;
  }
  await engine.stop();
  return hits / plain;
}

describe("a mix of pages, browsers and crawlers keeps its hits with every defence on", () => {
  test.each(inGate(1, [5, 1, 0]))("%i visits of ten are tricks", async (tricksters) => {
    const ratio = await hitRatio(tricksters);
    process.stdout.write(`page mix, tricks ${tricksters}/10: ${(ratio * 100).toFixed(1)} % of plain visits are hits\n`);
    expect(ratio).toBeGreaterThan(0.95);
  });
});

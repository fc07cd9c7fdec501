import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ScriptedOrigin, type SeenRequest } from "../../../local/cdn/scripted-origin.ts";
import { Dev } from "../../local/dev/dev-process.ts";
import { freePorts } from "../../suite/free-ports.ts";

/** The page that shows the runs, between comments that name them, and the chart that one of them writes. */
export const CRAWL_PAGE = "docs/tools.md";
export const CRAWL_CHART = "docs/pictures/crawl.svg";

const CLI = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));
const REGIONS = ["nyc", "fra", "syd"] as const;

/** The addresses on the page, which are others in a run. */
const EDGE = "http://localhost:8787";
const ORIGIN = "http://localhost:8000";

/** What the runs on the page ask for, and what the chart of the second is called there. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  warm: ["warm", "--edge", EDGE],
  crawl: ["crawl", "--edge", EDGE, "--origin", ORIGIN, "--from", REGIONS.join(","), "--chart", "crawl.svg"],
};

export interface CrawlRuns {
  readonly page: string;
  readonly chart: string;
  /** What the origin was asked for. */
  readonly seen: readonly SeenRequest[];
}

/** The page with the runs of `crawl` and `warm` made anew: a small site behind `tidemark dev` in three regions. */
export async function withCrawlRuns(page: string): Promise<CrawlRuns> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-docs-"));
  const origin = await smallSite();
  const port = await freePorts(REGIONS.length);
  const dev = new Dev(
    ["--origin", origin.url, "--port", String(port), "--regions", REGIONS.join(","), "--latency", "--quiet"],
    {},
    [CLI, "dev"],
    folder,
  );
  try {
    await dev.says(/everything/);
    const [edgeUrl, originUrl] = [`http://localhost:${port}`, origin.url];
    const real = new Map([
      [EDGE, edgeUrl],
      [ORIGIN, originUrl],
    ]);
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const runs: Record<string, string> = {};
    for (const [name, words] of Object.entries(RUNS)) {
      const call = words.map((word) => real.get(word) ?? word);
      const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...call], {
        cwd: folder,
        env: { PATH, NODE_COMPILE_CACHE },
      });
      const output = stdout.replaceAll(edgeUrl, EDGE).replaceAll(originUrl, ORIGIN).trimEnd();
      runs[name] = `\`\`\`text\n$ npx tidemark ${words.join(" ")}\n${output}\n\`\`\`\n`;
    }
    return {
      page: page.replace(
        /(<!-- run: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
        (run, begin: string, name: string, end: string) => (name in runs ? `${begin}${runs[name]}${end}` : run),
      ),
      chart: readFileSync(join(folder, "crawl.svg"), "utf8").replaceAll(edgeUrl, EDGE),
      seen: origin.seen,
    };
  } finally {
    dev.interrupt();
    await dev.exited;
    await origin.goDown();
    rmSync(folder, { recursive: true });
  }
}

/** A text without what no two runs have in common: the times, the room that they take, and where most is gained. */
export function withoutTimes(text: string): string {
  return text
    .replaceAll(/[\d.,]+(?= ms)|(?<=instead of )[\d.,]+(?=\.\n)/g, "_")
    .replaceAll(/^From .+(?= a page takes)/gm, "From _")
    .replaceAll(/ {2,}/g, "  ");
}

/** Writes page and chart, unless only the times are others. */
export async function writeCrawlPage(): Promise<void> {
  const before = readFileSync(CRAWL_PAGE, "utf8");
  const { page, chart } = await withCrawlRuns(before);
  if (withoutTimes(page) === withoutTimes(before)) return;
  writeFileSync(CRAWL_PAGE, page);
  writeFileSync(CRAWL_CHART, chart);
}

/** Pages that take a while to make, one of them for one visitor alone. */
async function smallSite(): Promise<ScriptedOrigin> {
  const origin = new ScriptedOrigin(() => Date.now());
  await origin.comeUp();
  const paths = ["/", "/blog/", "/blog/spring-tide", "/blog/neap-tide", "/tides?port=brest", "/account"];
  const locations = [...paths, "/admin/"].map((path) => `<url><loc>https://www.example.com${path}</loc></url>`);
  origin.reply("/robots.txt", {
    body: "User-agent: *\nDisallow: /admin/\nSitemap: https://www.example.com/sitemap.xml\n",
  });
  origin.reply("/sitemap.xml", {
    body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${locations.join("")}</urlset>`,
  });
  for (const path of paths) {
    const cacheControl = path === "/account" ? "private" : "public, max-age=3600";
    origin.reply(path, { fields: { "cache-control": cacheControl }, body: `The page ${path}`, delayMs: 30 });
  }
  return origin;
}

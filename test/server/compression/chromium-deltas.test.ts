import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fetchedFromNpm } from "../../backends/npm-packages.ts";
import { holding } from "../../engine/held-dictionaries.ts";
import { CompressingIsolate } from "./compressing-isolate.ts";
import { hasChromium, ReturningVisitor } from "./in-chromium.ts";

/** A file of a site, which has the hash of its bytes in its name. */
interface SiteFile {
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

/** A version of a site: files, the page that loads them, and what the page says of itself once they have run. */
interface Deploy {
  readonly files: readonly SiteFile[];
  readonly page: string;
  readonly shown: unknown;
}

/** The SHA-256 of the page and of all files, as the browser has decoded them, and what the page says of itself. */
const SEEN = `(async () => {
  const hashes = {};
  for (const { src, href } of [location, ...document.querySelectorAll("script[src], link[rel=stylesheet]")]) {
    const bytes = await (await fetch(src || href, { cache: "force-cache" })).arrayBuffer();
    const hash = Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
    hashes[new URL(src || href).pathname] = hash.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  return { hashes, shown: window.shown() };
})()`;

const PAGE = { "content-type": "text/html", "cache-control": "max-age=0, s-maxage=600, stale-while-revalidate=86400" };
const FILE = { "cache-control": "public, max-age=31536000, immutable" };

/** The most that a file may take of what Brotli makes of the whole. */
const MOST = 0.1;

function sha256(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

/** A name as webpack gives it: a shorter hash may happen to have no letter, and counts for a number then. */
function file(name: string, ending: "js" | "css", body: string): SiteFile {
  const type = ending === "js" ? "text/javascript" : "text/css";
  return { path: `/assets/${name}.${sha256(body).slice(0, 20)}.${ending}`, type, body };
}

/** A page with as much text as a page has. */
function pageOf(files: readonly SiteFile[], text: string, shown: string): string {
  const loads = files.map(({ path, type }) =>
    type === "text/css" ? `<link rel="stylesheet" href="${path}">` : `<script src="${path}"></script>`,
  );
  const words = readFileSync("docs/http.md", "utf8").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const script = `<script>window.shown = () => (${shown});</script>`;
  return `<!doctype html><title>A site</title>${loads.join("\n")}<h1>${text}</h1><pre>${words}</pre>${script}`;
}

/** Puts a version of the site in front of the edge. All bodies by their paths. */
async function put(edge: CompressingIsolate, { files, page }: Deploy): Promise<Map<string, string>> {
  for (const { path, type, body } of files) edge.page(path, body, { ...FILE, "content-type": type }, "if-accepted");
  edge.page("/", page, PAGE, "if-accepted");
  await edge.purge({ urls: ["/"], prefixes: ["/assets/"] });
  return new Map([["/", page], ...files.map(({ path, body }) => [path, body] as const)]);
}

/** A visitor loads the site after each deploy. Everything has to be the same bytes, and to cost little from the second on. */
async function loadsWhatHasChanged(name: string, deploys: readonly Deploy[]): Promise<void> {
  const edge = new CompressingIsolate({ deltas: true });
  await edge.clock.advance(Date.now() - edge.clock.now()); // as late as the browser has it
  const visitor = await ReturningVisitor.of(edge);
  let before = new Map<string, string>();
  try {
    for (const deploy of deploys) {
      const bodies = await put(edge, deploy);
      const wholeBytes = new Map<string, number>();
      const held = [...before.values()];
      for (const [index, path] of [...bodies.keys()].entries()) {
        if (before.size === 0 || bodies.get(path) === held[index]) continue;
        // Others who hold the last version have had the deltas made.
        await edge.ask(path, { "accept-encoding": "br, dcz, dcb", "available-dictionary": holding(held[index]!) });
        await edge.settled();
        const whole = await edge.ask(path, { "accept-encoding": "br" });
        expect(whole.coding).toBe("br");
        wholeBytes.set(path, whole.bytes.length);
      }
      visitor.sent.splice(0);
      const hashes = Object.fromEntries([...bodies].map(([path, body]) => [path, sha256(body)]));
      expect(await visitor.visit("/", SEEN)).toEqual({ hashes, shown: deploy.shown });
      for (const [path, bytes] of wholeBytes) {
        const sent = visitor.sent.find((each) => each.path === path)!;
        process.stdout.write(`${name}: ${path} took ${sent.bytes} bytes of Brotli's ${bytes}\n`);
        expect(sent).toMatchObject({ coding: expect.stringMatching(/^dc[bz]$/) });
        expect(sent.bytes, path).toBeLessThan(bytes * MOST);
      }
      before = bodies;
    }
  } finally {
    await visitor.stop();
  }
  expect(edge.failures).toEqual([]);
}

/** A bundle of our tools with one line that is each version's own. */
function edited(path: string, version: number): string {
  const real = readFileSync(join("node_modules", path), "utf8");
  const at = real.indexOf("}", real.length / 3) + 1;
  return `/* ${version} */${real.slice(0, at)}/* version ${version} */${real.slice(at)}`;
}

/** A site of a library, and of an application and its styles. */
function withLineChanged(version: number): Deploy {
  const files = [
    file("report", "css", edited("playwright-core/lib/vite/htmlReport/report.css", version)),
    file("axe", "js", `${edited("axe-core/axe.min.js", version)};window.deployed=${version};`),
    file("report", "js", edited("playwright-core/lib/vite/htmlReport/report.js", version)),
  ];
  const shown = "{ deployed, axe: typeof axe.run, words: document.querySelector('h1').innerText }";
  const page = pageOf(files, `Version ${version}`, shown);
  return { files, page, shown: { deployed: version, axe: "function", words: `Version ${version}` } };
}

test.skipIf(!hasChromium)(
  "after each of two deploys of a changed line, Chromium loads what has changed of a page, styles and two scripts",
  { tags: ["gate"], timeout: 120_000 },
  () => loadsWhatHasChanged("a line", [1, 2, 3].map(withLineChanged)),
);

/** Three versions of each, by the names under which they are installed beside each other. */
const RELEASES = ["18.2.0", "18.3.0", "18.3.1"].map((react, index) => ({
  react,
  bootstrap: ["5.3.6", "5.3.7", "5.3.8"][index]!,
  axe: ["4.10.1", "4.10.2", "4.10.3"][index]!,
}));

const PACKAGES = [
  "react@18.3.1",
  ...RELEASES.flatMap(({ react, bootstrap, axe }, index) => [
    `react-dom-${index}@npm:react-dom@${react}`,
    `bootstrap-${index}@npm:bootstrap@${bootstrap}`,
    `axe-core-${index}@npm:axe-core@${axe}`,
  ]),
];

function release(folder: string, index: number): Deploy {
  const packaged = (path: string) => readFileSync(join(folder, "node_modules", path), "utf8");
  const files = [
    file("bootstrap", "css", packaged(`bootstrap-${index}/dist/css/bootstrap.min.css`)),
    file("react", "js", packaged("react/umd/react.production.min.js")),
    file("react-dom", "js", packaged(`react-dom-${index}/umd/react-dom.production.min.js`)),
    file("axe", "js", packaged(`axe-core-${index}/axe.min.js`)),
  ];
  const shown = `(() => {
    const root = document.createElement("p");
    ReactDOM.flushSync(() => ReactDOM.createRoot(root).render(React.createElement("b", null, "rendered")));
    const bootstrap = getComputedStyle(document.body).getPropertyValue("--bs-primary");
    return { react: ReactDOM.version, axe: axe.version, bootstrap, words: root.innerHTML };
  })()`;
  const { react, axe } = RELEASES[index]!;
  const words = "<b>rendered</b>";
  return {
    files,
    page: pageOf(files, `Release ${index}`, shown),
    shown: { react: expect.stringContaining(react), axe, bootstrap: "#0d6efd", words },
  };
}

test.skipIf(!hasChromium)(
  "after two releases each of react-dom, bootstrap and axe-core, Chromium loads what has changed",
  { tags: ["deep"], timeout: 300_000 },
  async ({ skip }) => {
    const project = await fetchedFromNpm(PACKAGES);
    if ("missing" in project) return skip(project.missing);
    await loadsWhatHasChanged(
      "releases",
      RELEASES.map((_, index) => release(project.folder, index)),
    );
  },
);

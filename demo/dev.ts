/** `npm run dev`: the demo site behind the edge, with a key that stops and starts the site. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { devCommand } from "../cli/commands/dev.ts";
import { EXIT } from "../cli/exit-code.ts";
import type { DemoSite } from "../local/dev/demo-site.ts";
import { DevError } from "../local/dev/dev-error.ts";
import { createPurger } from "../sdk/index.ts";
import type { Listening } from "./listen.ts";
import { type DemoOrigin, startDemoOrigin } from "./origin.ts";
import { startSearchPage } from "./search-page/server.ts";

const HOST = "127.0.0.1";
const PORT = 8788;
const DEMO_SITE = "the demo site";

/** The ports of the site and of the page on another origin: the usual ones, or the two after the edges' ports. */
function portsBeside(edges: readonly number[]): readonly [site: number, search: number] {
  const usual = [PORT, PORT + 1] as const;
  const next = Math.max(...edges) + 1;
  return edges.some((port) => port === usual[0] || port === usual[1]) ? [next, next + 1] : usual;
}

/** The error for a port on which another process listens; `null` for any other error. `what` would listen there. */
function portTaken(error: unknown, what: string): DevError | null {
  const { code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code !== "EADDRINUSE") return null;
  return new DevError(
    `port ${port}, where ${what} would listen, is taken. Stop the process that listens there. Is npm run dev running elsewhere?`,
  );
}

/** The site keeps its rows in a file, so that they survive a restart. */
const demoSite: DemoSite = {
  origin: `http://${HOST}:${PORT}`,
  async start({ endpoint, token, ports, publicHost }, tell) {
    const [port, searchPort] = portsBeside(ports);
    const folder = await mkdtemp(join(tmpdir(), "tidemark-demo-"));
    const renders = { count: 0 };
    const purger = createPurger({ endpoint, token });
    const startOrigin = () =>
      startDemoOrigin({
        port,
        host: HOST,
        database: join(folder, "demo.sqlite"),
        purger,
        renders,
        searchPageUrl,
        publicHosts: publicHost === null ? [] : [publicHost],
      });
    const searchPageUrl = `http://localhost:${searchPort}/`;
    const removeFolder = () => rm(folder, { recursive: true });
    let searchPage: Listening | undefined;
    let origin: DemoOrigin | null;
    try {
      searchPage = await startSearchPage({ port: searchPort, host: HOST, siteUrl: endpoint });
      origin = await startOrigin();
    } catch (error) {
      await Promise.all([searchPage?.close(), purger.close()]);
      await removeFolder();
      throw portTaken(error, searchPage ? DEMO_SITE : "the search page of the demo") ?? error;
    }
    const keys = createInterface({ input: process.stdin });
    const toggle = async () => {
      if (origin) {
        const stopping = origin;
        origin = null;
        await stopping.close();
        tell("The origin is stopped. Type o and Enter to start it again.");
      } else {
        origin = await startOrigin();
        tell("The origin is up again.");
      }
    };
    // Each press waits for the previous one, so that no start overtakes a stop.
    let work = Promise.resolve();
    keys.on("line", (line) => {
      if (line.trim() !== "o") return tell("Type o and Enter to stop or start the origin; Ctrl-C stops everything.");
      work = work.then(toggle).catch((error: Error) => tell((portTaken(error, DEMO_SITE) ?? error).message));
    });
    return {
      origin: `http://${HOST}:${port}`,
      places: [
        ["search", `${searchPageUrl}  (a page on another origin that calls the edge)`],
        ["stop", "type o and Enter to stop the origin, and again to start it"],
      ],
      path: "/plog/",
      async stop() {
        keys.close();
        await work;
        await origin?.close();
        await searchPage.close();
        await purger.close();
        await removeFolder();
      },
    };
  },
};

await devCommand(demoSite)
  .name("npm run dev --")
  .showHelpAfterError("(--help lists the options)")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? EXIT.done : EXIT.usage))
  .parseAsync();

/** The demo site on its own, for an edge that was started elsewhere: `node demo/serve.ts --help`. */
import { Command, InvalidArgumentError } from "commander";
import { type DemoEvent, type DemoOrigin, type DemoPurger, startDemoOrigin } from "./origin.ts";
import { startSearchPage } from "./search-page/server.ts";

interface CommandLine {
  port: number;
  host: string;
  searchPort: number;
  edge: string;
  publicHost: string[];
  database: string;
  quiet?: true;
}

await new Command("demo/serve.ts")
  .description("Starts the demo site, and a page on another origin that calls its autocomplete through the edge.")
  .option("-p, --port <number>", "the port of the site", port, 8788)
  .option("--host <address>", "the address to listen on", "127.0.0.1")
  .option("--search-port <number>", "the port of the page on another origin", port, 8789)
  .option("--edge <url>", "the edge in front of the site, as a browser sees it", "http://localhost:8787")
  .option("--public-host <name...>", "further host names to accept in X-Forwarded-Host", [])
  .option("--database <file>", "keep the rows in this file instead of in memory", ":memory:")
  .option("-q, --quiet", "do not log requests")
  .addHelpText(
    "after",
    "\nSaving a post purges the edge if TIDEMARK_ENDPOINT (the address of the edge) and TIDEMARK_TOKEN are set.",
  )
  .action(start)
  .parseAsync();

async function start(options: CommandLine): Promise<void> {
  const purger = await purgerFromEnvironment();
  const searchPageUrl = `http://localhost:${options.searchPort}/`;
  let origin: DemoOrigin | undefined;
  try {
    origin = await startDemoOrigin({
      port: options.port,
      host: options.host,
      publicHosts: options.publicHost,
      database: options.database,
      searchPageUrl,
      ...(purger && { purger }),
      ...(!options.quiet && { log: writeLine }),
    });
    const searchPage = await startSearchPage({ port: options.searchPort, host: options.host, siteUrl: options.edge });
    console.error(`The site:            ${origin.url}/`);
    console.error(`The other origin:    ${searchPageUrl}  calls ${options.edge}`);
    console.error(
      `Purging:             ${purger ? process.env.TIDEMARK_ENDPOINT : "off; set TIDEMARK_ENDPOINT and TIDEMARK_TOKEN"}`,
    );
    console.error("Ctrl+C stops both.");
    const running = [origin, searchPage];
    const stop = () => void Promise.all(running.map((server) => server.close())).then(() => process.exit(0));
    process.once("SIGINT", stop).once("SIGTERM", stop);
  } catch (error) {
    await origin?.close();
    console.error(
      isPortTaken(error) ? `Port ${error.port} is taken; choose another with --port or --search-port.` : error,
    );
    process.exitCode = 1;
  }
}

async function purgerFromEnvironment(): Promise<DemoPurger | undefined> {
  if (!process.env.TIDEMARK_ENDPOINT || !process.env.TIDEMARK_TOKEN) return undefined;
  const { createPurger } = await import("../sdk/index.ts");
  return createPurger();
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("A port is a number up to 65535.");
  return Number(text);
}

function isPortTaken(error: unknown): error is Error & { port: number } {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE" && "port" in error;
}

function writeLine(event: DemoEvent): void {
  switch (event.kind) {
    case "answered":
      console.error(
        `${event.status} ${event.method} ${event.path} ${event.tookMs} ms${event.forwarded ? "" : " (direct)"}`,
      );
      return;
    case "purged":
      console.error(
        `purged ${event.tags.join(" ")}${event.seq === undefined ? "" : ` as purge ${event.seq}`}: ${event.reason}`,
      );
      return;
    case "purge-failed":
      console.error(`could not purge ${event.tags.join(" ")} (${event.reason}): ${message(event.error)}`);
      return;
    case "outbox-failed":
      console.error(`could not read which purges are still waiting: ${message(event.error)}`);
      return;
    case "failed":
      console.error(`error at ${event.method} ${event.path}:`, event.error);
      return;
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import { Command } from "commander";
import { warm } from "../../../tools/crawl/warm.ts";
import { warmText } from "../../../tools/crawl/warm-text.ts";
import { DESCRIPTIONS } from "../../text/descriptions.ts";
import { addPageFlags, askingPages, type PageFlags, walkExit } from "./asking-pages.ts";

const AFTER_HELP = `
Without pages it requests those in the site's sitemaps: the ones that robots.txt names, or /sitemap.xml. The edge stores
each page as it is for a browser without cookies, in the cache that answers this machine; a CDN's other data centres have
caches of their own. Ctrl-C stops; pages that were stored stay stored, and a report says how many.

Exit codes: 0 every page was answered, 1 some were not, 2 wrong usage, 3 the edge does not answer, 130 interrupted.

  tidemark warm --edge https://www.example.com
  tidemark report access.log --json | jq -r '.warm[].url' | tidemark warm --edge https://www.example.com -`;

/** `tidemark warm`: requests a site's pages, so that the edge stores them. */
export function warmCommand(): Command {
  return addPageFlags(new Command("warm"))
    .description(DESCRIPTIONS.warm)
    .addHelpText("after", AFTER_HELP)
    .action(async (pages: string[], flags: PageFlags) => {
      process.exitCode = await askingPages(pages, flags, async (options, clear) => {
        const { report, isSilent } = await warm(options);
        clear();
        process.stdout.write(flags.json ? `${JSON.stringify(report)}\n` : warmText(report));
        return walkExit(report, isSilent);
      });
    });
}

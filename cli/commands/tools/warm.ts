import { Command } from "commander";
import { warm } from "../../../tools/crawl/warm.ts";
import { warmText } from "../../../tools/crawl/warm-text.ts";
import { DESCRIPTIONS } from "../../text/descriptions.ts";
import { addPageFlags, askingPages, type PageFlags, walkExit } from "./asking-pages.ts";

const AFTER_HELP = `
Without pages it asks for those of the site's sitemaps: the ones that robots.txt names, or /sitemap.xml. What is stored
is the page as a browser without cookies gets it, where this machine reaches the edge: another data centre of a CDN has
a cache of its own. Ctrl-C keeps what is stored, and says how much that is.

Exit codes: 0 every page was answered, 1 some were not, 2 wrong usage, 3 the edge does not answer, 130 interrupted.

  tidemark warm --edge https://www.example.com
  tidemark report access.log --json | jq -r '.warm[].url' | tidemark warm --edge https://www.example.com -`;

/** `tidemark warm`: asks for a site's pages, so that the edge has them stored. */
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

import type { Reply } from "../../local/cdn/scripted-origin.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { Step } from "../engine/scenario.ts";

/**
 * A framework's section of docs/sites.md: its site, in front of replies that were recorded from a small app of the real
 * framework. The fields are as they were sent, without `Date`, `Server` and those that frame the body; bodies are short.
 */
export interface FrameworkTrial {
  /** The heading of the section. Its first site is tried. */
  readonly heading: string;
  /** The versions that the replies were recorded from, as the page names them. */
  readonly recordedFrom: string;
  readonly origin: Readonly<Record<string, readonly Reply[]>>;
  readonly steps: readonly Step[];
  /** The site without one of its settings, by the setting's name. The trial must fail for each. */
  readonly without: Readonly<Record<string, (site: SiteInput) => SiteInput>>;
}

/** What Chrome 142 sends for a page. */
export const BROWSER = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
  "accept-language": "en-US,en;q=0.9",
  "accept-encoding": "gzip, deflate, br, zstd",
  "sec-fetch-mode": "navigate",
  "sec-fetch-site": "none",
};

/** The time after which a purge has settled. */
export const SETTLED_MS = 1250;

/** The site without its rules for the paths that this pattern names. */
export function withoutRoute(match: string): (site: SiteInput) => SiteInput {
  return (site) => {
    const routes = site.routes?.filter((route) => route.match !== match);
    if (routes?.length !== (site.routes?.length ?? 0) - 1) throw new Error(`the page's site has no route ${match}`);
    return { ...site, routes };
  };
}

/** The site without one name among the cookies of its `bypass`. */
export function withoutBypassCookie(name: string): (site: SiteInput) => SiteInput {
  return (site) => {
    const cookies = site.bypass?.cookies?.filter((each) => each !== name);
    if (cookies?.length !== (site.bypass?.cookies?.length ?? 0) - 1) throw new Error(`bypass does not name ${name}`);
    return { ...site, bypass: { ...site.bypass, cookies } };
  };
}

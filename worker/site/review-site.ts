import type { SiteReview } from "../../wire/site-review.ts";
import { compressionSettings } from "./compression-settings.ts";
import { shadowedRoutes } from "./shadowed-routes.ts";
import { compileSite, type SiteOverrides } from "./site.ts";
import { SiteError } from "./site-error.ts";
import type { SiteInput } from "./site-input.ts";
import { slowExpressions } from "./slow-expressions.ts";
import { weakenedDefences } from "./weakened-defences.ts";

/** Reviews a site with the settings that outrank it. */
export function reviewSite(input: SiteInput, overrides: SiteOverrides): SiteReview {
  try {
    const site = compileSite(input, overrides);
    compressionSettings(input);
    const { originUrl, originService, namesHosts, hosts } = site;
    const shadowed = shadowedRoutes(input.routes ?? []);
    const [slow, weakened] = [slowExpressions(input), weakenedDefences(site)];
    return { errors: [], originUrl, originService, namesHosts, hosts, shadowed, slow, weakened };
  } catch (error) {
    if (!(error instanceof SiteError)) throw error;
    return {
      errors: error.errors,
      originUrl: "",
      originService: null,
      namesHosts: false,
      hosts: null,
      shadowed: [],
      slow: [],
      weakened: [],
    };
  }
}

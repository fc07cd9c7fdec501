import type { SiteOverrides } from "./site.ts";

/** The variables of the environment that outrank the site's rules. */
export interface SiteVariables {
  /** Takes precedence over the site's `origin`. */
  readonly TIDEMARK_ORIGIN?: string | undefined;
  /** Takes precedence over the site's `hosts`: names separated by commas, or `*` for any. */
  readonly TIDEMARK_HOSTS?: string | undefined;
  /** Takes precedence over the site's `publicUrl`. */
  readonly TIDEMARK_PUBLIC_URL?: string | undefined;
}

/** The settings of the environment that outrank the site's rules. */
export function overridesOf(variables: SiteVariables): SiteOverrides {
  const hosts = String(variables.TIDEMARK_HOSTS ?? ""); // a list, as JSON allows, becomes names separated by commas
  return {
    origin: variables.TIDEMARK_ORIGIN || undefined,
    hosts: hosts ? (hosts === "*" ? null : hosts.split(",").map((host) => host.trim())) : undefined,
    publicUrl: variables.TIDEMARK_PUBLIC_URL || undefined,
  };
}

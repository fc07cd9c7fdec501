import type { SiteInput } from "../worker/site-input.ts";

/** A site as plain data. Its `origin` may be left out: a simulated CDN has one. */
export type SimulatedSiteInput = Omit<SiteInput, "origin"> & { readonly origin?: string };

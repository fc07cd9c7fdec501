/** The names of wrangler's config, in the order in which wrangler looks for them. */
export const WRANGLER_FILES = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"] as const;

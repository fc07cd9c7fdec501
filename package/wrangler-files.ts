/** The names of wrangler's config, in the order in which wrangler looks for them. */
export const WRANGLER_FILES = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"] as const;

/** The edge's config in the project of an app that is a worker itself, whose config has one of those names. */
export const EDGE_WRANGLER_FILE = "wrangler.edge.toml";

/** The edge's variables on this machine beside that: `wrangler types` takes those in other files for the app's. */
export const EDGE_VARIABLES_FILE = ".edge.vars";

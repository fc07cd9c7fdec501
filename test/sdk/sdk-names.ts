/** What `tidemark` exports, of the sources and of the package. */
export const SDK_NAMES = [
  "PurgeConflict",
  "PurgeError",
  "PurgeForbidden",
  "PurgeIncomplete",
  "PurgeRateLimited",
  "PurgeRejected",
  "PurgeTimeout",
  "PurgeUnauthorized",
  "PurgeUnreachable",
  "createPurger",
  "defineTags",
  "tagResponse",
];

import { createHash } from "node:crypto";

/** The token of the children, which a parent knows by its hash. */
export const PARENT_TOKEN = "parent-token-of-the-tests-with-32-characters";
export const PARENT_TOKENS = JSON.stringify([
  { name: "children", scopes: ["parent"], sha256: createHash("sha256").update(PARENT_TOKEN).digest("hex") },
]);

/**
 * Ends a release if package.json does not say where the package comes from: the links of its page would lead nowhere, and
 * the registry takes a statement of provenance only if both name the same repository.
 */
import { readFileSync } from "node:fs";

const { repository } = JSON.parse(readFileSync("package.json", "utf8")) as { repository?: { url?: string } };

if (!repository?.url) {
  console.error(
    "package.json has no repository. Set it once, and commit it: " +
      'npm pkg set repository.type=git "repository.url=git+https://HOST/OWNER/NAME.git".',
  );
  process.exit(1);
}

/** Ends `npm publish` if package.json does not say where the package comes from: its links would lead nowhere. */
import { readFileSync } from "node:fs";

const { repository } = JSON.parse(readFileSync("package.json", "utf8")) as { repository?: { url?: string } };

if (!repository?.url) {
  console.error(
    "package.json has no repository. Publish by a tag, through .github/workflows/publish.yml, which sets it; or run " +
      'npm pkg set repository.type=git "repository.url=git+https://HOST/OWNER/NAME.git" first.',
  );
  process.exit(1);
}

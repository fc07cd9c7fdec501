/**
 * Ends a release that would be half made. If package.json does not say where the package comes from, the links of its page
 * lead nowhere, and the registry takes a statement of provenance only if both name the same repository. If tag and versions
 * differ, one registry takes the files and another refuses them.
 */
import { readFileSync } from "node:fs";

const PYTHON = "sdk/python/pyproject.toml";

interface Manifest {
  readonly version: string;
  readonly repository?: { readonly url?: string };
}

const { repository, version } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const [, ofPython] = /^version = "(.*)"$/m.exec(readFileSync(PYTHON, "utf8")) ?? [];
const tag = process.env.GITHUB_REF_NAME || `v${version}`; // without the workflow nobody has pushed a tag

function refuse(why: string): never {
  console.error(why);
  process.exit(1);
}

if (!repository?.url) {
  refuse(
    "package.json has no repository. Set it once, and commit it: " +
      'npm pkg set repository.type=git "repository.url=git+https://HOST/OWNER/NAME.git".',
  );
}
if (ofPython !== version) {
  refuse(
    `package.json has the version ${version}, and ${PYTHON} has ${ofPython}. Write the same into both, and commit it.`,
  );
}
if (tag !== `v${version}`) refuse(`The tag ${tag} is not that of the version ${version} in package.json.`);

import { run } from "../run.ts";

/** Builds and packs the package in a folder of sources, as `npm publish` would, and returns the name of the file. */
export async function packForNpm(sources: string, into: string): Promise<string> {
  const packed = await run(["npm", "pack", "--json", "--pack-destination", into], {
    cwd: sources,
    env: { npm_config_ignore_scripts: "true" },
  });
  // npm before 12 prints a list.
  const found = Object.values(JSON.parse(packed) as Record<string, { readonly filename: string }>);
  return found[0]!.filename;
}

/** What `prepack` does. Apart, so that what it prints is not taken for the list of npm. */
export async function buildPackage(sources: string): Promise<void> {
  await run(["npm", "run", "build"], { cwd: sources });
}

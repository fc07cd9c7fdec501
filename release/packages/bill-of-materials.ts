import { createHash } from "node:crypto";
import type { Commit } from "../commit.ts";
import { ReleaseError } from "../release-error.ts";
import { run } from "../run.ts";
import type { ThirdParty } from "./third-parties.ts";

/** A component in CycloneDX 1.5. */
interface Component {
  readonly "bom-ref": string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly object[];
}

interface BillOfMaterials {
  readonly metadata: { readonly component: Component } & Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** What is no package of npm. */
export interface Other {
  readonly name: string;
  readonly version: string;
  /** What kind of package it is, as a package URL names it, such as `deb/debian`. */
  readonly kind: string;
}

/**
 * What is in the archives and in the image, as CycloneDX: npm's list of the locked packages, with their hashes, less those that are not in
 * them, and with `others`. npm draws a random number and looks at the clock and at the name of the folder: here the number
 * follows from the commit, and the date is the commit's.
 */
export async function billOfMaterials(
  sources: string,
  carried: readonly ThirdParty[],
  others: readonly Other[],
  { id, atSeconds }: Commit,
): Promise<string> {
  const printed = await run(["npm", "sbom", "--package-lock-only", "--sbom-format=cyclonedx"], { cwd: sources });
  const { metadata, components, dependencies, ...bill } = JSON.parse(printed) as BillOfMaterials;
  const names = new Set(carried.map(({ name, version }) => `${name}@${version}`));
  const kept = components.filter(({ "bom-ref": ref }) => names.has(ref));
  if (kept.length !== names.size) throw new ReleaseError("package-lock.json lacks a package that is bundled.");
  const all = [...kept.map(withoutProperties), ...others.map(component)];
  const main = { ...metadata.component, name: "tidemark", type: "application" };
  return `${JSON.stringify(
    {
      ...bill,
      serialNumber: `urn:uuid:${uuidOf(id)}`,
      metadata: { timestamp: new Date(atSeconds * 1_000).toISOString(), component: main },
      components: all,
      dependencies: [
        { ref: main["bom-ref"], dependsOn: all.map(({ "bom-ref": ref }) => ref) },
        ...dependencies.filter(({ ref }) => kept.some(({ "bom-ref": other }) => other === ref)).map(within(all)),
      ],
    },
    null,
    2,
  )}\n`;
}

/** npm marks what only the build of this project needs, and these are in what was built. */
function withoutProperties({ properties: _, ...rest }: Component & { readonly properties?: unknown }): Component {
  return rest;
}

function within(all: readonly Component[]) {
  const refs = new Set(all.map(({ "bom-ref": ref }) => ref));
  return ({ ref, dependsOn }: { readonly ref: string; readonly dependsOn: readonly string[] }) => ({
    ref,
    dependsOn: dependsOn.filter((each) => refs.has(each)),
  });
}

function component({ name, version, kind }: Other): Component {
  const ref = `${name}@${version}`;
  return { "bom-ref": ref, type: "library", name, version, purl: `pkg:${kind}/${encodeURIComponent(name)}@${version}` };
}

/** A UUID that follows from a text (RFC 9562 §5.8). */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

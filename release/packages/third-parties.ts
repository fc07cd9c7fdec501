import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";

/** A package that is in what is released. */
export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  /** As SPDX names it. */
  readonly licence: string;
  /** The text that has to come with it; `null` if its package has none. */
  readonly text: string | null;
}

/** What a package's folder says of it. Throws a `ReleaseError` for one whose licence has no name. */
export async function thirdParty(folder: string): Promise<ThirdParty> {
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
  const { name, version, license } = manifest as { name: string; version: string; license?: string };
  if (typeof license !== "string") throw new ReleaseError(`${name} ${version} names no licence in its package.json.`);
  const file = (await readdir(folder)).sort().find((each) => /^(licen[cs]e|copying)(\.|$)/i.test(each));
  return { name, version, licence: license, text: file ? await readFile(join(folder, file), "utf8") : null };
}

/** All of them, one behind the other. */
export function thirdPartiesText(parties: readonly ThirdParty[]): string {
  const parts = parties.map(({ name, version, licence, text }) => {
    const words = text ?? `Its package has no text of the licence. It says: ${licence}.`;
    return `${name} ${version} (${licence})\n\n${words.replaceAll("\r\n", "\n").trim()}\n`;
  });
  return `Tidemark contains these works of others.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

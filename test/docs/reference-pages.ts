import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";

/** One exported name, or a member of one, as API Extractor describes it. */
export interface Described {
  readonly kind: string;
  readonly name?: string;
  readonly docComment: string;
  readonly excerptTokens: readonly { readonly text: string }[];
  readonly members?: readonly Described[];
}

const ENTRIES = [
  { entry: "tidemark", source: "sdk/index", page: "docs/reference/tidemark.md", about: "The purge client." },
  {
    entry: "tidemark/testing",
    source: "sdk/testing",
    page: "docs/reference/testing.md",
    about: "For tests of a backend.",
  },
] as const;

const GROUPS = [
  { heading: "Functions", kinds: ["Function"] },
  { heading: "Errors", kinds: ["Class"] },
  { heading: "Types", kinds: ["Interface", "TypeAlias"] },
] as const;

/** A page for each entry of the SDK, made from the comments in its sources. */
export function referencePages(): {
  readonly path: string;
  readonly text: string;
  readonly exports: readonly Described[];
}[] {
  return describeEntries().map(({ entry, page, about, exports }) => {
    const groups = GROUPS.map(({ heading, kinds }) => ({
      heading,
      members: exports.filter(({ kind }) => (kinds as readonly string[]).includes(kind)),
    }));
    const left = exports.filter((each) => !groups.some(({ members }) => members.includes(each)));
    if (left.length > 0) throw new Error(`no group has ${left.map(({ kind, name }) => `${kind} ${name}`).join()}`);
    const sections = groups
      .filter(({ members }) => members.length > 0)
      .map(({ heading, members }) => `## ${heading}\n\n${members.map(entryText).join("\n")}`);
    const begin = `# Reference: \`${entry}\`\n\n${about} \`npm run docs\` makes this page from the comments in the sources.\n\n`;
    return { path: page, text: begin + sections.join("\n"), exports };
  });
}

function entryText({ kind, name, docComment, excerptTokens, members = [] }: Described): string {
  const raw = kind === "TypeAlias" ? textOf(excerptTokens) : signatureOf(excerptTokens);
  const signature = raw.replace(/^export (declare )?/, "");
  const isLong = kind === "Function" || kind === "TypeAlias";
  const parent = /\bextends (.*)$/.exec(signature)?.[1];
  const first = isLong
    ? `\`\`\`ts\n${signature}\n\`\`\`\n\n`
    : parent === undefined
      ? ""
      : `Extends \`${parent}\`.\n\n`;
  const doc = docText(docComment);
  const list = members.filter((member) => member.kind !== "Constructor" && !isRepeatedName(member)).map(memberText);
  return `### ${name}\n\n${first}${doc === "" ? "" : `${doc}\n`}${list.length > 0 ? `\n${list.join("")}` : ""}`;
}

function memberText({ docComment, excerptTokens }: Described): string {
  const doc = docText(docComment);
  const lines = doc === "" ? "" : `\n\n${doc.replace(/^(?=.)/gm, "  ")}`;
  return `- \`${signatureOf(excerptTokens).replace(/;$/, "")}\`${lines}\n`;
}

/** The property `name` of each class of errors, which says the heading again. */
function isRepeatedName({ kind, name }: Described): boolean {
  return kind === "Property" && name === "name";
}

/** The signature in one line, without the comments in it. */
function signatureOf(tokens: Described["excerptTokens"]): string {
  return textOf(tokens)
    .replace(/\/\*\*.*?\*\//gs, "")
    .replace(/\s+/g, " ")
    .trim();
}

function textOf(tokens: Described["excerptTokens"]): string {
  return tokens.map(({ text }) => text).join("");
}

function docText(comment: string): string {
  return comment
    .replace(/^\/\*\*\s?|\s*\*\/\s*$/g, "")
    .replace(/^ ?\* ?/gm, "")
    .trim();
}

function describeEntries() {
  mkdirSync(".tidemark", { recursive: true });
  const folder = mkdtempSync(join(".tidemark", "reference-"));
  try {
    const out = resolve(folder, "out");
    const compilerOptions = {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: out,
      rootDir: resolve("."),
    };
    const files = ENTRIES.map(({ source }) => resolve(`${source}.ts`));
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: resolve("tsconfig.json"), compilerOptions, files, include: [] }),
    );
    const tsc = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", folder], { encoding: "utf8" });
    if (tsc.status !== 0) throw new Error(tsc.stdout);
    return ENTRIES.map((entry) => ({ ...entry, exports: describe(join(out, `${entry.source}.d.ts`), folder) }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The exports of a file of declarations, by name. */
function describe(declarations: string, folder: string): readonly Described[] {
  const apiJsonFilePath = resolve(folder, "api.json");
  const quiet = { default: { logLevel: "none" } } as never;
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: resolve("."),
      mainEntryPointFilePath: declarations,
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: "es2022",
            lib: ["es2022", "esnext.disposable", "dom"],
            module: "nodenext",
            types: ["node"],
            skipLibCheck: true,
            allowImportingTsExtensions: true,
            noEmit: true,
          },
          files: [declarations],
        },
      },
      apiReport: { enabled: false, reportFileName: "unused" },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      docModel: { enabled: true, apiJsonFilePath },
      messages: { extractorMessageReporting: quiet, tsdocMessageReporting: quiet },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: resolve("package.json"),
  });
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      message.handled = message.logLevel !== "error" && message.logLevel !== "warning";
    },
  });
  if (!succeeded) throw new Error(`API Extractor could not read ${declarations}`);
  const { members } = JSON.parse(readFileSync(apiJsonFilePath, "utf8")) as { members: [{ members: Described[] }] };
  return members[0].members;
}

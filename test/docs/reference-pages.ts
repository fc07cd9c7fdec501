import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { CompilerState, Extractor, ExtractorConfig } from "@microsoft/api-extractor";

/** One exported name, or a member of one, as API Extractor describes it. */
export interface Described {
  readonly kind: string;
  readonly name?: string;
  readonly docComment: string;
  readonly excerptTokens: readonly Token[];
  readonly extendsTokenRange?: TokenRange;
  readonly extendsTokenRanges?: readonly TokenRange[];
  readonly members?: readonly Described[];
}

interface Token {
  readonly text: string;
  /** What a name stands for: `tidemark!Purger:interface`, or `tidemark!~Purger:interface` if the entry does not export it. */
  readonly canonicalReference?: string;
}

interface TokenRange {
  readonly startIndex: number;
  readonly endIndex: number;
}

interface Entry {
  /** As it is imported. */
  readonly entry: string;
  /** Without its ending. */
  readonly source: string;
  readonly page: string;
  readonly about: string;
  /** The platform whose types its sources name. Default: Node. */
  readonly platform?: keyof typeof PLATFORMS;
  /** Classes whose members nobody calls: they are only passed on. Default: none. */
  readonly opaque?: readonly string[];
}

const ENTRIES: readonly Entry[] = [
  { entry: "tidemark", source: "sdk/index", page: "docs/reference/tidemark.md", about: "The purge client." },
  {
    entry: "tidemark/testing",
    source: "sdk/testing",
    page: "docs/reference/testing.md",
    about: "For tests of a backend.",
  },
  {
    entry: "tidemark/outbox/sqlite",
    source: "sdk/outbox/sqlite",
    page: "docs/reference/outbox-sqlite.md",
    about: "An [outbox](../purging.md#an-outbox) in SQLite.",
  },
  {
    entry: "tidemark/outbox/pg",
    source: "sdk/outbox/pg",
    page: "docs/reference/outbox-pg.md",
    about: "An [outbox](../purging.md#an-outbox) in PostgreSQL.",
  },
  ...(["express", "fastify", "hono", "next"] as const).map((name) => ({
    entry: `tidemark/${name}`,
    source: `sdk/frameworks/${name}`,
    page: `docs/reference/${name}.md`,
    about: `For backends in ${name[0]!.toUpperCase()}${name.slice(1)}.`,
  })),
  {
    entry: "tidemark/respond",
    source: "sdk/frameworks/respond",
    page: "docs/reference/respond.md",
    about: "For frameworks whose middleware is a function to a `Response`, as in SvelteKit and Astro.",
  },
  {
    entry: "tidemark/worker",
    source: "worker/package",
    page: "docs/reference/worker.md",
    about:
      "The edge as a worker, and every setting of its site: [`SiteInput`](#siteinput), and [`RouteInput`](#routeinput) by path.",
    platform: "worker",
    opaque: ["PurgeLog"],
  },
  {
    entry: "tidemark/opennext",
    source: "sdk/opennext/index.worker",
    page: "docs/reference/opennext.md",
    about: "For [apps on OpenNext](../getting-started.md#opennext), in their worker.",
    platform: "worker",
    opaque: ["TidemarkPurge"],
  },
  {
    entry: "tidemark/opennext/config",
    source: "sdk/opennext/config",
    page: "docs/reference/opennext-config.md",
    about: "For `open-next.config.ts`.",
    platform: "worker",
  },
  {
    entry: "tidemark/local",
    source: "local/index",
    page: "docs/reference/local.md",
    about: "[A whole CDN in a test](../testing.md).",
  },
  {
    entry: "tidemark/local/matchers",
    source: "local/matchers/vitest",
    page: "docs/reference/local-matchers.md",
    about:
      "Adds [matchers](../testing.md) to the `expect` of vitest where it is imported, and of Jest where it is required.",
  },
];

/** The entries of the package without a page, with the reason. */
export const WITHOUT_PAGE: Readonly<Record<string, string>> = {
  "tidemark/worker/internal": "for the simulated CDN and the commands; any release may change it",
  "tidemark/package.json": "no module",
};

const GROUPS = [
  { heading: "Functions", has: ({ kind }: Described) => kind === "Function" },
  { heading: "Constants", has: ({ kind }: Described) => kind === "Variable" },
  { heading: "Classes", has: (each: Described) => each.kind === "Class" && !isError(each) },
  { heading: "Errors", has: (each: Described) => each.kind === "Class" && isError(each) },
  { heading: "Types", has: ({ kind }: Described) => kind === "Interface" || kind === "TypeAlias" },
] as const;

export interface ReferencePage {
  readonly entry: string;
  readonly path: string;
  readonly text: string;
  readonly exports: readonly Described[];
}

/** A page for each entry of the package, made from the comments in its sources. */
export function referencePages(): ReferencePage[] {
  const described = describeEntries();
  return described.map(({ entry, page, about, exports }) => {
    const groups = GROUPS.map(({ heading, has }) => ({ heading, members: exports.filter(has) }));
    const left = exports.filter((each) => !groups.some(({ members }) => members.includes(each)));
    if (left.length > 0) throw new Error(`no group has ${left.map(({ kind, name }) => `${kind} ${name}`).join()}`);
    const sections = groups
      .filter(({ members }) => members.length > 0)
      .map(({ heading, members }) => `## ${heading}\n\n${members.map(entryText).join("\n")}`);
    const links = namesOfOthers(exports).flatMap((name) => {
      const other = described.find((each) => each.exports.some((one) => one.name === name));
      return other === undefined ? [] : [`[\`${name}\`](${basename(other.page)}#${name.toLowerCase()})`];
    });
    const elsewhere = links.length === 0 ? "" : `\nOn other pages: ${links.join(", ")}.\n`;
    const begin = `# Reference: \`${entry}\`\n\n${about} \`npm run docs\` makes this page from the comments in the sources.\n\n`;
    return { entry, path: page, text: begin + sections.join("\n") + elsewhere, exports };
  });
}

/** The names of this package that stand on a page whose entry does not export them. */
export function namesOfOthers(exports: readonly Described[]): string[] {
  const tokens = exports.flatMap((each) => [each, ...shownMembers(each)].flatMap(({ excerptTokens }) => excerptTokens));
  const names = tokens.flatMap(({ canonicalReference = "" }) => /!~(\w+)/.exec(canonicalReference)?.[1] ?? []);
  return [...new Set(names)].sort();
}

function entryText(described: Described): string {
  const { kind, name, docComment, excerptTokens } = described;
  const text = kind === "TypeAlias" ? textOf(excerptTokens) : signatureOf(excerptTokens);
  const signature = text.replace(/^export (declare )?/, "").replace(/ +$/gm, "");
  const isLong = kind === "Function" || kind === "TypeAlias" || kind === "Variable";
  const parents = parentsOf(described);
  const first = isLong
    ? `\`\`\`ts\n${kind === "Variable" ? "const " : ""}${signature}\n\`\`\`\n\n`
    : parents === ""
      ? ""
      : `Extends \`${parents}\`.\n\n`;
  const doc = docText(docComment);
  const list = shownMembers(described).map(memberText);
  return `### ${name}\n\n${first}${doc === "" ? "" : `${doc}\n`}${list.length > 0 ? `\n${list.join("")}` : ""}`;
}

/** All members but the constructor, and but the property `name` of each class of errors, which says the heading again. */
export function shownMembers({ members = [] }: Described): readonly Described[] {
  return members.filter(({ kind, name }) => kind !== "Constructor" && !(kind === "Property" && name === "name"));
}

function memberText({ docComment, excerptTokens }: Described): string {
  const doc = docText(docComment);
  const lines = doc === "" ? "" : `\n\n${doc.replace(/^(?=.)/gm, "  ")}`;
  return `- \`${memberSignature(excerptTokens)}\`${lines}\n`;
}

/** A member's signature without the words that say nothing to a caller. */
function memberSignature(tokens: readonly Token[]): string {
  return signatureOf(tokens)
    .replace(/;$/, "")
    .replace(/^(?:readonly )?(?:get (\w+)\(\))?/, "$1")
    .replace(/^(\w+\?: .*) \| undefined$/, "$1");
}

function isError(described: Described): boolean {
  return parentsOf(described).endsWith("Error");
}

function parentsOf({ excerptTokens, extendsTokenRange, extendsTokenRanges }: Described): string {
  const ranges = extendsTokenRanges ?? (extendsTokenRange === undefined ? [] : [extendsTokenRange]);
  return ranges
    .map(({ startIndex, endIndex }) => signatureOf(excerptTokens.slice(startIndex, endIndex)))
    .filter((parent) => parent !== "")
    .join(", ");
}

/** The signature in one line, without the comments in it. */
function signatureOf(tokens: readonly Token[]): string {
  return textOf(tokens)
    .replace(/\/\*\*.*?\*\//gs, "")
    .replace(/\s+/g, " ")
    .trim();
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join("");
}

function docText(comment: string): string {
  return comment
    .replace(/^\/\*\*\s?|\s*\*\/\s*$/g, "")
    .replace(/^ ?\* ?/gm, "")
    .trim();
}

/** For each platform, the settings that its sources are checked with, and the types that their declarations name. */
const PLATFORMS = {
  node: { tsconfig: "tsconfig.json", types: ["node"], lib: ["es2024", "esnext.disposable"], declared: [] },
  worker: {
    tsconfig: "worker/tsconfig.json",
    types: ["@cloudflare/workers-types"],
    lib: ["es2024"],
    declared: ["worker/async-hooks.d.ts"],
  },
} as const;

function describeEntries() {
  mkdirSync(".tidemark", { recursive: true });
  const folder = mkdtempSync(join(".tidemark", "reference-"));
  try {
    const byEntry = new Map(
      (["node", "worker"] as const).flatMap((platform) => {
        const entries = ENTRIES.filter((each) => (each.platform ?? "node") === platform);
        return [...describePlatform(platform, entries, folder)];
      }),
    );
    return ENTRIES.map(({ opaque = [], ...entry }) => {
      const exports = byEntry.get(entry.entry)!;
      return {
        ...entry,
        exports: exports.map((each) => (opaque.includes(each.name!) ? { ...each, members: [] } : each)),
      };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The exports of the entries, which share one program, because most of its time goes into the libraries' types. */
function describePlatform(
  platform: keyof typeof PLATFORMS,
  entries: readonly Entry[],
  folder: string,
): Map<string, readonly Described[]> {
  const out = resolve(folder, "out");
  writeDeclarations(platform, entries, folder, out);
  const declarations = entries.map(({ source }) => join(out, `${source}.d.ts`));
  const configs = declarations.map((path) => extractorConfig(path, declarations, platform, folder));
  const compilerState = CompilerState.create(configs[0]!, { additionalEntryPoints: declarations });
  return new Map(entries.map(({ entry }, index) => [entry, describe(configs[index]!, compilerState)]));
}

/** Without a check of types, which is a step of the gate. */
function writeDeclarations(
  platform: keyof typeof PLATFORMS,
  entries: readonly Entry[],
  folder: string,
  outDir: string,
): void {
  const emit = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    noCheck: true,
    outDir,
    rootDir: resolve("."),
  };
  const settings = {
    extends: resolve(PLATFORMS[platform].tsconfig),
    compilerOptions: emit,
    files: [...PLATFORMS[platform].declared, ...entries.map(({ source }) => `${source}.ts`)].map((file) =>
      resolve(file),
    ),
    include: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const tsc = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", folder], { encoding: "utf8" });
  if (tsc.status !== 0) throw new Error(tsc.stdout);
}

function extractorConfig(
  mainEntryPointFilePath: string,
  files: readonly string[],
  platform: keyof typeof PLATFORMS,
  folder: string,
): ExtractorConfig {
  const quiet = { default: { logLevel: "none" } } as never;
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: resolve("."),
      mainEntryPointFilePath,
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: "es2022",
            lib: [...PLATFORMS[platform].lib],
            module: "nodenext",
            types: [...PLATFORMS[platform].types],
            skipLibCheck: true,
            allowImportingTsExtensions: true,
            noEmit: true,
          },
          files,
        },
      },
      apiReport: { enabled: false, reportFileName: "unused" },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      docModel: { enabled: true, apiJsonFilePath: resolve(folder, "api.json") },
      messages: { extractorMessageReporting: quiet, tsdocMessageReporting: quiet },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: resolve("package.json"),
  });
}

/** The exports of a file of declarations, by name. */
function describe(config: ExtractorConfig, compilerState: CompilerState): readonly Described[] {
  const { succeeded } = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback(message) {
      message.handled = message.logLevel !== "error" && message.logLevel !== "warning";
    },
  });
  if (!succeeded) throw new Error(`API Extractor could not read ${config.mainEntryPointFilePath}`);
  const { members } = JSON.parse(readFileSync(config.apiJsonFilePath, "utf8")) as {
    members: [{ members: Described[] }];
  };
  return members[0].members;
}

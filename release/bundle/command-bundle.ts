import { mkdir, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join, relative } from "node:path";
import { type Plugin, type RolldownOutput, rolldown } from "rolldown";
import { ReleaseError } from "../release-error.ts";

/** What needs no package: it runs `serve` and everything else but what is for development. */
export interface CommandBundle {
  /** The packages that are in it, as folders below `node_modules`. */
  readonly packages: readonly string[];
}

/** The command itself, in a file for each of its parts: a call loads those that it needs, all of them when it starts. */
const COMMAND = { cli: "cli/main.ts" };

/**
 * The programs of processes and threads that live long, and what an owner's config imports. Each is one file, so that it
 * never loads another: a newer version may lie in the same folder by then.
 */
const PROGRAMS = {
  "worker-main": "server/supervisor/worker-main.ts",
  "edge-program": "server/program/edge-program.ts",
  "site-thread": "server/program/site-thread.ts",
  "file-writer-thread": "server/disk/file-writer-thread.ts",
  worker: "worker/package.ts",
};

/** Optional peers that a server needs for some of its options. */
const BUNDLED_PEERS = ["acme-client", "pg"];

/** Those that are for development, which the command asks for by name when a call needs them. */
const ABSENT = ["miniflare", "esbuild", "wrangler", "sharp", "vitest", "pg-native"];

/** Builds from the sources in a folder into another. */
export async function bundleCommand(sources: string, into: string, manifest: Manifest): Promise<CommandBundle> {
  await mkdir(into, { recursive: true });
  const outputs = [await build(sources, into, COMMAND, true)];
  for (const [name, file] of Object.entries(PROGRAMS))
    outputs.push(await build(sources, into, { [name]: file }, false));
  await writeFile(join(into, "package.json"), `${JSON.stringify(manifestOf(manifest), null, 2)}\n`);
  const modules = outputs.flatMap(({ output }) =>
    output.flatMap((each) => ("moduleIds" in each ? each.moduleIds : [])),
  );
  return { packages: packagesOf(modules, sources) };
}

async function build(
  sources: string,
  dir: string,
  input: Readonly<Record<string, string>>,
  codeSplitting: boolean,
): Promise<RolldownOutput> {
  const bundle = await rolldown({
    cwd: sources,
    input,
    platform: "node",
    external: [...ABSENT, /^cloudflare:/],
    plugins: [withoutHttp2ToOrigins, readingLittleOfNode],
    experimental: { attachDebugInfo: "none" }, // it names folders of this machine
  });
  try {
    const output = await bundle.write({
      dir,
      format: "esm",
      codeSplitting,
      comments: false,
      entryFileNames: "[name].mjs",
      chunkFileNames: "command-[hash].mjs",
      // Names stay, because traces of the stack show them.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    });
    refuseUnknownImports(output);
    return output;
  } finally {
    await bundle.close();
  }
}

/**
 * The server asks origins by HTTP/1.1 alone (`allowH2: false`), but undici would load Node's HTTP/2 and TLS for the rest at each
 * start of a process: 30 ms.
 */
const withoutHttp2ToOrigins: Plugin = {
  name: "without-http2-to-origins",
  load: {
    filter: { id: /\/undici\/lib\/dispatcher\/client-h2\.js$/ },
    handler: () => "module.exports = () => { throw new Error('HTTP/2 to origins is not bundled') };",
  },
};

/** The imports at the beginning of a file. Further below, texts of files that `tidemark init` writes have some. */
const IMPORTS = /^(?:#!.*\n)?(?:import [^;]*;\n)*/;
/** `import it, { one, two as other } from "node:fs"`, or `import * as it from "node:fs"`. */
const OF_NODE = /^import (?:(?:\* as )?([\w$]+))?(?:, )?(?:\{([^}]*)\})? ?from (.node:[\w/]+.);$/gm;

/**
 * An import of a module of Node reads all that it exports, and some of that Node loads when it is read: 20 ms in each process.
 * Here only what has a name is read.
 */
const readingLittleOfNode: Plugin = {
  name: "reading-little-of-node",
  renderChunk: (code) =>
    code.replace(IMPORTS, (imports) =>
      imports.replace(OF_NODE, (_import, whole?: string, names?: string, from?: string) => {
        const loaded = `globalThis.process.getBuiltinModule(${from})`;
        const parts = names && `const {${names.replaceAll(" as ", ": ")}} = ${loaded};`;
        return [whole && `const ${whole} = ${loaded};`, parts].filter(Boolean).join(" ");
      }),
    ),
};

/** A package that is neither in the bundle nor among those that may be absent would be missed only at a call. */
function refuseUnknownImports({ output }: RolldownOutput): void {
  const known = new Set([...builtinModules, ...ABSENT, ...output.map(({ fileName }) => fileName)]);
  for (const chunk of output) {
    if (chunk.type !== "chunk") continue;
    const unknown = [...chunk.imports, ...chunk.dynamicImports].filter(
      (name) => !name.startsWith("node:") && !name.startsWith("cloudflare:") && !known.has(name),
    );
    if (unknown.length > 0) throw new ReleaseError(`${chunk.fileName} imports ${unknown.join(", ")}, not bundled.`);
  }
}

/** What the bundle reads of the project's package.json. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly description: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** By `exports` the command finds itself, and by `carries` it knows which of its optional peers are in it. */
function manifestOf({ name, version, license, description, devDependencies }: Manifest): object {
  return {
    ...{ name, version, license, description, type: "module", carries: BUNDLED_PEERS },
    exports: { "./worker": "./worker.mjs", "./package.json": "./package.json" },
    devDependencies,
  };
}

function packagesOf(modules: readonly string[], sources: string): string[] {
  const found = modules.flatMap((id) => /^(?:\0.*?)?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []);
  return [...new Set(found)].sort((one, other) => (relative(sources, one) < relative(sources, other) ? -1 : 1));
}

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { importSummary } from "../../../tools/import/import-report.ts";
import { importNginx } from "../../../tools/import/nginx/import-nginx.ts";
import { CORPUS, type PublicConfiguration } from "./corpus.ts";

/** The folder with a clone of each repository, under its name with `+` for the slash. */
const FOLDER = process.env.TIDEMARK_CORPUS;
const NOT_RUN = "the public configurations are SKIPPED, because TIDEMARK_CORPUS names no folder with their clones";
if (FOLDER === undefined) process.stdout.write(`${NOT_RUN}\n`);

const cloneOf = ({ repository }: PublicConfiguration) => join(FOLDER ?? "", repository.replace("/", "+"));
const isThere = (each: PublicConfiguration) => FOLDER !== undefined && existsSync(join(cloneOf(each), each.path));

/** What the import makes of a public file: how many of the locations that nginx caches store. */
function imported({ path, root, server, within = "@", ...rest }: PublicConfiguration) {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-corpus-"));
  try {
    const clone = cloneOf({ path, ...rest });
    cpSync(clone, folder, { recursive: true, filter: (each) => !each.endsWith(".git") });
    const file = join(folder, dirname(path), "imported.conf");
    writeFileSync(
      file,
      within.replace("@", () => filledIn(readFileSync(join(clone, path), "utf8"))),
    );
    const options = {
      origin: "http://10.0.0.1",
      host: null,
      server: server ?? null,
      root: join(folder, root ?? "."),
    };
    const site = withMissingFiles(folder, () => importNginx(file, options));
    const cached = site.locations.filter(({ isCached }) => isCached);
    const store = cached.filter(({ stores }) => stores).length;
    const because = cached.flatMap((each) => each.because);
    return {
      summary: importSummary(site),
      because: [...new Set(because)],
      outcome: { store, pass: cached.length - store },
    };
  } catch (error) {
    if ((error as Error).name !== "ImportError") throw error;
    const summary = (error as Error).message.replaceAll(`${folder}/`, "");
    return { summary, because: [], outcome: "refused" as const };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a file includes from outside its repository is empty. */
function withMissingFiles<T>(folder: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const path = /there is no file (\S+?)\.? /.exec(`${(error as Error).message} `)?.[1];
    const file = path === undefined ? null : path.startsWith("/") ? path : join(process.cwd(), path);
    if (file === null || existsSync(file) || !file.startsWith(folder)) throw error;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
    return withMissingFiles(folder, read);
  }
}

/** A template with a word in each of its places. */
function filledIn(text: string): string {
  return text
    .replace(/\{%.*?%\}/gs, "")
    .replace(/\{\{.*?\}\}|\$\{[A-Z_0-9]+\}/gs, "filled")
    .replace(/(valid(?: \d+)+) filled/g, "$1 1h");
}

test("each public configuration is named once, by a whole revision", () => {
  expect(new Set(CORPUS.map(({ repository, path }) => `${repository}/${path}`)).size).toBe(CORPUS.length);
  for (const { revision } of CORPUS) expect(revision).toMatch(/^[0-9a-f]{40}$/);
});

describe.skipIf(FOLDER === undefined)(
  FOLDER === undefined ? NOT_RUN : "public configurations",
  { tags: ["deep"] },
  () => {
    const sum = { store: 0, pass: 0 };

    for (const each of CORPUS) {
      const name = `${each.repository} ${each.path}`;
      test.skipIf(!isThere(each))(isThere(each) ? name : `${name} is SKIPPED, because there is no clone`, () => {
        const clone = cloneOf(each);
        if (existsSync(join(clone, ".git"))) {
          const head = execFileSync("git", ["-C", clone, "rev-parse", "HEAD"], { encoding: "utf8" }).trim();
          expect(head, `the clone ${clone} is another revision`).toBe(each.revision);
        }
        const { summary, because, outcome } = imported(each);
        process.stdout.write(`${name}: ${summary}\n`);
        expect({ outcome, because }).toEqual({ outcome: each.expected, because: each.because ?? [] });
        if (outcome === "refused") return;
        sum.store += outcome.store;
        sum.pass += outcome.pass;
      });
    }

    test("how many of the locations that nginx caches store", () => {
      const { store, pass } = sum;
      process.stdout.write(`locations with a cache that store: ${store} of ${store + pass}\n`);
      // Where only some of the clones are there, their share says nothing.
      if (CORPUS.every(isThere)) expect(store / (store + pass)).toBeGreaterThan(0.8);
    });
  },
);

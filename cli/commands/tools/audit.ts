import { readFileSync } from "node:fs";
import { Command } from "commander";
import { type AuditReport, auditSite } from "../../../tools/audit/audit-site.ts";
import { auditText } from "../../../tools/audit/audit-text.ts";
import { AuditUsageError, readIdentity, withCanaries } from "../../../tools/audit/identity.ts";
import { USUAL_INPUTS } from "../../../tools/audit/input.ts";
import {
  readBuster,
  readEdge,
  readHitField,
  readHost,
  readInput,
  readNumber,
  readWholeNumber,
} from "../../../tools/audit/settings.ts";
import { readTargets, type TargetLine } from "../../../tools/audit/target.ts";
import { EXIT } from "../../exit-code.ts";
import { inMs, listedValues, valueNotFlag } from "../../flags.ts";
import { interruption } from "../../interruption.ts";
import { DESCRIPTIONS } from "../../text/descriptions.ts";
import { printError } from "../../text/print-error.ts";
import { ProgressLine } from "../../text/progress-line.ts";

interface AuditFlags {
  readonly edge: string;
  readonly as?: readonly string[];
  readonly canary?: readonly string[];
  readonly paths?: string;
  readonly host?: string;
  readonly buster: string;
  readonly try?: readonly string[];
  readonly hit?: readonly string[];
  readonly accept?: readonly string[];
  readonly rate: string;
  readonly concurrency: string;
  readonly timeout: string;
  readonly json?: true;
}

const AFTER_HELP = `
Two test accounts and a visitor without credentials (a stranger) request the same pages. The report lists answers that
were made for another visitor, stored pages that say they are personal, and parameters, fields and cookies that change a
page but are not in its key. The audit sends only GET and HEAD, only to the edge, and follows no redirects. It adds a
parameter with a random value to every URL, so that no other visitor gets what it stores. Requests without credentials
first check that this parameter is in the key, and at last ask for pages without it that are never stored with it.

Credentials are cookies, or a field: alice="Authorization: Bearer …". Everybody on a machine can see arguments, so name
a file (alice=@FILE) or a variable (alice=env:ALICE).

Exit codes: 0 no findings, 1 findings, 2 some pages could not be audited, or wrong usage, 130 interrupted.

  tidemark audit --edge https://www.example.com --as alice=env:ALICE --as bob=env:BOB / /account /style.css
  tidemark audit --edge http://localhost:8787 --as alice=@alice.txt --as bob=@bob.txt --paths paths.txt --json`;

/** `tidemark audit`: whether a cache gives visitors pages that were made for others. */
export function auditCommand(): Command {
  return new Command("audit")
    .description(DESCRIPTIONS.audit)
    .argument("[path...]", "pages: paths, or URLs of the edge")
    .requiredOption("--edge <url>", "the cache to audit: scheme and host", valueNotFlag)
    .option("--as <name=cookies>", "a visitor with these credentials; may be repeated", listedValues)
    .option("--canary <name=text>", "a text that only this visitor may get; may be repeated", listedValues)
    .option("--paths <file>", "a file with more pages, one a line, or - for standard input", valueNotFlag)
    .option("--host <name>", "the public host, if --edge has another name", valueNotFlag)
    .option("--buster <parameter>", "the parameter that keeps the audit's pages apart", valueNotFlag, "tidemark-audit")
    .option("--try <kind:name=value>", "another parameter, field or cookie to try; may be repeated", listedValues)
    .option("--hit <name: text>", "an answer field that marks a hit; may be repeated", listedValues)
    .option("--accept <id>", "a known finding that does not count; may be repeated", listedValues)
    .option("--rate <number>", "at most this many requests a second", "10")
    .option("--concurrency <number>", "how many pages to audit at a time", "2")
    .option("--timeout <seconds>", "how long an answer may take", "15")
    .option("--json", "print the report as one JSON object")
    .addHelpText("after", AFTER_HELP)
    .action(async (paths: string[], flags: AuditFlags) => {
      try {
        process.exitCode = await run(paths, flags);
      } catch (error) {
        if (!(error instanceof AuditUsageError)) throw error;
        printError(`${error.message}. Nothing was sent.`);
        process.exitCode = EXIT.usage;
      }
    });
}

async function run(paths: readonly string[], flags: AuditFlags): Promise<number> {
  const site = { edge: readEdge(flags.edge), host: flags.host === undefined ? null : readHost(flags.host) };
  const sources = { file: (path: string) => readFileSync(path, "utf8"), variable: (name: string) => process.env[name] };
  // Read here, because commander would repeat a wrong value, which is a secret.
  const identities = withCanaries(
    (flags.as ?? []).map((text) => readIdentity(text, sources)),
    flags.canary ?? [],
  );
  if (identities.length === 0) throw new AuditUsageError("there is no visitor with credentials: name one with --as");
  if (new Set(identities.map(({ name }) => name)).size < identities.length) {
    throw new AuditUsageError("two --as have the same name");
  }
  const targets = readTargets(
    [...paths.map((text, index) => ({ text, place: `page ${index + 1}` })), ...pathLines(flags.paths)],
    site,
  );
  if (targets.length === 0)
    throw new AuditUsageError("there are no pages: name some as arguments or in a file with --paths");
  const ending = new AbortController();
  interruption().then(() => ending.abort());
  const line = new ProgressLine();
  const report = await auditSite({
    ...site,
    identities,
    targets,
    inputs: [...USUAL_INPUTS, ...(flags.try ?? []).map(readInput)],
    hitFields: (flags.hit ?? []).map(readHitField),
    buster: readBuster(flags.buster),
    accepted: flags.accept ?? [],
    perSecond: readNumber("--rate", flags.rate, 10_000),
    concurrency: readWholeNumber("--concurrency", flags.concurrency, 64),
    timeoutMs: inMs(readNumber("--timeout", flags.timeout, 600)),
    signal: ending.signal,
    progress: ({ pages, ofPages, requests, findings }) =>
      line.show(() => `${pages} of ${ofPages} pages, requests: ${requests}, findings: ${findings}`),
  });
  line.clear();
  process.stdout.write(flags.json ? `${JSON.stringify(report)}\n` : auditText(report));
  return exitCodeOf(report);
}

function exitCodeOf({ verdict, interrupted }: AuditReport): number {
  if (interrupted) return EXIT.interrupted;
  return { clean: EXIT.done, findings: EXIT.refused, "not-audited": EXIT.usage }[verdict];
}

function pathLines(file: string | undefined): readonly TargetLine[] {
  if (file === undefined) return [];
  try {
    const text = readFileSync(file === "-" ? 0 : file, "utf8");
    return text.split("\n").map((line, index) => ({ text: line, place: `${file}:${index + 1}` }));
  } catch (cause) {
    throw new AuditUsageError(`--paths: ${file} cannot be read`, { cause });
  }
}

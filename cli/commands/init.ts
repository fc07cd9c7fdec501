import { createInterface } from "node:readline";
import { Command } from "commander";
import { initProject, type WrittenFile } from "../../setup/init/init-project.ts";
import { nextSteps } from "../../setup/init/next-steps.ts";
import { AnswerError, hostOf, originOf, passedOf, type SiteAnswers } from "../../setup/init/site-answers.ts";
import { EXIT } from "../exit-code.ts";
import { valueNotFlag } from "../flags.ts";
import { printError } from "../print-error.ts";

interface InitFlags {
  readonly origin?: string;
  readonly host?: string;
  readonly pass?: string;
  readonly force?: true;
}

const AFTER_HELP = `
It asks for what the flags leave open, at most three things. Where nobody can answer, as in CI, --origin and --host are
required and nothing is asked. What is there already is kept, and package.json and .gitignore are only added to.

Exit codes: 0 done, 2 wrong usage; then nothing was written.

  tidemark init
  tidemark init --origin https://origin.example.com --host www.example.com --pass /admin,/cart`;

/** `tidemark init`: writes a project that deploys the edge. */
export function initCommand(): Command {
  return new Command("init")
    .description("Write a project that deploys the edge for your site, in this folder.")
    .option("--origin <url>", "where the site is now, like https://origin.example.com", valueNotFlag)
    .option("--host <name>", "the public host, like www.example.com", valueNotFlag)
    .option("--pass <paths>", "paths that are never stored, with all below them, like /admin,/cart", valueNotFlag)
    .option("--force", "replace files that are there, but for package.json, .gitignore and .dev.vars")
    .addHelpText("after", AFTER_HELP)
    .action(async (flags: InitFlags) => {
      try {
        const answers = await answersFrom(flags);
        const written = await initProject({ folder: ".", answers, force: flags.force ?? false });
        for (const each of written) process.stdout.write(fileLine(each));
        process.stdout.write(`\n${await nextSteps(".")}`);
      } catch (error) {
        if (!(error instanceof AnswerError)) throw error;
        printError(`${error.message}. Nothing was written.`);
        process.exitCode = EXIT.usage;
      }
    });
}

/** The flags' answers, checked before anything is asked, then a person's for what they leave open. */
async function answersFrom(flags: InitFlags): Promise<SiteAnswers> {
  const origin = flags.origin === undefined ? undefined : originOf(flags.origin);
  const host = flags.host === undefined ? undefined : hostOf(flags.host);
  const passed = flags.pass === undefined ? undefined : passedOf(flags.pass);
  if (origin !== undefined && host !== undefined) return { origin, host, passed: passed ?? [] };
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new AnswerError(
      "nobody can be asked here, so name both: " +
        "tidemark init --origin https://origin.example.com --host www.example.com",
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Lines are read as they come, so that several pasted at once answer one question each.
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async <T>(question: string, parse: (text: string) => T): Promise<T> => {
    for (;;) {
      terminal.setPrompt(`${question} `);
      terminal.prompt();
      const { value, done } = await lines.next();
      if (done) throw new AnswerError("the questions were not answered");
      try {
        return parse(value);
      } catch (error) {
        if (!(error instanceof AnswerError)) throw error;
        process.stdout.write(`  ${error.message}.\n`);
      }
    }
  };
  try {
    return {
      host: host ?? (await ask("The public host, like www.example.com?", hostOf)),
      origin: origin ?? (await ask("Where is the site now, like https://origin.example.com?", originOf)),
      passed: passed ?? (await ask("Paths that must never be stored, like /admin,/cart (Enter for none)?", passedOf)),
    };
  } finally {
    terminal.close();
  }
}

/** `kept      worker.ts` */
function fileLine({ file, outcome, note }: WrittenFile): string {
  const words = note === undefined ? "" : `: ${note.replaceAll("\n", "\n    ").trimEnd()}`;
  return `${outcome.padEnd("completed".length)}  ${file}${words}\n`;
}

import { Command, InvalidArgumentError } from "commander";
import { askExplanation } from "../../sdk/http/ask-explanation.ts";
import { BROWSER_CODINGS, withField } from "../../wire/fields.ts";
import { PRETENDED_METHODS } from "../../wire/pretended-request.ts";
import { EXIT } from "../exit-code.ts";
import { refuseTokenFlag, valueNotFlag } from "../flags.ts";
import { namedEdge } from "../named-edge.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { explanationReport } from "../text/explanation-report.ts";
import { printPurgeError } from "../text/print-error.ts";

interface ExplainFlags {
  readonly header?: Readonly<Record<string, string>>;
  readonly request: string;
  readonly json?: true;
  readonly endpoint?: string;
}

const DEFAULT_FIELDS = { "accept-encoding": BROWSER_CODINGS };

const AFTER_HELP = `
Nothing is requested, counted or stored. One isolate in one PoP answers; the memory of others may differ.
Without -H the request has only Accept-Encoding, with the codings that browsers send.

The token comes from TIDEMARK_TOKEN alone; it needs the scope read.

Exit codes: 0 done, 1 refused, 2 wrong usage or settings, 3 the edge cannot be reached.

  tidemark explain "/shop?page=2&utm_source=mail"
  tidemark explain https://www.example.com/ -H "Accept-Language: de" -H "Cookie: theme=dark"`;

/** `tidemark explain`: says what the edge would do with a request, and why. */
export function explainCommand(): Command {
  return refuseTokenFlag(new Command("explain"))
    .description(DESCRIPTIONS.explain)
    .argument("<url>", "a path of the site or a whole URL", valueNotFlag)
    .option("-H, --header <name: value>", "a field of the request; may be repeated", addField)
    .option("-X, --request <method>", "the method", methodNamed, "GET")
    .option("--json", "print the edge's JSON")
    .option("--endpoint <url>", "the site's origin (else TIDEMARK_ENDPOINT)", valueNotFlag)
    .addHelpText("after", AFTER_HELP)
    .action(async (url: string, flags: ExplainFlags) => {
      process.exitCode = await explain(url, flags);
    });
}

async function explain(url: string, { header, request, json, endpoint }: ExplainFlags): Promise<number> {
  try {
    const explanation = await askExplanation(
      { url, method: request, fields: { ...DEFAULT_FIELDS, ...header } },
      namedEdge(endpoint),
    );
    process.stdout.write(json ? `${JSON.stringify(explanation)}\n` : explanationReport(explanation));
    return EXIT.done;
  } catch (error) {
    return printPurgeError(error);
  }
}

function methodNamed(given: string): string {
  const method = PRETENDED_METHODS.find((each) => each === given.toUpperCase());
  if (method === undefined) throw new InvalidArgumentError(`It must be one of ${PRETENDED_METHODS.join(", ")}.`);
  return method;
}

function addField(line: string, fields: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value] = /^([^:\s]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Write it as "Name: value".');
  if (/^host$/i.test(name)) {
    // The edge takes the host of the URL, and its explanation would be of another page.
    throw new InvalidArgumentError(
      "The URL names the host: write https://www.example.com/path in place of a path and Host.",
    );
  }
  return withField(fields, name, value);
}

import { readFileSync } from "node:fs";
import { BARE_NODE, type Figures, type FormResult, type Measured, REFERENCES, TIDEMARK } from "./measured.ts";

/** Tidemark is named as behind below this share of the reference. */
const LEVEL = 0.95;

/** The known reasons why Tidemark is behind in a form, by a word of the form's name. */
const REASONS: readonly (readonly [word: string, reason: string])[] = [
  ["a connection each", "A new connection costs Node about twice what it costs nginx."],
  ["files", "At first, files come from disk: they are read into the process, and nginx keeps them open."],
  [
    "misses",
    "Half of it is storing the page for all workers: the file, the looks for it, its head, the lock; undici takes 19 µs.",
  ],
  ["never stored", "The request to the origin and its answer pass through undici."],
  ["ab ", "Each run opens its 500 connections anew."],
  ["hey", "The client takes more CPU time than the servers."],
  ["wrk ", "Each request passes through Node's parser and its streams."],
];

/** The pages whose generated parts show a run. */
export const PAGES_OF_RIVALS: readonly string[] = ["docs/benchmarks.md", "README.md"];

/** The run that the page shows, as the bench wrote it with `--json`. */
export function readMeasured(): Measured {
  return JSON.parse(readFileSync(new URL("measured.json", import.meta.url), "utf8"));
}

/** The forms that the README shows: the usual hit, and the dearest rows. */
const IN_README: readonly string[] = [
  "wrk -c50, 1 KB",
  "wrk -c50, 50 KB, a connection each",
  "wrk -c50, 1 KB, 4 of 5 are misses",
];

/** A page with the generated parts of a run: the comparison with its results and, at its end, each form; the README's rows. */
export function withRivals(page: string, measured: Measured): string {
  const { forms } = measured;
  const parts: Readonly<Record<string, readonly string[]>> = {
    rivals: [introduction(measured), overview(forms), behind(forms)],
    forms: forms.map(sectionOf),
    rows: [
      rows(
        forms.filter(({ form }) => IN_README.includes(form)),
        [TIDEMARK, ...REFERENCES.map(({ name }) => name)],
      ),
    ],
  };
  return page.replace(
    /^(<!-- generated: (\w+) -->\n).*?^(<!-- end -->)$/gms,
    (_part, begin: string, name: string, end: string) => `${begin}\n${parts[name]!.join("\n\n")}\n\n${end}`,
  );
}

function introduction({ at, machine, versions, settings, entrants }: Measured): string {
  const { rounds, seconds, workers } = settings;
  const flags = Object.entries(settings).filter(([name, value]) => name !== "tidemark" && value !== undefined);
  const command = ["npm run bench -- rivals", ...flags.map(([name, value]) => `--${name} ${value}`)].join(" ");
  const there = entrants.filter(({ version }) => version !== null);
  const missing = entrants.filter(({ leftOut }) => leftOut !== null);
  const lines = [
    "`npm run bench -- rivals` gets today's caches and measures each in its plain and its best setting (`bench/rivals` has a file",
    "for each). `npm run docs` writes this part from a run of it, good and bad rows alike.",
    "",
    `- Command: \`${command}\`, on ${at.slice(0, 10)}.`,
    `- Machine: ${machine.cpu}, ${machine.cores} cores that servers, clients and origin share; ${machine.system}; load average ${machine.loadBefore} before the run${
      machine.loadBefore > 2
        ? ", by other work that went on meanwhile, so that figures are lower and vary more than on a quiet machine"
        : ""
    }.`,
    `- Versions: Tidemark on Node ${machine.node}; ${there.map(({ name, version }) => `${name} ${version}`).join(", ")}; ${Object.entries(
      versions,
    )
      .filter(([, version]) => version !== "")
      .map((each) => each.join(" "))
      .join(", ")}; the installed nginx is the origin.`,
    `- Each server answers with ${workers} processes or threads. They take turns of ${seconds} s, ${rounds} rounds, and each round begins with another one.`,
    "  Figures are medians; shares are medians of each round's ratio, so they are not quotients of the medians.",
    "- No server writes an access log. All answers were compared with the origin's before. A server fails in a form of hits if one",
    "  request of the load reaches the origin.",
    "- CPU is the time of all processes of the server for a request; the client's is in cores.",
    "- Bare Node is no cache, but a bound for all that is written for Node: a map of whole answers in each process, and undici. It has",
    "  no rules, no parser, no purges and no disk.",
    ...missing.map(({ name, leftOut }) => `- ${name} is left out. Not installed: ${sentence(leftOut!)}`),
  ];
  return lines.join("\n");
}

function overview(forms: readonly FormResult[]): string {
  const names = [...new Set(forms.flatMap(({ servers }) => servers.map(({ name }) => name)))];
  return `### Requests per second\n\n${rows(forms, names)}`;
}

/** The requests per second of these servers, and Tidemark's share. */
function rows(forms: readonly FormResult[], names: readonly string[]): string {
  const lines = forms
    .filter(({ leftOut }) => leftOut === null)
    .map(({ form, servers }) => {
      const share = tidemarksShare(servers);
      const rates = names.map((name) => count(servers.find((server) => server.name === name)?.requestsPerSecond));
      return [form, ...rates, share === null ? "" : `**${share.value.toFixed(2)}** of ${share.reference}`];
    });
  return table(["", ...names, "Tidemark has"], lines);
}

function behind(forms: readonly FormResult[]): string {
  const lines = forms.flatMap(({ form, servers }) => {
    const share = tidemarksShare(servers);
    if (share === null || share.value >= LEVEL) return [];
    const figures = (name: string) => servers.find((server) => server.name === name);
    const cpu = (name: string) => figures(name)?.cpuMicros;
    const bound = figures(BARE_NODE)?.share[share.reference];
    const reason = REASONS.find(([word]) => form.includes(word))?.[1] ?? "";
    const times = `${cpu(TIDEMARK)} µs of CPU for a request against ${cpu(share.reference)}`;
    const bare = bound === undefined ? "" : ` Bare Node has ${bound.toFixed(2)}, at ${cpu(BARE_NODE)} µs.`;
    return [`- ${form}: ${share.value.toFixed(2)} of ${share.reference}, at ${times}.${bare} ${reason}`.trimEnd()];
  });
  const none = `In no form does Tidemark have less than ${LEVEL} of nginx's best.`;
  return `### Where Tidemark is behind\n\n${lines.length === 0 ? none : lines.join("\n")}`;
}

/** Tidemark's share of nginx at its best, or of HAProxy's where nginx was not measured; `null` without both. */
export function tidemarksShare(
  servers: readonly Figures[],
): { readonly reference: string; readonly value: number } | null {
  const share = servers.find(({ name }) => name === TIDEMARK)?.share ?? {};
  const reference = REFERENCES.find(({ name }) => share[name] !== undefined)?.name;
  return reference === undefined ? null : { reference, value: share[reference]! };
}

function sectionOf({ form, leftOut, servers }: FormResult): string {
  if (leftOut !== null) return `### ${form}\n\nLeft out. Its client is not installed: ${sentence(leftOut)}`;
  const measured = servers.filter(({ requestsPerSecond }) => requestsPerSecond !== null);
  const lines = measured.map((each) => [
    each.name === TIDEMARK ? `**${TIDEMARK}**` : each.name,
    count(each.requestsPerSecond),
    `${count(each.least)} to ${count(each.most)}`,
    `${each.p50Ms}`,
    `${each.p99Ms}`,
    `${each.cpuMicros}`,
    `${each.clientCpu}`,
  ]);
  const failed = servers.flatMap(({ name, failure }) =>
    failure === null ? [] : [`- ${name} is left out: ${sentence(failure)}`],
  );
  const columns = ["", "requests/s", "least to most", "p50 ms", "p99 ms", "CPU µs", "client's CPU"];
  return [`### ${form}`, "", table(columns, lines), ...(failed.length === 0 ? [] : ["", ...failed])].join("\n");
}

function table(columns: readonly string[], lines: readonly (readonly string[])[]): string {
  const rule = columns.map((_, index) => (index === 0 ? "---" : "---:"));
  return [columns, rule, ...lines]
    .map((cells) => `| ${cells.join(" | ")} |`.replaceAll(/\| {2}(?=\|)/g, "| "))
    .join("\n");
}

function count(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : value.toLocaleString("en");
}

/** Other programs' words, on one line and with a full stop. */
function sentence(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

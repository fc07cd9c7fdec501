import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../suite/free-ports.ts";
import { until } from "../../../suite/until.ts";
import { prometheusFile } from "./prometheus-files.ts";

export const hasPrometheus = spawnSync("prometheus", ["--version"]).error === undefined;

export interface Rule {
  readonly name: string;
  /** `unknown` before its first evaluation. */
  readonly health: "unknown" | "ok" | "err";
  readonly lastError?: string;
  /** Of an alert. */
  readonly state?: "inactive" | "pending" | "firing";
}

/** What it watches, and by which rules. */
export interface Watched {
  readonly address: URL;
  readonly token: string;
  /** By the names of their files. */
  readonly rules: Readonly<Record<string, string>>;
}

/** Prometheus with `docs/prometheus/prometheus.yml`, which looks each second in place of each 15. */
export class PrometheusServer {
  readonly #child: ChildProcess;
  readonly #address: string;
  #said = "";

  private constructor(folder: string, port: number) {
    this.#address = `http://127.0.0.1:${port}`;
    const files = [`--config.file=${join(folder, "prometheus.yml")}`, `--storage.tsdb.path=${join(folder, "data")}`];
    this.#child = spawn("prometheus", [...files, `--web.listen-address=127.0.0.1:${port}`]);
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#said += text;
      });
    }
  }

  /** Resolves when it is ready. Rejects if it ends before. */
  static async start(folder: string, { address, token, rules }: Watched): Promise<PrometheusServer> {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "token"), token);
    const files = Object.entries(rules).map(([name, text]) => {
      writeFileSync(join(folder, name), text);
      return `  - ${join(folder, name)}\n`;
    });
    const config = prometheusFile("prometheus.yml")
      .replace("  - /etc/prometheus/tidemark/alerts.yml\n", files.join(""))
      .replace("/etc/prometheus/tidemark/token", join(folder, "token"))
      .replace("www.example.com", address.host)
      .replace("scheme: https", "scheme: http")
      .replace("scrape_interval: 15s", "scrape_interval: 1s");
    writeFileSync(join(folder, "prometheus.yml"), `global: { evaluation_interval: 1s }\n${config}`);
    const started = new PrometheusServer(folder, await freePort());
    await until(() => started.#isReady());
    return started;
  }

  async #isReady(): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`Prometheus ended, and had said: ${this.#said}`);
    return fetch(`${this.#address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async rules(): Promise<Rule[]> {
    const { groups } = (await this.#ask("rules")) as { readonly groups: readonly { readonly rules: Rule[] }[] };
    return groups.flatMap(({ rules }) => rules);
  }

  /** The names of all metrics that have ever had a sample. */
  async metrics(): Promise<Set<string>> {
    return new Set((await this.#ask("label/__name__/values")) as string[]);
  }

  /** How many series a query has now. */
  async seriesOf(query: string): Promise<number> {
    const { result } = (await this.#ask(`query?query=${encodeURIComponent(query)}`)) as { readonly result: unknown[] };
    return result.length;
  }

  async #ask(path: string): Promise<unknown> {
    const answer = (await (await fetch(`${this.#address}/api/v1/${path}`)).json()) as {
      data?: unknown;
      error?: string;
    };
    if (answer.data === undefined) throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill();
    await once(this.#child, "exit");
  }
}

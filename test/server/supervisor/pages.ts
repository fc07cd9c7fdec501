import { type ChildProcess, fork } from "node:child_process";
import { Agent, get } from "node:http";
import { fileURLToPath } from "node:url";
import { SUCCEEDS } from "../../../server/supervisor/upgrade.ts";
import type { AppendOutcome, PurgeRecordPage } from "../../../worker/ports/purge-log.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";

export const PROGRAM = fileURLToPath(new URL("./page-worker.ts", import.meta.url));

const SUPERVISED = fileURLToPath(new URL("./supervised.ts", import.meta.url));

const FAILING_SUCCESSOR = fileURLToPath(new URL("./failing-successor.ts", import.meta.url));

/** Starts a new server that fails at a step: see `failing-successor.ts`. */
export function startFailingSuccessor(step: string): ChildProcess {
  const env = { ...process.env, [SUCCEEDS]: "[]" };
  return fork(FAILING_SUCCESSOR, [step], { env, serialization: "advanced" });
}

/** Starts a new server with one worker, which says in lines what happens to it. */
export function startSuccessorIn(folder: string): ChildProcess {
  const { FORCE_COLOR: _, ...env } = process.env; // the test runner asks for colours
  return fork(SUPERVISED, [folder, "0", "1"], {
    env: { ...env, [SUCCEEDS]: "[]" },
    serialization: "advanced",
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
}

export interface Who {
  readonly name: string;
  readonly pid: number;
  readonly version: string;
}

/** Asks `127.0.0.1:8080`, or the path of a Unix socket. `onHead` is called when the answer has begun. */
export async function ask<T>(
  address: string,
  path: string,
  agent = new Agent({ keepAlive: false }),
  onHead: () => void = () => undefined,
): Promise<T> {
  const [, host, port] = /^(.*):(\d+)$/.exec(address) ?? [];
  const to = host === undefined ? { socketPath: address } : { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const request = get({ ...to, path, agent }, (response) => {
    let text = "";
    onHead();
    response.setEncoding("utf8").on("data", (piece) => {
      text += piece;
    });
    response.on("error", reject);
    response.on("end", () => {
      if (response.statusCode === 200) resolve(JSON.parse(text) as T);
      else reject(new Error(text));
    });
  });
  request.on("error", reject);
  return promise;
}

/** One worker, reached by the socket that it alone listens on. */
export class PageClient {
  readonly #address: string;

  constructor(folder: string, pid: number) {
    this.#address = `${folder}/${pid}.sock`;
  }

  who(): Promise<Who> {
    return ask(this.#address, "/who");
  }

  purge(query: Readonly<Record<string, string>>): Promise<Extract<AppendOutcome, { kind: "appended" }>> {
    return ask(this.#address, `/purge?${new URLSearchParams(query)}`);
  }

  stamp(): Promise<Stamp> {
    return ask(this.#address, "/stamp");
  }

  async check(key: string, { logId, seq }: Stamp): Promise<string> {
    const query = new URLSearchParams({ key, logId, seq: String(seq) });
    const { answer } = await ask<{ answer: string }>(this.#address, `/check?${query}`);
    return answer;
  }

  purges(): Promise<PurgeRecordPage> {
    return ask(this.#address, "/purges");
  }

  ask<T>(path: string): Promise<T> {
    return ask(this.#address, path);
  }
}

import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import { TOKEN } from "../../engine/scenario.ts";
import { type Connection, sendBytes } from "../../runtime/raw-connection.ts";
import type { StrictRequest } from "../../runtime/strict-requests.ts";
import { StrictOrigin } from "../strict-origin.ts";
import { NUMBER, RAW_HOST } from "./raw-bodies.ts";

/** A server between visitors and the origin. */
export interface RawEdge {
  readonly url: URL;
  stop(): Promise<void>;
}

export type StartRawEdge = (origin: string) => Promise<RawEdge>;

/** The longest that a connection may take to end. Normally it takes milliseconds. */
const DEADLINE_MS = 10_000;

const FIXED = "/fixed";

/** A message with its number. */
interface Sent extends Connection {
  readonly number: string;
  readonly answers: number;
}

/** Some visitors write bytes to their connections, and others request pages after them. */
export class RawMeetings {
  readonly #origin = new StrictOrigin();
  readonly #startEdge: StartRawEdge;
  readonly #deadlineMs: number;
  #edge!: RawEdge;
  #sent = 0;
  #alone = "";

  /** The number of requests that have reached the origin. */
  cameThrough = 0;

  constructor(startEdge: StartRawEdge = inRuntime(), deadlineMs = DEADLINE_MS) {
    this.#startEdge = startEdge;
    this.#deadlineMs = deadlineMs;
  }

  async start(): Promise<void> {
    this.#edge = await this.#startEdge(await this.#origin.start());
    await this.#visit(FIXED);
    this.#alone = await this.#visit(FIXED);
    this.#origin.takeSeen();
  }

  async stop(): Promise<void> {
    await this.#edge.stop();
    await this.#origin.stop();
  }

  /**
   * The fault that shows when visitors send these bytes at the same time, each over its own connection; `null` for none.
   */
  async wrongWith(messages: readonly string[]): Promise<string | null> {
    const sent = await Promise.all(messages.map((message) => this.#send(message)));
    const { requests, faults } = this.#origin.takeSeen();
    const stuck = sent.find(({ ended }) => !ended);
    if (stuck) return `a connection does not come to its end; until then: ${stuck.answered}`;
    if (faults.length > 0) return unreadable(faults);
    this.cameThrough += requests.length;
    const unanswered = sent.find(({ number, answers }) => requestsOf(number, requests) > answers);
    if (unanswered || requests.length > sent.reduce((sum, { answers }) => sum + answers, 0)) {
      const lines = requests.map(({ line }) => line).join(", ");
      return `${sent.map(({ answers }) => answers).join(" and ")} answers to what the origin got as ${lines}`;
    }
    return this.#wrongForOthers([...sent.map(({ number }) => `/page-${number}`), ...requests.flatMap(pageAsked)]);
  }

  async #send(message: string): Promise<Sent> {
    const number = String(++this.#sent).padStart(NUMBER.length, "0");
    const connection = await sendBytes(this.#edge.url, message.replaceAll(NUMBER, number), this.#deadlineMs);
    return { ...connection, number, answers: [...connection.answered.matchAll(/HTTP\/1\.1 [2-5]\d\d /g)].length };
  }

  async #wrongForOthers(paths: readonly string[]): Promise<string | null> {
    const pages = [FIXED, ...new Set(paths)];
    const got = await Promise.all(pages.map((path) => this.#visit(path)));
    const { requests, faults } = this.#origin.takeSeen();
    if (faults.length > 0) return unreadable(faults);
    for (const [index, path] of pages.entries()) {
      const alone = aloneOn(path, this.#alone);
      if (got[index] !== alone) return `another visitor of ${path} gets: ${got[index]}\ninstead of: ${alone}`;
    }
    return requests.flatMap(pageAsked).includes(FIXED) ? `${FIXED} was stored, and is not any more` : null;
  }

  /** The answer to an ordinary visitor, without the parts that may differ from one time to the next. */
  async #visit(path: string): Promise<string> {
    const request = `GET ${path} HTTP/1.1\r\nHost: ${RAW_HOST}\r\n\r\n`;
    const { answered } = await sendBytes(this.#edge.url, request, this.#deadlineMs);
    const withoutReason = answered.replace(/^(HTTP\/1\.1 \d{3}) .*/, "$1");
    return withoutReason.replaceAll(/^(?:x-cache|cache-status|age|content-length|date):.*\r\n/gim, "");
  }
}

function unreadable(faults: readonly string[]): string {
  return `the origin could not read what it got: ${faults.join("\n")}`;
}

function aloneOn(path: string, alone: string): string {
  return alone.replace(`GET ${FIXED} `, () => `GET ${path} `);
}

function requestsOf(number: string, requests: readonly StrictRequest[]): number {
  return requests.filter(({ line }) => line.includes(number)).length;
}

function pageAsked({ line }: StrictRequest): string[] {
  const path = /^(?:GET|HEAD) (\/\S*) /.exec(line)?.[1];
  return path === undefined ? [] : [path];
}

/** The edge in the Workers runtime. `change` may replace its script. */
export function inRuntime(change = (script: string) => script): StartRawEdge {
  return async (origin) => {
    const script = change(await bundleWorker("local/runtime/virtual-time.worker.ts"));
    const variables = {
      // Without second looks, so that every request to the origin belongs to an answer.
      SITE: { origin, secondLook: false },
      TIDEMARK_HOSTS: "*",
      TIDEMARK_TOKEN: TOKEN,
      TIDEMARK_CLIENT_ADDRESS: "192.0.2.7",
    };
    return startEdgeRuntime({ script, variables }, { port: 0 });
  };
}

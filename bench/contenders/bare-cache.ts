/**
 * A cache that does little more than Node and undici have to do for it:
 * `node bare-cache.ts --port … --origin … --folder … --workers …`.
 *
 * It passes answers on as they come, and keeps those without `no-store` in a file each. It knows no lifetimes, fields of
 * requests, purges or bounds. A file is written under another name first, so that no reader finds half of one.
 */
import cluster from "node:cluster";
import { closeSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Dispatcher, Pool } from "undici";

type Head = Record<string, string | string[]>;

const text = { type: "string", default: "1" } as const;
const options = { port: text, origin: text, folder: text, workers: text };
const { port, origin, folder, workers } = parseArgs({ options }).values;

/** The fields of each page that is stored. The bodies are in the files. */
const stored = new Map<string, Head>();

if (cluster.isPrimary && Number(workers) > 1) {
  for (let worker = 0; worker < Number(workers); worker++) cluster.fork();
  process.on("SIGTERM", () => process.exit()); // the workers end when their channel closes
} else {
  const pool = new Pool(origin, { allowH2: false });
  const server = createServer((request, response) => {
    const url = request.url!;
    const head = stored.get(url);
    if (head) response.writeHead(200, { ...head, "X-Cache": "HIT" }).end(readFileSync(fileOf(url)));
    else pool.dispatch({ path: url, method: "GET", headers: [] }, new Passage(url, response));
  });
  server.listen(Number(port), "127.0.0.1");
}

/** An answer on its way from the origin to a client. */
class Passage implements Dispatcher.DispatchHandler {
  readonly #url: string;
  readonly #response: ServerResponse;
  readonly #pieces: Buffer[] = [];
  #status = 0;
  #head: Head = {};

  constructor(url: string, response: ServerResponse) {
    this.#url = url;
    this.#response = response;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, head: Head): void {
    const { connection: _, ...fields } = head;
    this.#status = status;
    this.#head = fields;
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#pieces.push(piece);
  }

  onResponseEnd(): void {
    const body = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#response.writeHead(this.#status, { ...this.#head, "X-Cache": "MISS" }).end(body);
    if (this.#status === 200 && this.#head["cache-control"] !== "no-store") store(this.#url, this.#head, body);
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    this.#response.destroy(cause);
  }
}

function store(url: string, head: Head, body: Buffer): void {
  const file = fileOf(url);
  const draft = `${file}-${process.pid}`;
  const fd = openSync(draft, "wx");
  writeSync(fd, body);
  closeSync(fd);
  renameSync(draft, file);
  stored.set(url, head);
}

function fileOf(url: string): string {
  return join(folder, encodeURIComponent(url));
}

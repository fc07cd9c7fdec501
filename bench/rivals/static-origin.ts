import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BenchFailure } from "../frame/bench-failure.ts";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import { rawRequest } from "../load/raw-request.ts";
import { nginxOptions } from "../peers/nginx.ts";
import { ServerProcess } from "../processes/server-process.ts";

const STORABLE = 'add_header Cache-Control "public, max-age=86400";';
const MISS_BYTES = 1000;
/** The length of a path below `/misses/`, so that all of these pages have the same size. */
const MISS_PATH_LENGTH = missPath("0000", 0).length;

/**
 * The origin of the rows: an nginx with static pages, so that it does not limit rows whose requests reach it.
 *
 * - `/pages/<bytes>.html`: a page of that size
 * - `/uncached/<bytes>.html`: the same page, which must not be stored
 * - `/files/<number>.html`: as many pages of 100 KB as were written
 * - `/new/<anything>`: the page of 10 KB
 * - `/misses/<turn>/<number>.html`: a page of 1 KB at each address, with its address in it
 */
export class StaticOrigin implements AsyncDisposable {
  readonly #server: ServerProcess;
  #files = 0;
  /** How often its counter was read, because each read is a request itself. */
  #asked = 0;

  private constructor(server: ServerProcess) {
    this.#server = server;
  }

  static async start(pageSizes: readonly number[]): Promise<StaticOrigin> {
    const server = await ServerProcess.start("the origin", async ({ port, folder }) => {
      await mkdir(join(folder, "pages"));
      await mkdir(join(folder, "files"));
      for (const bytes of pageSizes) await writeFile(join(folder, "pages", `${bytes}.html`), pageOfBytes(bytes));
      return ["nginx", ...(await nginxOptions(folder, { workers: 1, http: originBlock(port, folder) }))];
    });
    return new StaticOrigin(server);
  }

  get url(): URL {
    return this.#server.url;
  }

  get folder(): string {
    return this.#server.folder;
  }

  /** Writes the pages below `/files/`, once. */
  async writeFiles(count: number, bytes: number): Promise<void> {
    for (; this.#files < count; this.#files++) {
      const path = filePath(this.#files);
      await writeFile(join(this.folder, path), fileBody(path, bytes));
    }
  }

  /** How many requests have come in. */
  async requests(): Promise<number> {
    const { body } = await rawRequest(new URL("/requests", this.url));
    const counts = /^\s*(\d+) (\d+) (\d+)\s*$/m.exec(body);
    if (counts === null) throw new BenchFailure(`The origin does not count its requests: ${body}`);
    return Number(counts[3]) - ++this.#asked;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

export function filePath(number: number): string {
  return `/files/${`${number}`.padStart(5, "0")}.html`;
}

/** The body begins with its path, so that a swapped page is noticed. */
export function fileBody(path: string, bytes: number): string {
  return `${path}\n${pageOfBytes(bytes)}`.slice(0, bytes);
}

export function missPath(turn: string, number: number): string {
  return `${missPrefix(turn)}${`${number}`.padStart(8, "0")}.html`;
}

/** The prefix of the pages of a turn; `turn` has four characters. */
export function missPrefix(turn: string): string {
  return `/misses/${turn}/`;
}

export function missBody(path: string): string {
  return `${path}\n${MISS_FILLER}`;
}

const MISS_FILLER = pageOfBytes(MISS_BYTES - MISS_PATH_LENGTH - 1);

function originBlock(port: number, folder: string): string {
  return `sendfile on; keepalive_requests 1000000; types { text/html html; } default_type text/html;
    open_file_cache max=20000 inactive=60s;
    server {
      listen 127.0.0.1:${port} backlog=4096; root ${folder};
      location / { ${STORABLE} }
      location /uncached/ { alias ${folder}/pages/; add_header Cache-Control no-store; }
      location /misses/ { ${STORABLE} return 200 "$uri\\n${MISS_FILLER}"; }
      location /new/ { ${STORABLE} try_files /pages/10000.html =404; }
      location = /requests { stub_status; }
    }`;
}

/**
 * A program that answers every request with the same page:
 * `node constant-responder.ts --port … --bytes … --workers … [--certificate … --key …]`.
 */
import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { parseArgs } from "node:util";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";

const text = { type: "string", default: "1" } as const;
const file = { type: "string", default: "" } as const;
const { port, bytes, workers, certificate, key } = parseArgs({
  options: { port: text, bytes: text, workers: text, certificate: file, key: file },
}).values;

if (cluster.isPrimary && Number(workers) > 1) {
  for (let worker = 0; worker < Number(workers); worker++) cluster.fork();
  process.on("SIGTERM", () => process.exit()); // the workers end when their channel closes
} else {
  const body = Buffer.from(pageOfBytes(Number(bytes)));
  // The fields that a stored page usually comes with.
  const fields = {
    "Content-Type": "text/html",
    "Content-Length": body.length,
    "Cache-Control": "public, max-age=86400",
    "Last-Modified": "Thu, 01 Jan 2026 12:00:00 GMT",
    ETag: '"6956634c-3e8"',
    Age: "1",
    "X-Cache": "HIT",
  };
  const answer: RequestListener = (_, response) => response.writeHead(200, fields).end(body);
  const pair = () => ({ cert: readFileSync(certificate), key: readFileSync(key) });
  const server = certificate === "" ? createServer(answer) : createTlsServer(pair(), answer);
  server.listen(Number(port), "127.0.0.1");
}

import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { Pool } from "undici";

/*
 * As little as Node can do for each form of load: a search for two words of a request in place of a parser, a map of whole
 * answers in each process, and undici for what is not there. No rules, no purges, no disk.
 */
const [origin = "", port, workers, certificate, key] = process.argv.slice(2);
const answers = new Map<string, Buffer>();
const pool = new Pool(origin);

/** Gets a page from the origin, and keeps the answer if it may be stored. */
async function fetchPage(path: string, connection: string): Promise<Buffer> {
  const { headers, body } = await pool.request({ path, method: "GET" });
  const bytes = Buffer.from(await body.arrayBuffer());
  const fields = `connection: ${connection}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  const answer = (xCache: string) =>
    Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nx-cache: ${xCache}\r\n${fields}`), bytes]);
  if (headers["cache-control"] !== "no-store") answers.set(path + connection, answer("HIT"));
  return answer("MISS");
}

function serve(socket: Socket): void {
  socket.on("error", () => undefined).setEncoding("latin1");
  socket.on("data", async (request: string) => {
    const path = request.slice(4, request.indexOf(" ", 4));
    const connection = request.includes("\r\nConnection: close") ? "close" : "keep-alive";
    socket.write(answers.get(path + connection) ?? (await fetchPage(path, connection)));
    if (connection === "close") socket.end();
  });
}

if (cluster.isPrimary) {
  cluster.schedulingPolicy = cluster.SCHED_NONE; // every worker accepts connections itself
  for (let worker = 0; worker < Number(workers); worker++) cluster.fork();
} else {
  const server =
    certificate && key
      ? createTlsServer({ cert: readFileSync(certificate), key: readFileSync(key) }, serve)
      : createServer({ noDelay: true }, serve);
  server.listen(Number(port), "127.0.0.1");
}

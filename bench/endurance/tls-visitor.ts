import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { request } from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { pageOfBytes } from "../inputs/page-of-bytes.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import type { ChangingServer } from "./changing-server.ts";
import { SMALL_BYTES } from "./endurance-server.ts";

const PAUSE_MS = 50;

/**
 * A visitor over TLS, by turns on a connection of its own and in HTTP/2 on one that it keeps until the server ends it.
 * Fails on the first answer that is wrong or missing, and if a new connection gets an old certificate.
 */
export async function visitOverTlsUntil(isOver: () => boolean, server: ChangingServer): Promise<{ requests: number }> {
  const page = new URL(server.pageOf(SMALL_BYTES).pathname, server.encrypted);
  let session: ClientHttp2Session | null = null;
  let requests = 0;
  while (!isOver()) {
    const { serial } = server;
    const { body, seenSerial } = await askOnce(page);
    if (seenSerial !== serial && seenSerial !== server.serial) {
      throw new BenchFailure(`A connection got the certificate ${seenSerial}, and ${serial} was in use.`);
    }
    expectPage(body);
    if (session === null || session.closed || session.destroyed) session = connect(page);
    expectPage(await askInHttp2(session, page.pathname));
    requests += 2;
    await wait(PAUSE_MS);
  }
  session?.destroy();
  return { requests };
}

function expectPage(body: string | null): void {
  if (body !== null && body !== pageOfBytes(SMALL_BYTES)) throw new BenchFailure("A wrong answer over TLS.");
}

async function askOnce(page: URL): Promise<{ body: string; seenSerial: string }> {
  const sent = request(page, { rejectUnauthorized: false, agent: false }).end();
  const [answer] = await once(sent, "response");
  const seenSerial = (answer.socket as TLSSocket).getPeerCertificate().serialNumber;
  let body = "";
  for await (const piece of answer.setEncoding("utf8")) body += piece;
  return { body, seenSerial };
}

function connect(page: URL): ClientHttp2Session {
  const session = connectHttp2(page, { rejectUnauthorized: false });
  session.on("error", () => undefined);
  return session;
}

/** `null` if the server had ended the connection before it saw the request, which it says: RFC 9113 §8.7. */
async function askInHttp2(session: ClientHttp2Session, path: string): Promise<string | null> {
  let stream: ReturnType<ClientHttp2Session["request"]>;
  try {
    stream = session.request({ ":path": path });
  } catch {
    return null; // it has ended since
  }
  let body = "";
  let failure: Error | null = null;
  stream.on("error", (error) => {
    failure = error;
  });
  stream.setEncoding("utf8").on("data", (piece: string) => {
    body += piece;
  });
  await new Promise((resolve) => stream.on("close", resolve));
  if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return null;
  if (failure !== null) throw new BenchFailure(`No answer in HTTP/2: ${String(failure)}`);
  return body;
}

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import type { Certificate } from "../../../server/connections/certificates.ts";
import { Listener, type ListenerParts } from "../../../server/connections/listener.ts";
import type { Answering } from "../http1/running-listener.ts";
import { type CertificateWishes, makeCertificate } from "./make-certificate.ts";

export interface Where {
  readonly host: string;
  readonly port: number;
}

/** What a test has opened. */
export const stops: (() => unknown)[] = [];

export async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop();
}

export function certificate(names: readonly string[], wishes: CertificateWishes = {}): Certificate {
  const { validFrom = new Date("2020-01-01"), validUntil = new Date("2099-01-01"), kind = "ec" } = wishes;
  const dates = { validFrom: validFrom.getTime(), validUntil: validUntil.getTime() };
  return { names, ...makeCertificate(names, wishes), kind, ...dates, file: `${names[0]}.crt` };
}

export const LOCALHOST = certificate(["localhost"]);
/** A listener with TLS on one port, and without on another. */
export async function startTlsListener(answering: Answering, parts: Partial<ListenerParts> = {}) {
  const warnings: string[] = [];
  const listener = new Listener({
    isolate: { fetch: answering },
    bodies: nodeBodies,
    warn: (line) => void warnings.push(line),
    usesFastAnswers: true,
    tls: { certificates: [LOCALHOST], ticketSecret: "secret" },
    ...parts,
  });
  stops.push(() => listener.close(0));
  const listen = async (scheme: "http" | "https") => {
    const { port } = (await listener.listen({ host: "127.0.0.1", port: 0, scheme })) as AddressInfo;
    return { host: "127.0.0.1", port } satisfies Where;
  };
  return { listener, warnings, https: await listen("https"), http: await listen("http") };
}

export async function connected(
  where: Where,
  options: ConnectionOptions = {},
  tellSession: (session: Buffer) => void = () => undefined,
): Promise<TLSSocket> {
  const socket = connect({ servername: "localhost", rejectUnauthorized: false, ...where, ...options });
  socket.on("session", tellSession);
  stops.push(() => socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

/** Sends bytes over TLS and resolves to all that comes until the other side ends. */
export async function talk(where: Where, bytes: string, options: ConnectionOptions = {}): Promise<string> {
  const socket = await connected(where, options);
  socket.write(bytes);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  await once(socket, "close");
  return received;
}

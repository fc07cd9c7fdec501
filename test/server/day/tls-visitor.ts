import { connect } from "node:tls";
import { HOST } from "./day-visitors.ts";

/** What a client sees of a handshake. */
export interface Handshake {
  readonly isResumed: boolean;
  readonly fingerprint: string | null;
  readonly answer: string;
  /** With which a later handshake may be shorter. */
  readonly session: Buffer;
}

/** Asks for a page over TLS, on a connection of its own. */
export async function visitByTls(path: string, name = HOST, session?: Buffer): Promise<Handshake> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>();
  const socket = connect({ path, servername: name, ...(session && { session }), rejectUnauthorized: false });
  let answer = "";
  let given = Buffer.alloc(0);
  let seen: Pick<Handshake, "isResumed" | "fingerprint"> = { isResumed: false, fingerprint: null };
  socket.on("session", (one) => {
    given = one;
  });
  socket.on("secureConnect", () => {
    const fingerprint = socket.getPeerX509Certificate()?.fingerprint256 ?? null; // none where a session is resumed
    seen = { isResumed: socket.isSessionReused(), fingerprint };
    socket.write(`GET /home/0 HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
  });
  socket.on("data", (piece) => {
    answer += piece.toString("latin1");
  });
  socket.on("error", reject);
  socket.on("close", () => resolve({ ...seen, answer, session: given }));
  return promise;
}

import { connect } from "node:net";
import { connect as connectByTls } from "node:tls";

/** The bytes that came back on a connection, and whether the other side ended it. */
export interface Connection {
  readonly answered: string;
  readonly ended: boolean;
}

/**
 * Sends bytes unchanged, ends its side, and reads until the edge closes the connection or the last answer has come. The
 * deadline is for an edge that does neither.
 */
export function sendBytes(edge: URL, bytes: string, deadlineMs = 10_000): Promise<Connection> {
  return new Promise((resolve) => {
    const where = { port: Number(edge.port), host: edge.hostname };
    const socket = edge.protocol === "https:" ? connectByTls({ ...where, rejectUnauthorized: false }) : connect(where);
    let answered = "";
    let ended = true;
    const deadline = setTimeout(() => {
      ended = false;
      socket.destroy();
    }, deadlineMs);
    socket.on("data", (chunk) => {
      answered += chunk.toString("latin1");
    });
    socket.on("error", () => undefined); // The edge may reset a connection whose bytes it refuses to read.
    socket.on("close", () => {
      clearTimeout(deadline);
      resolve({ answered, ended });
    });
    socket.end(Buffer.from(bytes, "latin1"));
  });
}

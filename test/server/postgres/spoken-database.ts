import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** What a database that only speaks the protocol has seen of one connection. */
export interface SeenConnection {
  /** The settings that it began with. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly statements: readonly string[];
  /** Resolves when the client has closed it. */
  readonly closed: Promise<unknown>;
}

export interface SpokenOptions {
  /** It asks for a password. Default: it trusts. */
  readonly asksForPassword?: boolean;
  /** Whether the statements of the connection of this number, from 0, are answered. Default: all are. */
  readonly answers?: (connection: number) => boolean;
}

/**
 * A server that speaks as much of PostgreSQL's protocol, https://www.postgresql.org/docs/current/protocol-message-formats.html,
 * as a client needs to begin. Each statement changes nothing and has no rows.
 */
export async function speakPostgres({ asksForPassword = false, answers = () => true }: SpokenOptions = {}) {
  const connections: SeenConnection[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.once("data", (startup) => {
      const number = connections.length;
      const statements: string[] = [];
      const words = startup.toString("utf8", 8).split("\0").slice(0, -2);
      const parameters: Record<string, string> = {};
      for (let at = 0; at < words.length; at += 2) parameters[words[at]!] = words[at + 1]!;
      connections.push({ parameters, statements, closed: once(socket, "close") });
      if (asksForPassword) socket.write(message("R", number32(SASL), text("SCRAM-SHA-256"), text("")));
      else socket.write(Buffer.concat([message("R", number32(OK)), READY]));
      socket.on("data", (received) => {
        if (asksForPassword) socket.write(message("R", number32(SASL_CONTINUE), text("r=,s=,i=1")));
        if (received[0] !== "Q".charCodeAt(0)) return;
        statements.push(received.toString("utf8", 5, received.length - 1));
        if (answers(number)) socket.write(Buffer.concat([message("C", text("SET")), READY]));
      });
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    connections: connections as readonly SeenConnection[],
    url: `postgres://tm@127.0.0.1:${(server.address() as AddressInfo).port}/log`,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Codes of the requests for authentication. */
const OK = 0;
const SASL = 10;
const SASL_CONTINUE = 11;

const READY = message("Z", Buffer.from("I"));

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), number32(4 + body.length), body]);
}

function number32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}

function text(words: string): Buffer {
  return Buffer.from(`${words}\0`);
}

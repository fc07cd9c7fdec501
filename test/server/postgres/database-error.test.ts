import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { describe, expect, test } from "vitest";
import { Database } from "../../../server/postgres/database.ts";
import { sharedLogError } from "../../../server/postgres/database-error.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { type MadeCertificate, makeCertificate } from "../connections/make-certificate.ts";

describe("an error of PostgreSQL, or of the way to it,", () => {
  test.each([
    [
      { code: "ECONNREFUSED", message: "connect ECONNREFUSED" },
      "it cannot be reached (connect ECONNREFUSED)",
      "out-of-reach",
    ],
    [{ code: "ECONNREFUSED", message: "" }, "it cannot be reached (ECONNREFUSED)", "out-of-reach"],
    [
      { code: "EAI_AGAIN", message: "getaddrinfo EAI_AGAIN db" },
      "it cannot be reached (getaddrinfo EAI_AGAIN db)",
      "out-of-reach",
    ],
    [{ message: "timeout expired" }, "it cannot be reached (timeout expired)", "out-of-reach"],
    [
      { message: "timeout exceeded when trying to connect" }, // pg-pool's words, if none of its connections comes free
      "all connections of this machine to it are busy, or it does not answer",
      "passing",
    ],
    [
      { code: "57P03", message: "the database system is starting up" },
      "it is starting up, or is a standby",
      "out-of-reach",
    ],
    [
      { code: "42883", message: "function tidemark_log_append does not exist" },
      "it has no tables of the log",
      "lasting",
    ],
    [{ code: "08006", message: "connection failure" }, "connection failure", "out-of-reach"],
    [{ code: "28P01", message: "password authentication failed" }, "the password is wrong", "lasting"],
    [
      { code: "28000", message: 'role "tm" is not permitted to log in' },
      'this user may not connect (role "tm" is not permitted to log in).',
      "lasting",
    ],
    [
      { code: "28000", message: 'no pg_hba.conf entry for host "10.0.0.2", user "tm", database "log", no encryption' },
      'database "log", no encryption); ask for TLS in its address with ?sslmode=verify-full&sslrootcert=/path.pem',
      "lasting",
    ],
    [
      { code: "28000", message: 'no pg_hba.conf entry for host "10.0.0.2", user "tm", database "log", SSL off' }, // until 13
      'database "log", SSL off); ask for TLS in its address',
      "lasting",
    ],
    [
      { message: "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string" },
      "it asks for a password;",
      "lasting",
    ],
    [{ message: "SASL: SCRAM-SERVER-FIRST-MESSAGE: nonce missing" }, "it cannot be reached (SASL", "lasting"],
    [{ message: "The server does not support SSL connections" }, "does not support SSL connections", "lasting"],
    [{ code: "3D000", message: 'database "log" does not exist' }, "create it with: createdb", "lasting"],
    [{ code: "08P01", message: "protocol violation" }, "protocol violation", "out-of-reach"],
    [
      { code: "53300", message: "sorry, too many clients already" },
      "(max_connections); a machine needs five",
      "out-of-reach",
    ],
    [
      { code: "53300", message: 'too many connections for role "tm"' },
      'too many connections for role "tm" (CONNECTION LIMIT); a machine needs five',
      "out-of-reach",
    ],
    [{ code: "57014", message: "canceling statement" }, "it took too long to answer", "passing"],
    [{ code: "25006", message: "read-only transaction" }, "it is a standby, or read-only", "passing"],
    [{ code: "40P01", message: "deadlock detected" }, "deadlock detected", "passing"],
    [{ code: "42501", message: "permission denied" }, "this user may not create", "lasting"],
    [{ code: "55P03", message: "canceling statement" }, "or a commit waits for a synchronous standby", "passing"],
    [
      { code: "ENOENT", syscall: "open", message: "ENOENT: no such file", path: "/etc/ssl/db.pem" },
      "/etc/ssl/db.pem cannot be read",
      "lasting",
    ],
    [
      { code: "EACCES", syscall: "open", message: "EACCES", path: "/etc/ssl/db.pem" },
      "/etc/ssl/db.pem cannot be read",
      "lasting",
    ],
    [
      { code: "ENOENT", syscall: "connect", message: "connect ENOENT", path: "/run/x" },
      "it cannot be reached",
      "out-of-reach",
    ],
    [{ code: "53100", message: "could not extend file" }, "its disk is full", "passing"],
    [
      { code: "SELF_SIGNED_CERT_IN_CHAIN", message: "self-signed certificate in certificate chain" },
      "is not trusted (self-signed certificate in certificate chain); name the root in its address with ?sslmode=verify-full&",
      "lasting",
    ],
    [
      { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", message: "unable to verify the first certificate" },
      "(unable to verify the first certificate); name the root",
      "lasting",
    ],
    [{ code: "CERT_HAS_EXPIRED", message: "certificate has expired" }, "the database needs a new one", "out-of-reach"],
    [
      { code: "ERR_TLS_CERT_ALTNAME_INVALID", message: "Host: db. is not in the cert's altnames: DNS:db.internal" },
      "(Host: db. is not in the cert's altnames: DNS:db.internal); write the host that it names into the address",
      "lasting",
    ],
    [
      { code: "CERT_NOT_YET_VALID", message: "certificate is not yet valid" }, // as before the machine's clock is set
      "it cannot be reached (certificate is not yet valid)",
      "out-of-reach",
    ],
  ] as const)("%j: %s; %s", (cause, words, kind) => {
    const error = sharedLogError("db.internal/log", cause);
    expect(error.message).toContain(words);
    expect(error.kind).toBe(kind);
  });
});

describe("the address of a database", () => {
  const over = (url: string) => Database.over({ url, clock: systemClock, random: Math.random });

  test.each([
    ["postgres://tm:secret@db.internal:5433/log", "db.internal:5433/log"],
    ["postgres://tm:s%40%2F@db.internal/log?sslmode=require", "db.internal/log"],
    ["postgres://tm:99/cr@t@db.internal/log", "an address whose password is not percent-encoded"],
    ["postgres://tm:99?cr@t@db.internal/log", "an address whose password is not percent-encoded"],
    ["postgres://tm:99#cr@t@db.internal/log", "an address whose password is not percent-encoded"],
    ["postgres://db.internal/log?password=99@cret", "an address whose password is not percent-encoded"],
  ])("%s is shown without its password", async (url, shown) => {
    const database = await over(url);
    expect(database.where).toBe(shown);
    await database.close();
  });

  test("that names a file which is not there is refused in words", async () => {
    await expect(over("postgres://db.internal/log?sslmode=verify-full&sslrootcert=/nowhere/db.pem")).rejects.toThrow(
      /^The purge log in PostgreSQL at db\.internal\/log: \/nowhere\/db\.pem cannot be read/,
    );
  });
});

/** A database that begins TLS with this certificate, and no more. */
async function startTls({ chain, key }: MadeCertificate) {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const root = join(folder, "root.pem");
  writeFileSync(root, chain);
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write("S");
      new TLSSocket(socket, { isServer: true, cert: chain, key }).on("error", () => undefined);
    });
  }).listen(0, "localhost");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    root,
    connections: () => connections,
    open: (search: string) => {
      const url = `postgres://tm:secret@localhost:${port}/log?${search}`;
      return Database.over({ url, clock: { ...systemClock, elapsed: () => 0 }, random: Math.random });
    },
    stop: () => {
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const failureOf = (database: Database) => database.query("SELECT 1").catch((error: unknown) => error);

test("a certificate that is not trusted, or is another host's, ends the attempts in words", async () => {
  const server = await startTls(makeCertificate(["db.internal"]));
  const failure = async (search: string) => {
    const database = await server.open(search);
    const cause = await failureOf(database);
    await database.close();
    return cause;
  };
  const notTrusted = expect.stringContaining("); name the root");
  expect(await failure("sslmode=verify-full")).toMatchObject({ kind: "lasting", message: notTrusted });
  const another = expect.stringMatching(/DNS:db\.internal\); write the host/);
  const withRoot = `sslmode=verify-full&sslrootcert=${server.root}`;
  expect(await failure(withRoot)).toMatchObject({ kind: "lasting", message: another });
  server.stop();
});

test("a certificate that has expired may be replaced: the next attempt waits", async () => {
  const server = await startTls(makeCertificate(["localhost"], { validUntil: new Date("2021-01-01") }));
  const database = await server.open(`sslmode=verify-full&sslrootcert=${server.root}`);
  const hasExpired = expect.stringContaining("(certificate has expired); the database needs a new one");
  for (let query = 0; query < 5; query++) {
    expect(await failureOf(database)).toMatchObject({ kind: "out-of-reach", message: hasExpired });
  }
  expect(server.connections()).toBe(1);
  await database.close();
  server.stop();
});

import { describe, expect, test } from "vitest";
import { Database } from "../../../server/postgres/database.ts";
import { sharedLogError } from "../../../server/postgres/database-error.ts";
import { systemClock } from "../../../server/system-clock.ts";

describe("an error of PostgreSQL, or of the way to it,", () => {
  test.each([
    [{ code: "ECONNREFUSED", message: "connect ECONNREFUSED" }, "it cannot be reached (connect ECONNREFUSED)", true],
    [{ code: "ECONNREFUSED", message: "" }, "it cannot be reached (ECONNREFUSED)", true],
    [
      { code: "EAI_AGAIN", message: "getaddrinfo EAI_AGAIN db" },
      "it cannot be reached (getaddrinfo EAI_AGAIN db)",
      true,
    ],
    [{ message: "timeout expired" }, "it cannot be reached (timeout expired)", true],
    [
      { message: "timeout exceeded when trying to connect" }, // pg-pool's words, if none of its connections comes free
      "all connections of this machine to it are busy, or it does not answer",
      false,
    ],
    [{ code: "57P03", message: "the database system is starting up" }, "it is starting up, or is a standby", true],
    [{ code: "42883", message: "function tidemark_log_append does not exist" }, "it has no tables of the log", false],
    [{ code: "08006", message: "connection failure" }, "connection failure", true],
    [{ code: "28P01", message: "password authentication failed" }, "the password is wrong", false],
    [
      { message: "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string" },
      "it asks for a password;",
      false,
    ],
    [{ message: "SASL: SCRAM-SERVER-FIRST-MESSAGE: nonce missing" }, "it cannot be reached (SASL", false],
    [{ message: "The server does not support SSL connections" }, "does not support SSL connections", false],
    [{ code: "3D000", message: 'database "log" does not exist' }, "create it with: createdb", false],
    [
      { code: "08P01", message: "unsupported startup parameter: statement_timeout" },
      "ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout",
      false,
    ],
    [{ code: "08P01", message: "protocol violation" }, "protocol violation", true],
    [{ code: "53300", message: "sorry, too many clients already" }, "(max_connections); a machine needs five", true],
    [
      { code: "53300", message: 'too many connections for role "tm"' },
      'too many connections for role "tm" (CONNECTION LIMIT); a machine needs five',
      true,
    ],
    [{ code: "55P03", message: "canceling statement" }, "or a commit waits for a synchronous standby", false],
    [
      { code: "ENOENT", syscall: "open", message: "ENOENT: no such file", path: "/etc/ssl/db.pem" },
      "/etc/ssl/db.pem cannot be read",
      false,
    ],
    [
      { code: "EACCES", syscall: "open", message: "EACCES", path: "/etc/ssl/db.pem" },
      "/etc/ssl/db.pem cannot be read",
      false,
    ],
    [{ code: "ENOENT", syscall: "connect", message: "connect ENOENT", path: "/run/x" }, "it cannot be reached", true],
    [{ code: "53100", message: "could not extend file" }, "its disk is full", false],
  ])("%j: %s; waiting may help: %s", (cause, words, isOutOfReach) => {
    const error = sharedLogError("db.internal/log", cause);
    expect(error.message).toContain(words);
    expect(error.isOutOfReach).toBe(isOutOfReach);
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

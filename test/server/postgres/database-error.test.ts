import { describe, expect, test } from "vitest";
import { sharedLogError } from "../../../server/postgres/database-error.ts";

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
    [{ code: "57P03", message: "the database system is starting up" }, "it is starting up, or is a standby", true],
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
    [{ code: "53100", message: "could not extend file" }, "its disk is full", false],
  ])("%j: %s; waiting may help: %s", (cause, words, isOutOfReach) => {
    const error = sharedLogError("db.internal/log", cause);
    expect(error.message).toContain(words);
    expect(error.isOutOfReach).toBe(isOutOfReach);
  });
});

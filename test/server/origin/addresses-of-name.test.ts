import { Socket } from "node:net";
import { expect, test } from "vitest";
import { AddressesOfName } from "../../../server/origin/addresses-of-name.ts";
import { FailedAddresses } from "../../../server/origin/failed-addresses.ts";

const SILENT = "fd00::1";
const FOUND = [
  { address: SILENT, family: 6 },
  { address: "10.0.0.2", family: 4 },
];

/** The addresses of a name, what their owner is told, and connections as Node tells of them. */
function nameUnderTest() {
  let now = 0;
  const told: string[] = [];
  const addresses = new AddressesOfName(
    "app.test",
    () => now,
    (line) => told.push(line),
  );
  const order = () => addresses.inOrder(FOUND).map(({ address }) => address);
  /** A connection that tries the first address. `isOneOfSeveral`: whether the name has others. */
  const connection = (isOneOfSeveral = true) => {
    const socket = new Socket();
    if (isOneOfSeveral) Object.assign(socket, { autoSelectFamilyAttemptedAddresses: [] });
    addresses.watch(socket);
    socket.emit("connectionAttempt", SILENT, 80, 6);
    return socket;
  };
  const wait = (ms: number) => {
    now += ms;
  };
  return { told, order, connection, wait };
}

const failure = (code: string) => Object.assign(new Error(code), { code });

test("one that is silent comes last for ten seconds, and then until a trial has found it to answer", () => {
  const { told, order, connection, wait } = nameUnderTest();
  const early = connection();
  connection().emit("connectionAttemptTimeout", SILENT, 80, 6);
  early.emit("connect"); // it began before that failure
  expect(order()).toEqual(["10.0.0.2", SILENT]);
  wait(9_999);
  expect(order()).toEqual(["10.0.0.2", SILENT]);
  wait(1);
  expect(order()).toEqual([SILENT, "10.0.0.2"]);
  const trial = connection();
  expect(order()).toEqual(["10.0.0.2", SILENT]);
  trial.emit("connect");
  expect(order()).toEqual([SILENT, "10.0.0.2"]);
  expect(told).toEqual([
    "the origin's address fd00::1 of app.test takes no connection (ETIMEDOUT), so others are asked first",
    "the origin's address fd00::1 of app.test answers again",
  ]);
});

test("one that fails, and then another that takes the connection, are told apart", () => {
  const { told, order, connection } = nameUnderTest();
  connection().emit("connectionAttemptFailed", SILENT, 80, 6, failure("EHOSTUNREACH"));
  const trial = connection();
  trial.emit("connectionAttemptFailed", SILENT, 80, 6, failure("EHOSTUNREACH"));
  trial.emit("connectionAttempt", "10.0.0.2", 80, 4);
  trial.emit("connect");
  expect(order()).toEqual(["10.0.0.2", SILENT]);
  expect(told).toEqual([
    "the origin's address fd00::1 of app.test takes no connection (EHOSTUNREACH), so others are asked first",
  ]);
});

test.each([
  ["refuses connections keeps its place, because that costs no time", true, "ECONNREFUSED"],
  ["cannot be tried for what is lacking here keeps its place", true, "EMFILE"],
  ["is of a kind that this machine has none of keeps its place", true, "EADDRNOTAVAIL"],
  ["has no other beside it is not said to come after others", false, "EHOSTUNREACH"],
])("one that %s", (_, isOneOfSeveral, code) => {
  const { told, order, connection } = nameUnderTest();
  connection(isOneOfSeveral).emit("connectionAttemptFailed", SILENT, 80, 6, failure(code));
  expect(order()).toEqual([SILENT, "10.0.0.2"]);
  expect(told).toEqual([]);
});

test("of addresses that are new each time, the oldest failures are forgotten", () => {
  const { order, connection } = nameUnderTest();
  const fails = (address: string) =>
    connection().emit("connectionAttemptFailed", address, 80, 6, failure("EHOSTUNREACH"));
  fails(SILENT);
  for (let at = 1; at < 100; at++) fails(`fd00::1:${at}`);
  expect(order()).toEqual(["10.0.0.2", SILENT]);
  fails("fd00::2");
  expect(order()).toEqual([SILENT, "10.0.0.2"]);
});

test("the oldest failures are forgotten, not those that were repeated", () => {
  let now = 0;
  const failed = new FailedAddresses(
    () => now,
    () => undefined,
  );
  for (let each = 0; each < 100; each++) failed.fails(`a${each}`, "ETIMEDOUT");
  now = 5_000;
  failed.fails("a0", "ETIMEDOUT");
  failed.fails("a100", "ETIMEDOUT");
  expect(failed.inOrder(["a0", "a1", "a2"], (each) => each)).toEqual(["a1", "a0", "a2"]);
});

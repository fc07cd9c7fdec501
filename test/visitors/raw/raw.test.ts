import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byDepth } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";
import { type Behaviour, brokenEdge } from "../broken-edge.ts";
import { onServer } from "../meetings/server-meeting.ts";
import { HIDDEN_REQUEST, PAGE, RAW_HOST } from "./raw-bodies.ts";
import { findHarm } from "./raw-fuzz.ts";
import { inRuntime, RawMeetings } from "./raw-meetings.ts";

const MESSAGES = 1600;
const TO_RUNTIME = byDepth({ test: 30, gate: 30, all: MESSAGES / 4, explore: MESSAGES });
const OVER_TLS = byDepth({ test: 30, gate: 30, all: MESSAGES / 4, explore: 4 * MESSAGES });
const TO_SERVER = byDepth({ test: 60, gate: 60, all: MESSAGES / 4, explore: 20 * MESSAGES });

describe.each([
  { name: "in the Workers runtime", edge: inRuntime(), count: TO_RUNTIME, tags: [] },
  { name: "on one's own server, the fast way", edge: onServer("fast"), count: TO_SERVER, tags: [] },
  { name: "on one's own server, the plain way", edge: onServer("plain"), count: TO_SERVER, tags: ["deep"] },
  { name: "on one's own server, over TLS", edge: onServer("tls"), count: OVER_TLS, tags: ["deep"] },
])(
  "$name, the origin gets valid requests whatever bytes come, and other visitors get their pages",
  ({ edge, count, tags }) => {
    const meetings = new RawMeetings(edge);
    beforeAll(() => meetings.start());
    afterAll(() => meetings.stop());

    test(`${count} messages over sockets`, { tags, timeout: 300_000 }, async () => {
      expect(await findHarm(meetings, { seed, count })).toBe(null);
      expect(meetings.cameThrough).toBeGreaterThan(count / 5); // otherwise all would be refused, and would prove nothing
    });
  },
);

describe("control: these messages notice each defence of the worker that is switched off", () => {
  const isFound = async ({ from, told }: { readonly from: string; readonly told: RegExp }) => {
    const meetings = new RawMeetings(
      inRuntime((script) => {
        expect(script.split(from).length).toBe(2);
        return script.replace(from, "if (false)");
      }),
    );
    await meetings.start();
    const harm = await findHarm(meetings, { seed, count: MESSAGES });
    await meetings.stop();
    expect(harm).toMatch(told);
  };
  test("control characters in fields", { tags: ["deep"], timeout: 120_000 }, () =>
    isFound({ from: "if (CONTROL_CHARACTER.test(value))", told: /could not read .*: no field/ }),
  );
  test.each([
    { name: "invalid field names", from: "if (!isFieldName(name))", told: /could not read .*: no field/ },
    {
      name: "fields that are not in the key",
      from: 'if (!form || value !== "" && !form.test(value))',
      told: /another visitor of \S+ gets/,
    },
  ])("$name", { tags: ["deep"], timeout: 120_000 }, isFound);
});

const PLAIN = `GET ${PAGE} HTTP/1.1\r\nHost: ${RAW_HOST}\r\n\r\n`;
const WITH_FIELD = `GET ${PAGE} HTTP/1.1\r\nHost: ${RAW_HOST}\r\nX-A: 1\r\n\r\n`;
const TWO_FRAMINGS = `POST ${PAGE} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
const WITH_HIDDEN = `POST ${PAGE} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n${HIDDEN_REQUEST}`;

/** An edge that behaves differently for messages that are not the plain ones of other visitors. */
function unlessPlain(otherwise: (plainly: Behaviour) => Behaviour): (plainly: Behaviour) => Behaviour {
  return (plainly) => (bytes, ask) =>
    /^GET \S+ HTTP\/1\.1\r\nHost: [a-z.]+\r\n\r\n$/.test(bytes) ? plainly(bytes, ask) : otherwise(plainly)(bytes, ask);
}

describe("control: one message finds an edge with one fault", () => {
  const passesOn = unlessPlain(() => (bytes, ask) => ask(bytes));
  test.each<{ name: string; edge: (plainly: Behaviour) => Behaviour; message: string; wrong: RegExp | null }>([
    {
      name: "a sound edge has no fault",
      edge: unlessPlain((plainly) => plainly),
      message: WITH_FIELD,
      wrong: null,
    },
    {
      name: "both framings are forwarded",
      edge: passesOn,
      message: TWO_FRAMINGS,
      wrong: /could not read .*two framings/,
    },
    { name: "a hidden request is forwarded", edge: passesOn, message: WITH_HIDDEN, wrong: /request within a request/ },
    {
      name: "a hidden request is sent as a separate request, and nobody gets its answer",
      edge: unlessPlain((plainly) => async (bytes, ask) => {
        await ask(bytes.slice(bytes.indexOf("\r\n\r\n") + 4));
        return plainly(bytes, ask);
      }),
      message: WITH_HIDDEN,
      wrong: /^1 answers to what the origin got as GET .hidden-0+1 HTTP.1.1, GET/,
    },
    {
      name: "a page that a field changed is stored for everybody",
      edge: (plainly) => {
        const first = new Map<string, string>();
        return async (bytes, ask) => {
          const path = bytes.split(" ", 2)[1]!;
          if (bytes.includes("X-A")) first.set(path, await ask(bytes));
          return first.get(path) ?? plainly(bytes, ask);
        };
      },
      message: WITH_FIELD,
      wrong: /another visitor of \/page-0+1 gets: .*X-A: 1/s,
    },
    {
      name: "the next visitor gets nothing",
      edge: (plainly) => {
        let isDead = false;
        return async (bytes, ask) => {
          if (isDead) return "";
          isDead = bytes.includes("X-A");
          return plainly(bytes, ask);
        };
      },
      message: WITH_FIELD,
      wrong: /another visitor of \/fixed gets: \n/,
    },
    {
      name: "a stored page is lost",
      edge: () => (bytes, ask) => ask(bytes),
      message: PLAIN,
      wrong: /\/fixed was stored, and is not any more/,
    },
    {
      name: "a connection does not end",
      edge: unlessPlain(() => async () => null),
      message: WITH_FIELD,
      wrong: /does not come to its end/,
    },
  ])("$name", async ({ edge, message, wrong }) => {
    const meetings = new RawMeetings(brokenEdge(edge), wrong?.source.includes("its end") ? 300 : 10_000);
    await meetings.start();
    const found = await meetings.wrongWith([message]);
    await meetings.stop();
    if (wrong === null) expect(found).toBe(null);
    else expect(found).toMatch(wrong);
  });
});

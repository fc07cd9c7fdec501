import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { makeKey } from "../../../server/acme/acme-folder.ts";
import type { Challenge } from "../../../server/acme/authority.ts";
import { ChallengeAnswers } from "../../../server/acme/challenge-answers.ts";
import { ASKS_FOR_CHALLENGES, ChallengeOffice } from "../../../server/acme/challenge-office.ts";
import { SitesByHost } from "../../../server/connections/sites-by-host.ts";
import type { ProcessLine } from "../../../server/supervisor/process-line.ts";
import { ManualClock } from "../../engine/memory/manual-clock.ts";
import { makeCertificate } from "../connections/make-certificate.ts";
import { certificate, startTlsListener as start, stopAll, stops, type Where } from "../connections/tls-listener.ts";
import { type Answering, answer } from "../http1/running-listener.ts";
import { RawClient } from "../raw-client.ts";

afterEach(stopAll);

const NAME = "www.example.test";
const HTTP: Challenge = { type: "http-01", token: "a-token", keyAuthorization: "a-token.of-the-account" };
const TLS: Challenge = { type: "tls-alpn-01", name: NAME, ...makeCertificate([NAME], { key: makeKey() }) };
const shown: Answering = ({ url }) => answer(`the site answers ${url}`);

function pending(...challenges: readonly Challenge[]): ChallengeAnswers {
  const challengeAnswers = new ChallengeAnswers();
  challengeAnswers.take(challenges);
  return challengeAnswers;
}

async function ask(where: Where, path: string, method = "GET", host = NAME): Promise<string> {
  const client = new RawClient(where);
  stops.push(() => client.destroy());
  await client.send(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  await client.closed;
  return client.received;
}

describe("a challenge by HTTP", () => {
  const PATH = "/.well-known/acme-challenge/a-token";

  test.each([true, false])(
    "is answered before the site and a redirect to https, in the fast way: %s",
    async (usesFastAnswers) => {
      const toHttps = { status: 308, port: 443, hosts: null, publicHost: null } as const;
      const { http } = await start(shown, { challenges: pending(HTTP), toHttps, usesFastAnswers });
      const received = await ask(http, PATH);
      expect(received).toMatch(/^HTTP\/1\.1 200 /);
      expect(received).toMatch(/content-type: application\/octet-stream\r\n/i);
      expect(received).toMatch(/cache-control: no-store\r\n/i);
      expect(received).toMatch(/\r\n\r\na-token\.of-the-account$/);
      expect(await ask(http, PATH, "HEAD")).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\n$/);
    },
  );

  test("is answered under a host that no site has", async () => {
    const sites = new SitesByHost([{ name: "a", hosts: ["a.test"], isolate: { fetch: shown }, trustedProxies: [] }]);
    const { http } = await start(shown, { challenges: pending(HTTP), sites });
    expect(await ask(http, PATH)).toMatch(/a-token\.of-the-account$/);
    expect(await ask(http, "/.well-known/acme-challenge/another")).toMatch(/^HTTP\/1\.1 421 /);
  });

  test.each([
    ["another token", [HTTP], "/.well-known/acme-challenge/another", "GET"],
    ["a part of the token", [HTTP], "/.well-known/acme-challenge/a-toke", "GET"],
    ["another folder", [HTTP], "/acme-challenge/a-token", "GET"],
    ["a query behind it", [HTTP], `${PATH}?x`, "GET"],
    ["another method", [HTTP], PATH, "DELETE"],
    ["a token when none is pending", [], PATH, "GET"],
    ["the token of a challenge by TLS", [TLS], PATH, "GET"],
  ])("belongs to the site instead of the server with %s", async (_, challenges, path, method) => {
    const { http } = await start(shown, { challenges: pending(...challenges) });
    expect(await ask(http, path, method)).toMatch(/the site answers http:\/\/www\.example\.test/);
  });
});

/** The protocol and the names of a handshake, or the alert that ends it. */
async function handshake(
  where: Where,
  protocols: string[] | undefined,
  servername = NAME,
  version?: "TLSv1.2" | "TLSv1.3",
) {
  const versions = version === undefined ? {} : { minVersion: version, maxVersion: version };
  const offered = protocols === undefined ? {} : { ALPNProtocols: protocols };
  const socket = connect({ ...where, servername, rejectUnauthorized: false, ...offered, ...versions });
  stops.push(() => socket.destroy());
  try {
    await once(socket, "secureConnect");
    return { socket, protocol: socket.alpnProtocol, names: socket.getPeerCertificate().subjectaltname };
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code;
  }
}

async function isEndedWithoutAnswer(socket: TLSSocket): Promise<boolean> {
  socket.on("error", () => undefined);
  socket.write("GET / HTTP/1.1\r\nHost: www.example.test\r\n\r\n");
  let received = "";
  socket.on("data", (piece) => {
    received += piece;
  });
  if (!socket.closed) await once(socket, "close");
  return received === "";
}

describe.each(["TLSv1.2", "TLSv1.3"] as const)("a challenge by %s", (version) => {
  const ACME = ["acme-tls/1"];
  const own = certificate(["own.test"]);
  const more = certificate([NAME]);

  test.each([
    ["no certificate yet", []],
    ["one", [own]],
    ["several", [own, more]],
  ])("is answered with its own certificate, and ends, with %s", async (_, certificates) => {
    const tls = { certificates, ticketSecret: "secret" };
    const { https } = await start(shown, { challenges: pending(TLS), tls });
    const done = await handshake(https, ACME, NAME, version);
    expect(done).toMatchObject({ protocol: "acme-tls/1", names: `DNS:${NAME}` });
    expect(await isEndedWithoutAnswer((done as { socket: TLSSocket }).socket)).toBe(true);
  });

  test("is refused for a name without a pending challenge", async () => {
    const tls = { certificates: [own], ticketSecret: "secret" };
    const { https } = await start(shown, { challenges: pending(TLS), tls });
    expect(await handshake(https, ACME, "own.test", version)).toMatch(/ALERT_NO_APPLICATION_PROTOCOL/);
    expect(await handshake(https, ACME, "", version)).toMatch(/ALERT_NO_APPLICATION_PROTOCOL/);
  });

  test("changes nothing for visitors meanwhile", async () => {
    const tls = { certificates: [own, more], ticketSecret: "secret" };
    const { https } = await start(shown, { challenges: pending(TLS), tls });
    const expected = { names: `DNS:${NAME}` };
    expect(await handshake(https, ["h2", "http/1.1"], NAME, version)).toMatchObject({ protocol: "h2", ...expected });
    for (const protocol of ["http/1.1", "http/1.0"])
      expect(await handshake(https, [protocol], NAME, version)).toMatchObject({ protocol, ...expected });
    expect(await handshake(https, undefined, NAME, version)).toMatchObject({ protocol: false, ...expected });
    expect(await handshake(https, ["other"], NAME, version)).toMatch(/ALERT_NO_APPLICATION_PROTOCOL/);
  });

  test("serves no visitor as long as there is no certificate", async () => {
    const tls = { certificates: [], ticketSecret: "secret" };
    const { https, http } = await start(shown, { challenges: pending(TLS), tls });
    for (const protocols of [["h2", "http/1.1"], undefined]) {
      expect(await handshake(https, protocols, "own.test", version)).toMatch(/ALERT/);
    }
    expect(await handshake(https, ["h2", "http/1.1"], NAME, version)).toMatch(/ALERT/);
    const withoutAlpn = await handshake(https, undefined, NAME, version);
    if (typeof withoutAlpn === "object") expect(await isEndedWithoutAnswer(withoutAlpn.socket)).toBe(true);
    expect(await ask(http, "/page")).toContain("the site answers http://www.example.test/page");
  });
});

describe("the workers of a machine", () => {
  const CLOCK = new ManualClock(0);

  /** A worker that hears of challenges when it is told to. */
  function worker(office: ChallengeOffice) {
    const served = office.connect();
    const heard: (readonly Challenge[])[] = [];
    const listen = async () => void heard.push((await served.ask(ASKS_FOR_CHALLENGES)) as readonly Challenge[]);
    return { served, heard, listen };
  }

  const isDone = async (promise: Promise<unknown>) => {
    const not = new Promise((resolve) => setImmediate(() => resolve("not yet")));
    return (await Promise.race([promise, not])) !== "not yet";
  };

  test("all know a challenge before the authority is told to check it", async () => {
    const office = new ChallengeOffice(CLOCK);
    const [one, other] = [worker(office), worker(office)];
    await one.listen();
    await other.listen();
    expect([one.heard, other.heard]).toEqual([[[]], [[]]]);
    const waiting = [one.listen(), other.listen()];
    const answered = office.answer(HTTP);
    await Promise.all(waiting);
    expect([one.heard.at(-1), other.heard.at(-1)]).toEqual([[HTTP], [HTTP]]);
    void one.listen(); // it has taken it in
    expect(await isDone(answered)).toBe(false);
    void other.listen();
    expect(await isDone(answered)).toBe(true);
  });

  test("learn of challenges that came or ended while they were busy", async () => {
    const office = new ChallengeOffice(CLOCK);
    const { heard, listen } = worker(office);
    await listen();
    void office.answer(HTTP);
    void office.answer(TLS);
    await listen();
    expect(heard.at(-1)).toEqual([HTTP, TLS]);
    const next = listen();
    office.forget(HTTP);
    await next;
    expect(heard.at(-1)).toEqual([TLS]);
  });

  test("that were busy when a challenge came are waited for until they have taken it in", async () => {
    const office = new ChallengeOffice(CLOCK);
    const { heard, listen } = worker(office);
    await listen();
    const answered = office.answer(HTTP);
    await listen();
    expect(heard.at(-1)).toEqual([HTTP]);
    expect(await isDone(answered)).toBe(false);
    void listen();
    expect(await isDone(answered)).toBe(true);
  });

  test("that start in the middle of an order know its challenge at once", async () => {
    const office = new ChallengeOffice(CLOCK);
    void office.answer(HTTP);
    const { heard, listen } = worker(office);
    await listen();
    expect(heard).toEqual([[HTTP]]);
  });

  test("are not waited for when they end", async () => {
    const office = new ChallengeOffice(CLOCK);
    const { served, listen } = worker(office);
    await listen();
    const answered = office.answer(HTTP);
    expect(await isDone(answered)).toBe(false);
    served.close();
    expect(await isDone(answered)).toBe(true);
  });

  test("are waited for five seconds when they hang", async () => {
    const office = new ChallengeOffice(CLOCK);
    const hangs = worker(office);
    const answered = office.answer(HTTP);
    expect(await isDone(answered)).toBe(false);
    await CLOCK.advance(4_999);
    expect(await isDone(answered)).toBe(false);
    await CLOCK.advance(1);
    expect(await isDone(answered)).toBe(true);
    expect(hangs.heard).toEqual([]);
  });

  test("receive challenges for as long as the supervisor lives, and start without any if nobody orders", async () => {
    const office = new ChallengeOffice(CLOCK);
    const served = office.connect();
    const line: ProcessLine = { ask: (question) => served.ask(question), tell: () => undefined };
    const answers = await ChallengeAnswers.hear(line);
    expect(answers.answer("GET", `http://${NAME}/.well-known/acme-challenge/a-token`)).toBeNull();
    await office.answer(HTTP);
    expect(answers.answer("GET", `http://${NAME}/.well-known/acme-challenge/a-token`)?.status).toBe(200);
    await office.answer(TLS);
    expect(answers.contextFor(NAME)).not.toBeNull();
    office.forget(HTTP);
    office.forget(TLS);
    await new Promise(setImmediate);
    expect(answers.answer("GET", `http://${NAME}/.well-known/acme-challenge/a-token`)).toBeNull();
    expect(answers.contextFor(NAME)).toBeNull();
    const dead: ProcessLine = {
      ask: () => Promise.reject(new Error("the supervisor has died")),
      tell: () => undefined,
    };
    expect((await ChallengeAnswers.hear(dead)).contextFor(NAME)).toBeNull();
    const silent: ProcessLine = { ask: () => Promise.resolve(undefined), tell: () => undefined };
    expect((await ChallengeAnswers.hear(silent)).contextFor(NAME)).toBeNull();
  });
});

import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Certificate, certificateWarnings, readCertificates } from "../../../server/connections/certificates.ts";
import { ServerError } from "../../../server/startup/server-error.ts";
import { stateOfFile } from "../../../server/startup/watched-files.ts";
import { makeCertificate } from "./make-certificate.ts";

let folder: string;
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const pair = (certificate: string, key: string) => ({ pairs: [{ certificate, key }], folder: null });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("a certificate is read with its names, its type of key and its validity", () => {
  const made = makeCertificate(["www.example.test", "*.Example.test"], {
    validUntil: new Date("2031-02-03T04:05:06Z"),
  });
  const [read] = readCertificates(pair(file("a.crt", made.chain), file("a.key", made.key)));
  expect(read).toMatchObject({ names: ["www.example.test", "*.example.test"], kind: "ec", key: made.key });
  expect(new Date(read!.validUntil).toISOString()).toBe("2031-02-03T04:05:06.000Z");
});

test("a certificate for an address is not said to name no host", () => {
  const made = makeCertificate(["192.0.2.1"]);
  const [read] = readCertificates(pair(file("address.crt", made.chain), file("address.key", made.key)));
  expect(read!.names).toEqual(["192.0.2.1"]);
  expect(certificateWarnings([read!], Date.parse("2030-01-01"))).toEqual([]);
});

test("a folder has those of certbot and of other tools", () => {
  const site = join(folder, "live");
  mkdirSync(join(site, "one.test"), { recursive: true });
  mkdirSync(join(site, "empty"));
  const [one, two, three] = ["one.test", "two.test", "three.test"].map((name) => makeCertificate([name]));
  writeFileSync(join(site, "README"), "This directory contains your keys and certificates.");
  writeFileSync(join(site, "one.test", "fullchain.pem"), one!.chain);
  writeFileSync(join(site, "one.test", "privkey.pem"), one!.key);
  writeFileSync(join(site, "two.test.crt"), two!.chain);
  writeFileSync(join(site, "two.test.key"), two!.key);
  writeFileSync(join(site, "three.test.pem"), three!.chain);
  writeFileSync(join(site, "three.test.key"), three!.key);
  const names = readCertificates({ pairs: [], folder: site }).flatMap((each) => each.names);
  expect(names.sort()).toEqual(["one.test", "three.test", "two.test"]);
});

test("a certificate that is named and lies in the folder as well is one", () => {
  const site = join(folder, "named-as-well");
  const [named, other] = ["named", "other"].map((name) => {
    const { chain, key } = makeCertificate([`${name}.test`]);
    mkdirSync(join(site, name), { recursive: true });
    writeFileSync(join(site, name, "privkey.pem"), key);
    writeFileSync(join(site, name, "fullchain.pem"), chain);
    return { certificate: join(site, name, "fullchain.pem"), key: join(site, name, "privkey.pem") };
  });
  const read = readCertificates({ pairs: [named!], folder: `${site}/` });
  expect(read.map(({ file }) => file)).toEqual([named!.certificate, other!.certificate]);
});

test("one of certbot's own folders is a folder with one certificate", () => {
  const site = join(folder, "of-certbot");
  mkdirSync(site);
  const { chain, key } = makeCertificate(["one.test"]);
  const authority = makeCertificate([]).chain;
  const files = { "cert.pem": chain, "chain.pem": authority, "fullchain.pem": chain, "privkey.pem": key };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(site, name), text);
  const read = () => readCertificates({ pairs: [], folder: site }).map(({ file }) => file);
  expect(read()).toEqual([join(site, "fullchain.pem")]);
  writeFileSync(join(site, "two.crt"), chain);
  expect(read).toThrow("two.crt has no two.key beside it");
  rmSync(join(site, "two.crt"));
  rmSync(join(site, "privkey.pem"));
  symlinkSync(join(folder, "nowhere.pem"), join(site, "privkey.pem"));
  expect(read).toThrow("privkey.pem: it does not exist");
});

describe("refuses, and names the file,", () => {
  const refusal = (of: () => unknown) => {
    try {
      of();
    } catch (error) {
      expect(error).toBeInstanceOf(ServerError);
      return (error as Error).message;
    }
    return "nothing was refused";
  };
  const good = makeCertificate(["www.example.test"]);
  const other = makeCertificate(["www.example.test"]);

  test.each([
    ["a file that is not there", () => [join(folder, "none.crt"), file("b.key", good.key)], /none\.crt .*not exist/],
    ["a file that is no certificate", () => [file("b.crt", "no"), file("b.key", good.key)], /b\.crt .*no.* in PEM/],
    ["a file cut short", () => [file("b.crt", good.chain.slice(0, 200)), file("b.key", good.key)], /b\.crt .*PEM/],
    ...[1, 10, 26, 27, 300].map<[string, () => string[], RegExp]>((length) => [
      `a chain of which ${length} bytes of the last certificate are written`,
      () => [file("b.crt", good.chain + other.chain.slice(0, length)), file("b.key", good.key)],
      /b\.crt .*block of PEM has no end/,
    ]),
    ["a key that is none", () => [file("b.crt", good.chain), file("b.key", "no")], /b\.key .*private key in PEM/],
    ["the key of another one", () => [file("b.crt", good.chain), file("b.key", other.key)], /b\.crt .*b\.key belongs/],
    [
      "a chain in the wrong order",
      () => [file("b.crt", other.chain + good.chain), file("b.key", good.key)],
      /b\.crt .*first certificate in the file/,
    ],
    [
      "a key with a passphrase",
      () => [file("b.crt", good.chain), file("b.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA")],
      /b\.key .*encrypted/,
    ],
    ["a folder", () => [folder, file("b.key", good.key)], /it is a folder/],
  ])("%s", (_, files, words) => {
    const [certificate, key] = files() as [string, string];
    expect(refusal(() => readCertificates(pair(certificate, key)))).toMatch(words);
  });

  const live = (name: string) => {
    const site = join(folder, name, "live", "www.example.test");
    const archive = join(folder, name, "archive");
    mkdirSync(site, { recursive: true });
    mkdirSync(archive);
    writeFileSync(join(archive, "fullchain1.pem"), good.chain);
    symlinkSync(join(archive, "fullchain1.pem"), join(site, "fullchain.pem"));
    return { folder: join(folder, name, "live"), archive };
  };

  test("a folder whose certificates this user may not read", () => {
    const { folder: letsencrypt, archive } = live("letsencrypt");
    expect(refusalWithout(archive, letsencrypt)).toMatch(
      /live\/www\.example\.test\/fullchain\.pem: this user may not read it; give the user/,
    );
  });

  test("a certificate without a key that this user may not read", () => {
    const site = join(folder, "unreadable");
    mkdirSync(site);
    for (const name of ["a.crt", "b.crt"]) writeFileSync(join(site, name), good.chain);
    writeFileSync(join(site, "a.key"), good.key);
    expect(refusalWithout(join(site, "b.crt"), site)).toMatch(
      /unreadable\/b\.crt: this user may not read it; give the user/,
    );
  });

  /** The refusal of a folder if the right to read this file or folder is missing. */
  const refusalWithout = (path: string, certificates: string) => {
    chmodSync(folder, 0o755);
    chmodSync(path, 0);
    if (process.getuid!() === 0) process.seteuid!(65_534); // root may look everywhere
    try {
      return refusal(() => readCertificates({ pairs: [], folder: certificates }));
    } finally {
      if (process.getuid!() === 0) process.seteuid!(0);
      chmodSync(path, 0o700);
    }
  };

  test("a folder with a site's certificate whose key is missing", () => {
    const site = join(folder, "keyless");
    mkdirSync(site);
    for (const name of ["a", "b"]) writeFileSync(join(site, `${name}.crt`), good.chain);
    writeFileSync(join(site, "a.key"), good.key);
    writeFileSync(join(site, "notes.pem"), "no certificate");
    expect(refusal(() => readCertificates({ pairs: [], folder: site }))).toMatch(
      /keyless\/b\.crt has no b\.key beside/,
    );
    rmSync(join(site, "b.crt"));
    expect(readCertificates({ pairs: [], folder: site })).toHaveLength(1);
  });

  test.each([
    ["fullchain.pem", "privkey.pem"],
    ["privkey.pem", "fullchain.pem"],
  ])("a folder of certbot whose %s is a link to nothing, or is missing", (name, beside) => {
    const site = join(folder, `without-${name}`);
    const path = join(site, "www.example.test", name);
    for (const each of ["shop.test", "www.example.test"]) {
      mkdirSync(join(site, each), { recursive: true });
      writeFileSync(join(site, each, "fullchain.pem"), good.chain);
      writeFileSync(join(site, each, "privkey.pem"), good.key);
    }
    const read = () => readCertificates({ pairs: [], folder: site });
    rmSync(path);
    expect(refusal(read)).toMatch(new RegExp(`${name} cannot be used: it does not exist`));
    symlinkSync(join(folder, "nowhere.pem"), path);
    rmSync(join(site, "www.example.test", beside));
    expect(refusal(read)).toMatch(/www\.example\.test\/fullchain\.pem cannot be used: it does not exist/);
    rmSync(path);
    expect(read()).toHaveLength(1);
  });

  test("a folder with a link that leads to itself", () => {
    const { folder: letsencrypt } = live("looped");
    symlinkSync(join(letsencrypt, "loop"), join(letsencrypt, "loop"));
    expect(refusal(() => readCertificates({ pairs: [], folder: letsencrypt }))).toMatch(/live\/loop: it is a link/);
  });

  test("a folder without certificates", () => {
    const empty = join(folder, "nothing");
    mkdirSync(empty);
    expect(refusal(() => readCertificates({ pairs: [], folder: empty }))).toMatch(
      /nothing cannot be read: .*NAME\.crt/,
    );
  });
});

describe("of certificates that cannot be used, what is to be watched has changed once they are mended:", () => {
  const { chain, key } = makeCertificate(["www.example.test"]);
  const write = (at: string, texts: Readonly<Record<string, string>>) => {
    mkdirSync(at, { recursive: true });
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(at, name), text);
    utimesSync(at, 0, 0); // the next change may come within the same tick of the file system's clock
  };
  const PAIR = { "b.crt": chain, "b.key": key };

  test.each<[string, (at: string) => void, (at: string) => void]>([
    ["a file", (at) => write(at, { ...PAIR, "b.crt": "no" }), (at) => write(at, PAIR)],
    ["a missing key", (at) => write(at, { "b.crt": chain }), (at) => write(at, PAIR)],
    ["an empty folder", (at) => write(at, {}), (at) => writeFileSync(join(at, "b.pem"), chain)],
    [
      "an empty folder of certbot",
      (at) => write(join(at, "www"), {}),
      (at) => writeFileSync(join(at, "www", "fullchain.pem"), chain),
    ],
    [
      "a link of certbot to nothing",
      (at) => {
        write(join(at, "www"), { "fullchain.pem": chain });
        symlinkSync(join(`${at}-archive`, "1.pem"), join(at, "www", "privkey.pem"));
      },
      (at) => write(`${at}-archive`, { "1.pem": key }),
    ],
  ])("%s", (_, spoil, mend) => {
    const site = mkdtempSync(join(folder, "mended-"));
    spoil(site);
    const read = new Map<string, string>();
    expect(() => readCertificates({ pairs: [], folder: site }, read)).toThrow(ServerError);
    const changed = () => [...read].filter(([path, state]) => stateOfFile(path) !== state);
    expect(changed()).toEqual([]);
    mend(site);
    expect(changed()).not.toEqual([]);
  });

  test("not by a write to a file that is no certificate and no key", () => {
    const site = mkdtempSync(join(folder, "beside-"));
    write(site, { ...PAIR, "b.key": "no", "a-log": "", "ca.srl": "" });
    mkdirSync(join(site, "empty"));
    const read = new Map<string, string>();
    expect(() => readCertificates({ pairs: [], folder: site }, read)).toThrow(ServerError);
    const noted = ["", "b.crt", "b.key", "empty", "empty/fullchain.pem", "empty/privkey.pem"];
    expect([...read.keys()].sort()).toEqual(noted.map((name) => join(site, name)));
  });

  test("those that are named", () => {
    const read = new Map<string, string>();
    const named = pair(file("named.crt", "no"), file("named.key", key));
    expect(() => readCertificates(named, read)).toThrow(ServerError);
    expect([...read.keys()]).toEqual([join(folder, "named.crt"), join(folder, "named.key")]);
  });
});

describe("what the owner should know of a certificate", () => {
  const day = 86_400_000;
  const until = Date.parse("2030-01-31");
  const certificate: Certificate = {
    names: ["www.example.test"],
    chain: "",
    key: "",
    kind: "ec",
    validFrom: Date.parse("2030-01-01"),
    validUntil: until,
    file: "a.crt",
  };
  test.each([
    { name: "nothing while more than a third of its time is left", now: until - 10 * day - 1, words: [] },
    { name: "that it expires soon", now: until - 10 * day, words: [/a\.crt .*expires in 10 days/] },
    { name: "that it has expired", now: until, words: [/a\.crt .*expired at 2030-01-31/] },
    { name: "that it is not valid yet", now: Date.parse("2029-12-31"), words: [/not valid before 2030-01-01/] },
  ])("$name", ({ now, words }) => {
    expect(certificateWarnings([certificate], now)).toEqual(words.map((each) => expect.stringMatching(each)));
  });
  describe("of its chain:", () => {
    const root = makeCertificate(["root"]);
    const between = makeCertificate(["between"], {
      issuer: { name: "root", key: root.key },
      validUntil: new Date("2030-02-15"),
    });
    const issuer = { name: "between", key: between.key };
    const issued = makeCertificate(["a.test"], { issuer, issuerAt: "http://authority.test/between.crt" });
    const byPrivateRoot = makeCertificate(["a.test"], { issuer: { name: "root", key: root.key } });
    const before = makeCertificate(["root"], { validUntil: new Date("2030-01-01") });
    test.each<[string, string, string, RegExp[]]>([
      ["nothing if it is whole", "2030-01-15", issued.chain + between.chain, []],
      ["nothing of a root, which clients have", "2030-01-15", issued.chain + between.chain + before.chain, []],
      ["nothing if a private root issued it", "2030-01-15", byPrivateRoot.chain, []],
      ["that the issuer is missing", "2030-01-15", issued.chain, [/chain\.crt .*stands alone/]],
      [
        "that the issuer is another one",
        "2030-01-15",
        issued.chain + root.chain,
        [/refuse: its number 2 did not issue/],
      ],
      [
        "that it ends before the certificate",
        "2030-02-10",
        issued.chain + between.chain,
        [/^the chain of .* in 5 days/],
      ],
    ])("%s", (_, now, chain, words) => {
      const { key } = chain === byPrivateRoot.chain ? byPrivateRoot : issued;
      const read = readCertificates(pair(file("chain.crt", chain), file("chain.key", key)));
      expect(certificateWarnings(read, Date.parse(now))).toEqual(words.map((each) => expect.stringMatching(each)));
    });
  });

  test("that browsers do not accept it for any host", () => {
    const warnings = certificateWarnings([{ ...certificate, names: [] }], until - 20 * day);
    expect(warnings).toEqual([expect.stringContaining("subjectAltName")]);
  });
});

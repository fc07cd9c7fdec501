import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ar } from "../../release/debian/ar.ts";
import { UNIT_IN_DOCS, unitOfPackage } from "../../release/debian/unit.ts";
import { thirdPartiesText } from "../../release/packages/third-parties.ts";

const inDocs = readFileSync(UNIT_IN_DOCS, "utf8");
const COMMIT = { id: "0123456789abcdef0123456789abcdef01234567", atSeconds: 1_795_615_206 };

describe("the unit of the Debian package", () => {
  test("is that of the docs, with other places and a user that stays", () => {
    const added = (one: string, other: string) => one.split("\n").filter((line) => !other.split("\n").includes(line));
    const unit = unitOfPackage(inDocs);
    expect(added(unit, inDocs)).toEqual([
      "ExecStart=/usr/lib/tidemark/bin/node /usr/lib/tidemark/lib/cli.mjs serve \\",
      "    --cache /var/lib/tidemark \\",
      "# Folders that belong to its user.",
      "User=tidemark",
      "StateDirectory=tidemark",
      "StateDirectoryMode=0700",
    ]);
    expect(added(inDocs, unit)).toHaveLength(7);
  });

  test("names itself what DynamicUser=yes implies in that of the docs (systemd.exec(5))", () => {
    expect(unitOfPackage(inDocs).split("\n")).toEqual(
      expect.arrayContaining([
        "ProtectSystem=strict",
        "ProtectHome=yes",
        "PrivateTmp=yes",
        "RemoveIPC=yes",
        "NoNewPrivileges=yes",
        "RestrictSUIDSGID=yes",
      ]),
    );
  });

  test("is refused if the docs have changed where it differs", () => {
    expect(() => unitOfPackage(inDocs.replace("--cache /var/cache/tidemark", "--cache /srv"))).toThrow(
      /without-socket\.service must have once: --cache \/var\/cache\/tidemark/,
    );
    expect(() => unitOfPackage(inDocs + inDocs)).toThrow(/must have once/);
  });
});

test("an archive of ar has its members at even places", () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const members = [
    { name: "odd", bytes: Buffer.from("abc") },
    { name: "even", bytes: Buffer.from("defg") },
  ];
  const bytes = ar(members, COMMIT);
  expect(bytes.length).toBe(8 + 60 + 4 + 60 + 4);
  expect(bytes.subarray(8, 68).toString()).toBe("odd             1795615206  0     0     100644  3         `\n");
  writeFileSync(join(folder, "file.a"), bytes);
  const listed = spawnSync("ar", ["p", join(folder, "file.a")], { encoding: "utf8" });
  if (listed.error === undefined) expect(listed.stdout).toBe("abcdefg");
});

test("a package without the text of its licence is named with what it says of it", () => {
  const node = { name: "node", version: "24.0.0", licence: "MIT", text: "The terms\r\nof Node\n" };
  const text = thirdPartiesText([{ name: "a", version: "1.0.0", licence: "ISC", text: null }, node]);
  expect(text).toContain("a 1.0.0 (ISC)\n\nIts package has no text of the licence. It says: ISC.\n");
  expect(text).toContain("node 24.0.0 (MIT)\n\nThe terms\nof Node\n");
});

test("a release that is not a dry run is refused, and the owner is told what to do", { tags: ["gate"] }, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["release/release-command.ts"], { encoding: "utf8" });
  expect([status, stdout]).toEqual([1, ""]);
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(stderr).toContain(`git tag v${version} && git push origin v${version}`);
});

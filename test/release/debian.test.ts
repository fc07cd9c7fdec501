import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ar } from "../../release/debian/ar.ts";
import { UNIT_IN_DOCS, unitOfPackage } from "../../release/debian/unit.ts";
import { run } from "../packed/installed-package.ts";
import { blockWith } from "../snippets/blocks.ts";
import { builtRelease, PLAIN, succeed } from "./built-release.ts";
import { freshDebian, Machine, putInto, whyNoDebian } from "./debian-machine.ts";

/** The four commands, as the page has them. */
const FOUR_COMMANDS = blockWith("docs/getting-started.md", "apt-get install");

const because = whyNoDebian();
const NOT_RUN = `the Debian package is SKIPPED: ${because}`;
if (because !== null) process.stdout.write(`${NOT_RUN}\n`);

const inDocs = readFileSync(UNIT_IN_DOCS, "utf8");
const COMMIT = { id: "0123456789abcdef0123456789abcdef01234567", atSeconds: 1_795_615_206 };

/** Removes the package while the server before an upgrade and the one after it have an answer under way, and prints those. */
const REMOVED_WHILE_ANSWERING = `
ask() { curl --silent --fail --no-buffer --output "$1" http://localhost/held & until [ -s "$1" ]; do sleep 0.05; done; }
ask first; first=$!
systemctl reload tidemark.service
until [ "$(grep -c 'has taken over' /run/test-journal)" = 2 ]; do sleep 0.05; done
ask second; second=$!
apt-get remove --yes tidemark >removed & removed=$!
until grep -q 'tidemark: stopping' /run/test-journal || ! kill -0 $second; do sleep 0.05; done
touch /run/test-stopping
wait $removed; wait $first; wait $second; cat first second`;

/** What an installation and its removal change in any case: notes of dpkg, apt and of those who change the list of users. */
const OF_THE_SYSTEM =
  /^\/(var\/(lib\/(dpkg|apt)|cache|log\/(apt|dpkg|alternatives))|root|run|proc|dev|tmp)\b|^\/etc\/(\.pwd\.lock|.*-$)/;

describe.skipIf(because !== null)(
  because === null ? "the Debian package" : NOT_RUN,
  {
    tags: ["deep"],
    timeout: 900_000,
  },
  () => {
    let machine: Machine;
    let root: string;
    let before: string;

    beforeAll(async () => {
      const release = await builtRelease(PLAIN);
      const file = readdirSync(release).find((each) => each.endsWith("_amd64.deb"))!;
      root = await freshDebian();
      // In its place, because apt lets scripts find only the system's own programs.
      await rename(join(root, "usr/bin/systemctl"), join(root, "usr/bin/systemctl.real"));
      await putInto(root, "test/release/systemctl.pl", "/usr/bin/systemctl");
      await putInto(root, "test/release/origin-and-visitor.mjs", "root/peers.mjs");
      await makeEarlier(join(release, file), join(root, "root"));
      await putInto(root, join(release, file), `root/new/${file}`);
      machine = await Machine.start(root);
      await machine.sh("mkdir -p /run/systemd/system");
      before = await files();
    }, 900_000);
    afterAll(async () => {
      await machine?.stop();
      await rm(root, { recursive: true, force: true });
    });

    /** The names of all files, and who the users are. */
    async function files(): Promise<string> {
      const found = await machine.sh("find / -xdev -not -path '/proc/*'; cat /etc/passwd /etc/group /etc/shadow");
      return found
        .split("\n")
        .filter((line) => !OF_THE_SYSTEM.test(line))
        .sort()
        .join("\n");
    }
    // What the scripts below look for again and again, other programs in the root do in their own time, and tell nobody.

    /** Starts one of `origin-and-visitor.mjs`, once the package is there that has a Node. Resolves when it is at work. */
    async function peer(name: string): Promise<{ readonly ended: ReturnType<Machine["call"]> }> {
      const ended = machine.call("./node", ["peers.mjs", name]);
      await machine.sh(`until [ -e /run/test-${name} ]; do sleep 0.05; done`);
      return { ended };
    }

    test("is installed, serves, is upgraded without a lost request, is removed, and leaves nothing", async () => {
      await machine.sh(
        "dpkg-deb --fsys-tarfile tidemark_*.deb | tar -xO ./usr/lib/tidemark/bin/node >node; chmod +x node",
      );
      await peer("origin");
      const option = `echo 'TIDEMARK_OPTIONS="--log-format json"' >>/etc/tidemark/environment`;
      const printed = await machine.sh(FOUR_COMMANDS.replace("systemctl start", `${option}\nsystemctl start`));
      expect(printed).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*^x-cache: MISS\r$/m);
      expect(await machine.sh("curl -sI http://localhost/")).toContain("x-cache: HIT");

      // The unit is sound, its user owns what it wrote, and the token is for root alone.
      expect(await machine.call("systemd-analyze", ["verify", "tidemark.service"])).toMatchObject({
        exit: 0,
        stderr: "",
      });
      expect(
        await machine.sh("stat -c '%U %a' /var/lib/tidemark /var/lib/tidemark/log /etc/tidemark/environment"),
      ).toBe("tidemark 700\ntidemark 700\nroot 600\n");
      expect(await machine.sh("ls -l /etc/systemd/system/multi-user.target.wants/")).toContain("tidemark.service");

      await machine.sh(
        "logrotate --state rotated --force /etc/logrotate.d/tidemark; until [ -e /var/log/tidemark/access.log ]; do sleep 0.05; done",
      );
      await machine.sh(
        "curl -s http://localhost/; until grep -q GET /var/log/tidemark/access.log; do sleep 0.05; done",
      );
      const lines = (await machine.sh("cat /var/log/tidemark/access.log")).trimEnd().split("\n");
      const exchanges = lines.map((line) => JSON.parse(line) as unknown);
      expect(exchanges).toContainEqual(expect.objectContaining({ method: "GET", status: 200 }));

      expect(await machine.sh("tidemark --version")).toBe("0.0.1\n");
      const old = await machine.sh("cat /run/test-pid");
      const visitor = await peer("visitor");
      await machine.sh(
        "apt-get install --yes ./new/*.deb; until grep 'has taken over' /run/test-journal; do sleep 0.05; done",
      );
      await machine.sh(
        "until [ \"$(curl -s http://localhost/)\" = 'the page /' ]; do sleep 0.05; done; touch /run/test-upgraded",
      );
      await machine.sh("touch /run/test-enough");
      const { stdout, stderr } = await visitor.ended;
      expect(stderr).toBe("");
      const { asked, failed } = JSON.parse(stdout) as { asked: number; failed: string[] };
      expect(failed.slice(0, 5)).toEqual([]);
      expect(asked).toBeGreaterThan(100);
      const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
      expect(await machine.sh("tidemark --version")).toBe(`${version}\n`);
      expect(await machine.sh("cat /run/test-pid")).not.toBe(old);
      expect(await machine.sh('readlink "/proc/$(cat /run/test-pid)/exe"')).toBe("/usr/lib/tidemark/bin/node\n");

      const purge = "set -a; . /etc/tidemark/environment; TIDEMARK_ENDPOINT=http://localhost tidemark purge --tag all";
      await machine.sh(purge);
      expect(await machine.sh("curl -sI http://localhost/")).toContain("x-cache: MISS");

      const kept =
        "/etc/tidemark/tidemark.config.ts /etc/tidemark/environment /var/lib/tidemark/log /var/log/tidemark/access.log";
      expect(await machine.sh(REMOVED_WHILE_ANSWERING)).toBe("the page /held\nthe page /held\n");
      expect(
        await machine.sh("ps -C node -o args= 2>/dev/null || true; grep -la tidemark /proc/[0-9]*/comm || true"),
      ).toBe("");
      await machine.sh(`ls -d ${kept}`);

      // Installed again, it starts with the machine if it did so before.
      const again = "apt-get install --yes ./new/*.deb; ls /etc/systemd/system/multi-user.target.wants/";
      expect(await machine.sh(again)).toMatch(/^tidemark\.service$/m);
      await machine.sh("systemctl disable tidemark.service; apt-get remove --yes tidemark");
      expect(await machine.sh(again)).not.toMatch(/^tidemark\.service$/m);
      await machine.sh("systemctl enable tidemark.service; apt-get purge --yes tidemark");
      expect(await files()).toBe(before);
    });
  },
);

describe("the unit of the Debian package", () => {
  test("is that of the docs, with other paths, options from a variable, and a permanent user", () => {
    const added = (one: string, other: string) => one.split("\n").filter((line) => !other.split("\n").includes(line));
    const unit = unitOfPackage(inDocs);
    expect(added(unit, inDocs)).toEqual([
      "ExecStart=/usr/lib/tidemark/bin/node /usr/lib/tidemark/lib/cli.mjs serve \\",
      "    --cache /var/lib/tidemark \\",
      "    --access-log /var/log/tidemark/access.log $TIDEMARK_OPTIONS",
      "# Folders that belong to its user.",
      "User=tidemark",
      "StateDirectory=tidemark",
      "StateDirectoryMode=0700",
    ]);
    expect(added(inDocs, unit)).toHaveLength(8);
  });

  test("serves several sites if the options say so", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, "sites"));
    const config = 'export default { origin: "http://127.0.0.1:8000", hosts: ["shop.test"] };\n';
    writeFileSync(join(folder, "sites", "shop.config.ts"), config);
    const unit = unitOfPackage(inDocs).replaceAll("\\\n", "");
    const [, command] = /^ExecStart=\S+ \S+ (.*)$/m.exec(unit)!;
    const args = command!
      .replace("$TIDEMARK_OPTIONS", "--sites sites --check")
      .replaceAll(/\/var\/l\w+\/tidemark/g, folder)
      .split(/ +/);
    const cli = join(import.meta.dirname, "../../cli/main.ts");
    expect(await run(process.execPath, [cli, ...args], { cwd: folder })).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("site shop: origin http://127.0.0.1:8000"),
    });
  });

  test("states the settings that DynamicUser=yes implies in that of the docs (systemd.exec(5))", () => {
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

  test("is refused if the docs have changed at a place where it differs", () => {
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

/** A package of the same files with an earlier version, whose parts of the command have other names, as after any change. */
async function makeEarlier(later: string, into: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-earlier-"));
  await succeed("dpkg-deb", ["--raw-extract", later, folder]);
  const lib = join(folder, "usr/lib/tidemark/lib");
  for (const file of readdirSync(lib).filter((name) => /\.(mjs|json)$/.test(name))) {
    const text = await readFile(join(lib, file), "utf8");
    const changed = text.replaceAll("./command-", "./earlier-").replace(/"version": "[^"]+"/, '"version": "0.0.1"');
    await writeFile(join(lib, file), changed);
    await rename(join(lib, file), join(lib, file.replace(/^command-/, "earlier-")));
  }
  const control = join(folder, "DEBIAN/control");
  await writeFile(control, (await readFile(control, "utf8")).replace(/^Version: .*/m, "Version: 0.0.1"));
  const file = join(into, "tidemark_0.0.1_amd64.deb");
  await succeed("dpkg-deb", ["--root-owner-group", "-Zgzip", "-z1", "--build", folder, file]);
  await rm(folder, { recursive: true });
}

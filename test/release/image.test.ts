import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { LIBRARIES, mirrorAmong } from "../../release/image/debian-libraries.ts";
import { run } from "../packed/installed-package.ts";
import { freePort } from "../suite/free-ports.ts";
import { until } from "../suite/until.ts";
import { builtRelease, PLAIN, succeed } from "./built-release.ts";

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string };
}

const isRoot = process.getuid?.() === 0;
const NOT_RUN = "running the image is SKIPPED, because only root can change roots";
if (!isRoot) process.stdout.write(`${NOT_RUN}\n`);

const read = <T>(file: string) => JSON.parse(readFileSync(file, "utf8")) as T;

interface Config {
  readonly config: { User: string; Entrypoint: string[]; Cmd: string[]; WorkingDir: string; Volumes: object };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

/** An image as the folder that the Open Container Initiative calls a layout. */
class Image {
  readonly #layout: string;

  private constructor(layout: string) {
    this.#layout = layout;
  }

  static async ofRelease(): Promise<Image> {
    const layout = mkdtempSync(join(tmpdir(), "tidemark-layout-"));
    await succeed("tar", ["-xf", join(await builtRelease(PLAIN), "image.tar"), "-C", layout]);
    return new Image(layout);
  }

  remove(): void {
    rmSync(this.#layout, { recursive: true });
  }

  /** A blob, which has the digest and the size that are said of it. */
  blob({ digest, size }: Descriptor): string {
    const file = join(this.#layout, "blobs", digest.replace(":", "/"));
    expect(`sha256:${createHash("sha256").update(readFileSync(file)).digest("hex")}`).toBe(digest);
    expect(statSync(file).size).toBe(size);
    return file;
  }

  manifestFor(architecture: string) {
    expect(read(join(this.#layout, "oci-layout"))).toEqual({ imageLayoutVersion: "1.0.0" });
    const [named] = read<{ manifests: Descriptor[] }>(join(this.#layout, "index.json")).manifests;
    const { manifests } = read<{ manifests: Descriptor[] }>(this.blob(named!));
    const found = manifests.find(({ platform }) => platform?.architecture === architecture);
    return read<{ config: Descriptor; layers: Descriptor[] }>(this.blob(found!));
  }
}

describe("the image", { tags: ["deep"], timeout: 600_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let image: Image;
  let root: string;
  beforeAll(async () => {
    image = await Image.ofRelease();
    root = mkdtempSync(join(tmpdir(), "tidemark-image-"));
    await origin.comeUp();
    origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: "page" });
  }, 600_000);
  afterAll(async () => {
    await origin.goDown();
    image.remove();
    rmSync(root, { recursive: true });
  });

  test.each(["amd64", "arm64"])("for %s takes less than 60 MB, and its blobs match their digests", async (cpu) => {
    const { config, layers } = image.manifestFor(cpu);
    expect(layers.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(60e6);
    const { rootfs } = read<Config>(image.blob(config));
    for (const [index, layer] of layers.entries()) {
      const { stdout } = await run("sh", ["-c", 'gzip -dc "$0" | sha256sum', image.blob(layer)], { cwd: "." });
      expect(`sha256:${stdout.slice(0, 64)}`).toBe(rootfs.diff_ids[index]);
    }
  });

  test.skipIf(!isRoot)(isRoot ? "runs in its own root, without rights and without a shell" : NOT_RUN, async () => {
    const { config, layers } = image.manifestFor("amd64");
    for (const layer of layers) await succeed("tar", ["-xpzf", image.blob(layer), "--same-owner", "-C", root]);
    const { User, Entrypoint, Cmd, WorkingDir, Volumes } = read<Config>(image.blob(config)).config;
    expect(existsSync(join(root, "bin/sh"))).toBe(false);
    const { uid, mode } = statSync(join(root, Object.keys(Volumes)[0]!));
    expect([`${uid}:${uid}`, mode & 0o777]).toEqual([User, 0o700]);
    expect(statSync(join(root, "etc")).uid).toBe(0);
    expect(
      readFileSync(join(root, "etc/ssl/certs/ca-certificates.crt"), "utf8").match(/BEGIN CERT/g)!.length,
    ).toBeGreaterThan(100);

    const port = await freePort();
    const ownPort = (text: string) => text.replace("8080", String(port));
    const environment = { TIDEMARK_ORIGIN: origin.url, TIDEMARK_HOSTS: `localhost:${port}`, NO_COLOR: "1" };
    const server = inRoot(root, User, WorkingDir, [...Entrypoint, ...Cmd.map(ownPort)], environment);
    const closed = once(server, "close");
    try {
      const output = () => readFileSync(join(root, "output"), "utf8");
      await until(() => output().includes("serves http") || server.exitCode !== null);
      expect(output()).toContain("serves http");
      const ask = async () => (await fetch(`http://localhost:${port}/page`)).headers.get("x-cache");
      expect([await ask(), await ask()]).toEqual(["MISS", "HIT"]);
      await until(() => /"GET \/page HTTP\/1.1" 200 .*HIT/.test(output())); // the access log

      const [, node, script] = /test: \[CMD, ([^,]+), -e, (".*")\]/.exec(
        readFileSync("docs/examples/server/compose.yaml", "utf8"),
      )!;
      const probe = async (of: string) => {
        const call = [node!, "-e", (JSON.parse(script!) as string).replace("8080", of)];
        return (await once(inRoot(root, User, "/", call, {}), "close"))[0];
      };
      expect([await probe(String(port)), await probe("9")]).toEqual([0, 1]);
    } finally {
      server.kill();
      expect(await closed).toEqual([0, null]);
    }
  });
});

/** Programs of the other architecture run under it, but cannot start others. */
const EMULATOR = "qemu-aarch64-static";

test("the image for arm64 checks a site under an emulator", { tags: ["deep"], timeout: 600_000 }, async ({ skip }) => {
  const { exit } = await run("which", [EMULATOR], { cwd: "." });
  skip(exit !== 0, `${EMULATOR} is not here: apt-get install qemu-user-static`);
  const image = await Image.ofRelease();
  onTestFinished(() => image.remove());
  const root = mkdtempSync(join(tmpdir(), "tidemark-image-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const { config, layers } = image.manifestFor("arm64");
  for (const layer of layers) await succeed("tar", ["-xzf", image.blob(layer), "-C", root]);
  const [node, ...rest] = read<Config>(image.blob(config)).config.Entrypoint.map((part) =>
    part.startsWith("/") ? join(root, part) : part,
  );
  const call = (...args: string[]) => run(EMULATOR, ["-L", root, node!, ...rest, "serve", ...args], { cwd: root });
  const site = ["--origin", "http://127.0.0.1:9", "--hosts", "www.example.com", "--cache", join(root, "cache")];
  expect(await call("--check", ...site)).toMatchObject({ exit: 0, stdout: expect.stringContaining("www.example.com") });
  expect(await call("--check")).toMatchObject({ exit: 2 });
});

/** Runs a program as a container would: in another root, with devices and processes to be seen. It writes to /output. */
function inRoot(
  root: string,
  user: string,
  folder: string,
  [program, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  writeFileSync(join(root, "output"), "", { mode: 0o666 });
  const script = `root=$0 user=$1 folder=$2; shift 2
    mkdir -p "$root/dev" "$root/proc" && mount --rbind /dev "$root/dev" && mount --rbind /proc "$root/proc"
    chown "$user" "$root/output" && exec >>"$root/output" 2>&1
    exec unshare --root="$root" --wd="$folder" --setuid="\${user%:*}" --setgid="\${user#*:}" "$@"`;
  return spawn("unshare", ["--mount", "/bin/sh", "-ec", script, root, user, folder, program!, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: "ignore",
  });
}

/** It has the schemas of Kubernetes with it. */
const VALIDATOR = "kubernetes-validate==1.37.0";

test("the manifest for Kubernetes fits the schemas of Kubernetes, and a misspelt name would show", {
  tags: ["deep"],
  timeout: 300_000,
}, async ({ skip }) => {
  const environment = `node_modules/.cache/python-${VALIDATOR}`;
  if (!existsSync(`${environment}/bin/kubernetes-validate`)) {
    await succeed("python3", ["-m", "venv", "--clear", environment]);
    const { exit } = await run(`${environment}/bin/pip`, ["install", "--quiet", VALIDATOR], { cwd: "." });
    skip(exit !== 0, `${VALIDATOR} cannot be fetched here`);
  }
  const manifest = "docs/examples/server/kubernetes.yaml";
  const check = (file: string) => run(`${environment}/bin/kubernetes-validate`, ["--strict", file], { cwd: "." });
  expect(await check(manifest)).toMatchObject({ exit: 0 });
  const text = readFileSync(manifest, "utf8");
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const wrong = join(folder, "wrong.yaml");
  writeFileSync(wrong, text.replace("failureThreshold", "failureThresholds"));
  expect(await check(wrong)).toMatchObject({ exit: 1 });
});

test("the libraries of the image are there in the same versions for both architectures", () => {
  const versions = (cpu: string) =>
    LIBRARIES.filter(({ architecture }) => [cpu, "all"].includes(architecture)).map(({ name, version }) => [
      name,
      version,
    ]);
  expect(versions("amd64").map(([name]) => name)).toContain("libc6");
  expect(versions("arm64")).toEqual(versions("amd64"));
});

test.each([
  ["this machine's own", ["http://mirror.example/debian-security", "http://mirror.example/debian"], "mirror.example"],
  ["that of everybody, on Ubuntu", ["http://archive.ubuntu.com/ubuntu"], "deb.debian.org"],
  ["that of everybody, where apt has a list of mirrors", ["mirror+file:/etc/apt/mirrors.txt", ""], "deb.debian.org"],
])("the libraries come from a mirror of Debian: %s", (_, addresses, host) => {
  expect(mirrorAmong(addresses)).toBe(`http://${host}/debian`);
});

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Target } from "../node-runtime.ts";
import { ReleaseError } from "../release-error.ts";
import { run } from "../run.ts";

/** The Debian whose libraries are in the image. */
const SUITE = "trixie";

/** What Node links to, the certificates of authorities, and the licence of GCC's libraries. */
export const LIBRARIES: readonly {
  readonly name: string;
  readonly version: string;
  readonly sha256: Readonly<Record<Target["architecture"], string>>;
}[] = [
  {
    name: "libc6",
    version: "2.41-12+deb13u5",
    sha256: {
      amd64: "b59b0625cd1a791375d40dab23a4d5d3d0641e3d0a773501becdc3725b7f99cf",
      arm64: "0966fc3da1a26cc57647c68b5736f791b6e7eb498173a7993f63b6c89b4ed4f5",
    },
  },
  {
    name: "libgcc-s1",
    version: "14.2.0-19",
    sha256: {
      amd64: "3c71917b490d1a17aed43196a2787a256ecf060526cdb20216a74bedc061b150",
      arm64: "1108bc87879833d6d9a145f22a4a15cddb34e065b4b5f4b97bee586adbac2851",
    },
  },
  {
    name: "libstdc++6",
    version: "14.2.0-19",
    sha256: {
      amd64: "ab1fa05837aa7a92aae748fd07a18a35f7d18bb4a71c4724fe2bbf0e32089de0",
      arm64: "6669b0c52a2e7c6af9adfdabce3ff6e286065cdfbc7b85280862b5f799daebee",
    },
  },
  {
    name: "gcc-14-base",
    version: "14.2.0-19",
    sha256: {
      amd64: "5b6825de4263824b78c4c51f6476414f3b4e89c2ab63e81dc8b9b5501e867cf6",
      arm64: "34ee90679b018c0e64234747a4c4c0ae6b7f63541115037465a8627c2dfbc594",
    },
  },
  {
    name: "ca-certificates",
    version: "20250419+deb13u1",
    sha256: {
      amd64: "c10585ac22c7f617a73d394eea29ba71d0356f350ae973b19043d1b017f80f54",
      arm64: "c10585ac22c7f617a73d394eea29ba71d0356f350ae973b19043d1b017f80f54",
    },
  },
];

/**
 * Unpacks them into a folder, without the parts that nobody loads. They come from the mirror of this machine's own apt, for
 * the other machine's architecture as well. Throws a `ReleaseError` if the mirror has another version by now: after a
 * security update the image is to have that one, so the list above has to follow.
 */
export async function unpackLibraries({ architecture, triplet }: Target, root: string, cache: string): Promise<void> {
  const folder = join(cache, `debian-${SUITE}-${architecture}`);
  await mkdir(root, { recursive: true });
  for (const { name, version, sha256 } of LIBRARIES) {
    const wanted = sha256[architecture];
    const file = join(folder, `${wanted}.deb`);
    if (!existsSync(file)) await download(`${name}=${version}`, file, folder, architecture);
    const found = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
    if (found !== wanted) {
      await rm(file);
      throw new ReleaseError(`${name} ${version} for ${architecture} has the hash ${found} instead of ${wanted}.`);
    }
    await run(["dpkg-deb", "--extract", file, root]);
  }
  const unused = ["usr/share/gcc", "usr/share/gdb", "usr/share/lintian", "usr/share/man", "usr/sbin", "etc"];
  for (const folder of [...unused, `usr/lib/${triplet}/gconv`])
    await rm(join(root, folder), { recursive: true, force: true });
  await onlyCopyrights(join(root, "usr/share/doc"));
  await gatherCertificates(root);
}

async function download(wanted: string, file: string, folder: string, architecture: string): Promise<void> {
  const state = join(folder, "apt");
  for (const each of ["lists/partial", "archives/partial"]) await mkdir(join(state, each), { recursive: true });
  await writeFile(join(state, "status"), "");
  const signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";
  const mirror = await mirrorOfDebian();
  await writeFile(
    join(state, "sources.list"),
    `deb ${signed} ${mirror} ${SUITE} main\ndeb ${signed} ${mirror}-security ${SUITE}-security main\n`,
  );
  await writeFile(
    join(state, "apt.conf"),
    `APT::Architecture "${architecture}"; APT::Architectures { "${architecture}"; };
    Dir::State "${state}"; Dir::State::status "${state}/status"; Dir::Cache "${state}";
    Dir::Etc::sourcelist "${state}/sources.list"; Dir::Etc::sourceparts "/dev/null";
    Dir::Etc::preferencesparts "/dev/null"; Acquire::Languages "none"; Debug::NoLocking "true";
    APT::Sandbox::User ""; // that one may not write to this folder
    `,
  );
  const place = { cwd: state, env: { APT_CONFIG: join(state, "apt.conf") } };
  await run(["apt-get", "update"], place);
  await run(["apt-get", "download", wanted], place);
  const [name] = wanted.split("=");
  const got = (await readdir(state)).find((each) => each.startsWith(`${name}_`) && each.endsWith(".deb"))!;
  await run(["mv", join(state, got), file]);
}

/** The address from which this machine gets its own packages of Debian. */
async function mirrorOfDebian(): Promise<string> {
  const addresses = (await run(["apt-get", "indextargets", "--format", "$(SITE)"])).split("\n");
  const found = addresses.find((address) => address.endsWith("/debian"));
  if (found === undefined) throw new ReleaseError("apt-get of this machine knows no mirror of Debian.");
  return found;
}

async function onlyCopyrights(folder: string): Promise<void> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const { name, parentPath } of files) if (name !== "copyright") await rm(join(parentPath, name));
}

/** One file of all, where programs look for it, as `update-ca-certificates` makes it. */
async function gatherCertificates(root: string): Promise<void> {
  const from = join(root, "usr/share/ca-certificates/mozilla");
  const texts = await Promise.all((await readdir(from)).sort().map((file) => readFile(join(from, file), "utf8")));
  await mkdir(join(root, "etc/ssl/certs"), { recursive: true });
  await writeFile(join(root, "etc/ssl/certs/ca-certificates.crt"), texts.join(""));
  await rm(join(root, "usr/share/ca-certificates"), { recursive: true });
}

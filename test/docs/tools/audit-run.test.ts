import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { run } from "../../packed/installed-package.ts";
import { seedNginx } from "../../tools/audit/edges.ts";
import { MembersSite } from "../../tools/audit/members-site.ts";
import { nginxVersion } from "../../tools/import/nginx-process.ts";

const CLI = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));
const PAGE = "docs/tools.md";

const NOT_RUN = "the audit in docs/tools.md is SKIPPED, because this machine has no nginx";
const hasNginx = nginxVersion() !== null;
if (!hasNginx) process.stdout.write(`${NOT_RUN}\n`);

/** nginx answers at times before an entry is in its cache, and is then asked once more. */
const COUNTS = /\d+ requests, \d+ of them/;

test.skipIf(!hasNginx)(
  hasNginx ? "the run on the page prints the text on the page" : NOT_RUN,
  { tags: ["gate"] },
  async () => {
    const [, shown] = /<!-- run: tidemark audit -->\n```console\n(.*?)```/s.exec(readFileSync(PAGE, "utf8"))!;
    const [call, ...lines] = shown!.split("\n");
    const site = new MembersSite();
    await using edge = await seedNginx(await site.start());
    try {
      const parameters = call!
        .replace("$ npx tidemark ", "")
        .replace("http://localhost:8080", edge.url.origin)
        .split(" ");
      const { exit, stdout } = await run(process.execPath, [CLI, ...parameters, "--rate", "10000"], {
        cwd: ".",
        env: { ALICE: site.logIn("alice"), BOB: site.logIn("bob") },
      });
      expect(exit).toBe(1);
      const printed = stdout.replace(edge.url.origin, "http://localhost:8080");
      expect(printed.replace(COUNTS, "…")).toBe(lines.join("\n").replace(COUNTS, "…"));
    } finally {
      await site.stop();
    }
  },
);

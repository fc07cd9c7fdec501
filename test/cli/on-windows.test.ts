import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { run } from "../packed/installed-package.ts";
import { ON_WINDOWS } from "../suite/on-windows.ts";

const CLI = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

test.each([[], ["--check"]])("serve says where it runs, with %j too", async (...flags) => {
  const args = ["--import", ON_WINDOWS, CLI, "serve", "--origin", "http://127.0.0.1:1", ...flags];
  expect(await run(process.execPath, args, { cwd: "." })).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "tidemark: tidemark serve runs on Linux and macOS. On Windows, run it in WSL or in the container, and try rules with tidemark dev.\n",
  });
});

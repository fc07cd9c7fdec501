import { fork } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SUCCEEDS } from "../../../server/supervisor/upgrade.ts";

const LATE_FOLLOWER = fileURLToPath(new URL("./late-follower.ts", import.meta.url));

test("a new server learns that the old one has died although that was before it had opened the log", async () => {
  const env = { ...process.env, [SUCCEEDS]: "[]" };
  const child = fork(LATE_FOLLOWER, { env, serialization: "advanced", stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const said = text(child.stdout!);
  await once(child, "message"); // it is prepared
  child.send({ kind: "log", sockets: 0, readers: [], lock: "" });
  child.disconnect();
  expect(await said).toBe("gone");
});

import { execFile } from "node:child_process";
import { expect, test } from "vitest";

const INTERRUPTION = import.meta.resolve("../../cli/interruption.ts");

/** A command that does not end by itself, and is told of Ctrl-C at these times, in milliseconds. */
function interruptedAt(...times: readonly number[]): Promise<{ readonly exit: unknown; readonly stdout: string }> {
  const script = `
    let now = 0;
    performance.now = () => now;
    const { interruption } = await import(${JSON.stringify(INTERRUPTION)});
    const interrupted = interruption().then(() => console.log("told"));
    for (now of ${JSON.stringify(times)}) {
      process.emit("SIGINT");
      await interrupted;
    }
    console.log("goes on");`;
  return new Promise((resolve) => {
    execFile(process.execPath, ["--input-type=module", "--eval", script], (error, stdout) => {
      resolve({ exit: error?.code ?? 0, stdout });
    });
  });
}

test("a second Ctrl-C ends a command at once; one that npm has passed on is none", async () => {
  expect(await Promise.all([interruptedAt(7, 7, 500), interruptedAt(7, 7, 508)])).toEqual([
    { exit: 0, stdout: "told\ngoes on\n" },
    { exit: 130, stdout: "told\n" },
  ]);
});

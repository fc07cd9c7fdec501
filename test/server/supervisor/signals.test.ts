import { expect, test } from "vitest";
import { holdSignals, obeySignals, type Stoppable, TO_STOP } from "../../../server/supervisor/signals.ts";

test("signals that come while the server starts are obeyed once it has started, each once", () => {
  const obeyed: string[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const note =
    (what: string) =>
    async <T>(answer: T) => {
      obeyed.push(what);
      return answer;
    };
  const server: Stoppable = {
    ended,
    reload: () => note("reload")(true),
    upgrade: () => note("upgrade")(true),
    reopen: () => note("reopen")(undefined),
    stop: () => note("stop")(undefined),
  };
  const listeners = process.listenerCount("SIGUSR2");
  const sendOn = [holdSignals(), holdSignals(TO_STOP)];
  process.emit("SIGUSR2", "SIGUSR2");
  process.emit("SIGUSR2", "SIGUSR2");
  process.emit("SIGHUP", "SIGHUP");
  process.emit("SIGTERM", "SIGTERM");
  expect(obeyed).toEqual([]);
  obeySignals(server);
  for (const each of sendOn) each();
  expect(obeyed).toEqual(["upgrade", "reload", "stop"]);
  process.emit("SIGUSR1", "SIGUSR1");
  expect(obeyed).toEqual(["upgrade", "reload", "stop", "reopen"]);
  end();
  return ended.then(() => expect(process.listenerCount("SIGUSR2")).toBe(listeners));
});

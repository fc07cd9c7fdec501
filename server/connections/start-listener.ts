import { tryFastAnswers } from "../http1/fast-answers-trial.ts";
import { Listener, type ListenerParts, type ListenTarget } from "../http1/listener.ts";

/** Starts a listener at these addresses. Plain requests are answered without Node's objects if that is wanted, and works here. */
export async function startListener(parts: ListenerParts, addresses: readonly ListenTarget[]): Promise<Listener> {
  const because = parts.usesFastAnswers
    ? await tryFastAnswers(
        (isolate, usesFastAnswers) =>
          new Listener({ isolate, bodies: parts.bodies, warn: parts.warn, usesFastAnswers }),
      )
    : null;
  if (because !== null)
    parts.warn(`All requests are answered by Node's own server, because the faster way fails: ${because}.`);
  const listener = new Listener({ ...parts, usesFastAnswers: parts.usesFastAnswers && because === null });
  for (const address of addresses) await listener.listen(address);
  return listener;
}

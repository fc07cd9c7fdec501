import { tryFastHits } from "./fast-hits-trial.ts";
import { Listener, type ListenerParts, type ListenTarget } from "./listener.ts";

/** Starts a listener at these addresses. Hits are answered inside Node's parser if that is wanted, and works here. */
export async function startListener(parts: ListenerParts, addresses: readonly ListenTarget[]): Promise<Listener> {
  const because = parts.usesFastHits
    ? await tryFastHits(
        (isolate, usesFastHits) => new Listener({ isolate, bodies: parts.bodies, warn: parts.warn, usesFastHits }),
      )
    : null;
  if (because !== null) parts.warn(`Hits are answered by Node's own server, because the faster way fails: ${because}.`);
  const listener = new Listener({ ...parts, usesFastHits: parts.usesFastHits && because === null });
  for (const address of addresses) await listener.listen(address);
  return listener;
}

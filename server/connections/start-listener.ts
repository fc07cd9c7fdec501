import { ownPackage } from "../../package/own-package.ts";
import { tryFastAnswers } from "../http1/fast-answers-trial.ts";
import { Listener, type ListenerParts, type ListenTarget } from "./listener.ts";

/** The tests of this version ran on this Node, so there is nothing to try, which takes 0.1 s. */
const IS_TESTED = process.versions.node === ownPackage.devDependencies.node;

/**
 * Starts a listener at these addresses. Plain requests are answered without Node's objects if the settings want it and
 * the trial succeeds.
 */
export async function startListener(
  parts: ListenerParts,
  addresses: readonly ListenTarget[],
  isTested = IS_TESTED,
): Promise<Listener> {
  const because =
    parts.usesFastAnswers && !isTested
      ? await tryFastAnswers(
          (isolate, usesFastAnswers) =>
            new Listener({ isolate, bodies: parts.bodies, warn: parts.warn, usesFastAnswers }),
        )
      : null;
  if (because !== null)
    parts.warn(`Node's own server answers all requests, because the trial of the faster way failed: ${because}.`);
  const listener = new Listener({ ...parts, usesFastAnswers: parts.usesFastAnswers && because === null });
  for (const address of addresses) await listener.listen(address);
  return listener;
}

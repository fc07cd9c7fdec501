import { channel } from "node:diagnostics_channel";
import type { DeadPurge, FailedPurge, SentPurge } from "./drain-report.ts";

/** The channels of `node:diagnostics_channel` to which an outbox publishes, and the messages on them. */
interface Channels {
  "tidemark:outbox:sent": SentPurge<unknown>;
  "tidemark:outbox:failed": FailedPurge;
  "tidemark:outbox:dead": DeadPurge;
}

/** Publishes the outcome of a purge to the subscribers of a channel. */
export function publish<Name extends keyof Channels>(name: Name, message: Channels[Name]): void {
  const subscribed = channel(name);
  if (subscribed.hasSubscribers) subscribed.publish(message);
}

import { type Clock, systemClock } from "./clock.ts";
import type { Transport } from "./transport.ts";

/** What a purger needs from outside. */
export interface Surroundings {
  clock: Clock;
  /** From 0 up to, not including, 1. */
  random(): number;
  newId(): string;
  environment(): Record<string, string | undefined>;
  openTransport(): Transport;
}

/** The platform's own, which every platform has. */
export const platform: Omit<Surroundings, "openTransport"> = {
  clock: systemClock,
  random: () => Math.random(),
  newId: () => crypto.randomUUID(),
  // Workers and browsers have no process, or one without env.
  environment: () => (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {},
};

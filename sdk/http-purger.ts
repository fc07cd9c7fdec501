import { misuse } from "./misuse.ts";
import type { PurgeCall } from "./purge-call.ts";
import type { Purger } from "./purger.ts";
import { purgerFrom } from "./purger-from.ts";
import { type PurgerOptions, purgerOptionsSchema } from "./purger-options.ts";
import type { Receipt } from "./receipt.ts";
import { sendPurge } from "./send-purge.ts";
import { findSettings, type Settings } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Transport } from "./transport.ts";
import { openFetch } from "./transport-fetch.ts";

const DEADLINE_MS = 10_000;
const RETRIES = 4;

/** A purger over HTTP. It looks for its settings and opens its transport when it is first used. */
export function createHttpPurger(options: PurgerOptions, surroundings: Surroundings): Purger {
  const parsed = purgerOptionsSchema.safeParse(options);
  if (!parsed.success) throw misuse("createPurger", parsed.error);
  const { fetch, deadlineMs = DEADLINE_MS, retries = RETRIES, signal } = parsed.data;
  let settings: Settings | undefined;
  let transport: Transport | undefined;

  function send(call: PurgeCall): Promise<Receipt> {
    settings ??= findSettings(parsed.data ?? {}, surroundings.environment());
    transport ??= fetch ? openFetch(fetch) : surroundings.openTransport();
    const purge = {
      ...settings,
      request: { ...call.request, id: call.request.id ?? surroundings.newId() },
      deadlineMs: call.deadlineMs ?? deadlineMs,
      retries,
      signals: [signal, call.signal].filter((given) => given !== undefined),
    };
    return sendPurge(purge, transport, surroundings);
  }

  return purgerFrom({ send, close: async () => transport?.close() });
}

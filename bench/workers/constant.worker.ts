/** Answers every request with the same prepared fields and bytes: the upper bound of this runtime. */
import { env } from "cloudflare:workers";

const given = env as unknown as {
  readonly FIELDS: readonly (readonly [name: string, value: string])[];
  readonly BODY: string;
};
const headers = new Headers(given.FIELDS.map(([name, value]) => [name, value]));
const body = new TextEncoder().encode(given.BODY);

export default {
  fetch: () => new Response(body, { headers }),
} satisfies ExportedHandler;

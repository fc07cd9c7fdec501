import { expect, test } from "vitest";
import { pageOfBytes } from "../../bench/inputs/page-of-bytes.ts";
import { rawRequest } from "../../bench/load/raw-request.ts";
import { RunningPeer } from "../../bench/peers/peer.ts";
import { SOURCES_COMMAND, tidemark } from "../../bench/peers/tidemark.ts";
import { formsOf } from "../../bench/rivals/forms.ts";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";

/** The fields of a request of hey 0.1.5, as an origin records them. */
const HEY = { "user-agent": "hey/0.0.1", "content-type": "text/html", "accept-encoding": "gzip" };

test("once the form of hey is verified, none of hey's requests reaches the origin", { tags: ["gate"] }, async () => {
  const fields = { "cache-control": "public, max-age=86400", "content-type": "text/html" };
  const origin = new ScriptedOrigin(() => Date.now(), { "/pages/1000.html": { fields, body: pageOfBytes(1000) } });
  await origin.comeUp();
  try {
    const amounts = { seconds: 1, files: 1, hey: { program: "hey" } };
    const form = formsOf({} as never, amounts).find(({ name }) => name.startsWith("hey"))!;
    await using server = await RunningPeer.start(tidemark(SOURCES_COMMAND), { origin: new URL(origin.url) });
    await form.verify(server);
    const verified = origin.seen.length;
    await rawRequest(new URL("/pages/1000.html", server.url), { fields: HEY });
    expect(origin.seen.slice(verified)).toEqual([]);
  } finally {
    await origin.goDown();
  }
});

import { defineCloudflareConfig } from "@opennextjs/cloudflare";
import { purgeCache } from "@opennextjs/cloudflare/overrides/cache-purge/index";
import r2IncrementalCache from "@opennextjs/cloudflare/overrides/incremental-cache/r2-incremental-cache";
import doQueue from "@opennextjs/cloudflare/overrides/queue/do-queue";
import d1NextTagCache from "@opennextjs/cloudflare/overrides/tag-cache/d1-next-tag-cache";
import { withTags } from "tidemark/opennext/config";

export default defineCloudflareConfig({
  incrementalCache: withTags(r2IncrementalCache),
  queue: doQueue,
  tagCache: d1NextTagCache,
  cachePurge: purgeCache({ type: "durableObject" }),
});

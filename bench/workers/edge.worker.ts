/** The edge as an owner deploys it, for the site in the variable `SITE`. */
import { env } from "cloudflare:workers";
import { createEdge, type SiteInput } from "tidemark/worker";

export { PurgeLog } from "tidemark/worker";

export default createEdge((env as unknown as { readonly SITE: SiteInput }).SITE);

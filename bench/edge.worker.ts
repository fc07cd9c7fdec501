/** The edge as an owner deploys it, for the site that the bench gives it in the variable `SITE`. */
import { env } from "cloudflare:workers";
import { createEdge, type SiteInput } from "tidemark/worker";

export { PurgeLog } from "tidemark/worker";

export default createEdge((env as unknown as { readonly SITE: SiteInput }).SITE);

import { type AuditOptions, type AuditReport, auditSite } from "../../../tools/audit/audit-site.ts";
import type { Identity } from "../../../tools/audit/identity.ts";
import { type Input, USUAL_INPUTS } from "../../../tools/audit/input.ts";
import type { AuditedEdge } from "./edges.ts";
import { MembersSite, PATHS } from "./members-site.ts";

/** The field by which the site chooses a shop. */
const SHOP: Input = { kind: "field", name: "x-shop", value: "b" };

/** An audit of the site with logins behind a cache. */
export async function audited(
  start: (origin: URL) => Promise<AuditedEdge>,
  {
    paths = PATHS,
    prepare = () => undefined,
    ...options
  }: Partial<AuditOptions> & {
    readonly paths?: readonly string[];
    /** Gets the site before the audit begins. */
    readonly prepare?: (site: MembersSite) => void;
  } = {},
): Promise<{ report: AuditReport; site: MembersSite }> {
  const site = new MembersSite();
  const edge = await start(await site.start());
  try {
    prepare(site);
    const report = await auditSite({
      edge: edge.url,
      host: null,
      identities: [member(site, "alice"), member(site, "bob")],
      targets: paths.map((path) => ({ method: "GET", path })),
      inputs: [...USUAL_INPUTS, SHOP],
      hitFields: [],
      buster: "tidemark-audit",
      perSecond: Number.POSITIVE_INFINITY,
      concurrency: 2,
      timeoutMs: 20_000,
      ...options,
    });
    return { report, site };
  } finally {
    await edge[Symbol.asyncDispose]();
    await site.stop();
  }
}

/** A visitor who has just logged in. */
export function member(site: MembersSite, name: string): Identity {
  return { name, credentials: { cookie: site.logIn(name) }, canaries: [] };
}

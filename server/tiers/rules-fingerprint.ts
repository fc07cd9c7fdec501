import { createHash } from "node:crypto";
import type { Site } from "../../worker/site/site.ts";

/** Settings that may differ between a parent and its children: they decide neither what is stored nor what is purged. */
const OF_ONE_MACHINE: ReadonlySet<string> = new Set(["origin", "hosts", "originFields", "trustedProxies", "dashboard"]);

/**
 * A fingerprint of the rules by which pages are stored, tagged and purged. A parent whose rules differ may not know a tag
 * by which its child is purged.
 */
export function rulesFingerprint({ settings, limits: { memoryBytes, ...limits }, purge }: Site): string {
  const rules = Object.fromEntries(Object.entries(settings).filter(([name]) => !OF_ONE_MACHINE.has(name)));
  const text = JSON.stringify({ ...rules, limits, purge }, inOrder);
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}

/** The order in which settings are written means nothing. */
function inOrder(_name: string, value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

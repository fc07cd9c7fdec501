/** What `Max-Forwards` makes of a request: it goes on with this field, `null` for none, or the edge answers it. */
export type MaxForwards = { readonly kind: "forward"; readonly field: string | null } | { readonly kind: "answer" };

/** A larger number is taken for this one. */
const MAX_HOPS = 2_147_483_647;

/**
 * Counts a hop of TRACE and OPTIONS; at zero the edge is the one that is asked. RFC 9110 §7.6.2. For other methods,
 * and where it is no number, the field means nothing and goes on as it came.
 */
export function maxForwards(method: string, field: string | null): MaxForwards {
  if (method !== "TRACE" && method !== "OPTIONS") return { kind: "forward", field };
  if (field === null || !/^[0-9]+$/.test(field)) return { kind: "forward", field };
  const left = Math.min(Number(field), MAX_HOPS);
  return left === 0 ? { kind: "answer" } : { kind: "forward", field: String(left - 1) };
}

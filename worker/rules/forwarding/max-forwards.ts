/** The effect of `Max-Forwards`: the request is forwarded with this value, `null` for none, or the edge answers it. */
export type MaxForwards = { readonly kind: "forward"; readonly field: string | null } | { readonly kind: "answer" };

/** A larger number is replaced by this one. */
const MAX_HOPS = 2_147_483_647;

/**
 * Counts a hop of TRACE and OPTIONS; at zero, the edge answers the request itself. RFC 9110 §7.6.2. For other methods,
 * or if the value is not a number, the field has no meaning and is forwarded unchanged.
 */
export function maxForwards(method: string, field: string | null): MaxForwards {
  if (method !== "TRACE" && method !== "OPTIONS") return { kind: "forward", field };
  if (field === null || !/^[0-9]+$/.test(field)) return { kind: "forward", field };
  const left = Math.min(Number(field), MAX_HOPS);
  return left === 0 ? { kind: "answer" } : { kind: "forward", field: String(left - 1) };
}

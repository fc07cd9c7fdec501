/**
 * Whether an `Accept` takes anything, or HTML: then an error is not the doing of what it asks for. RFC 9110 §12.5.1. A
 * member that is malformed takes nothing.
 */
export function acceptsPages(accept: string | null): boolean {
  return accept === null || accept.split(",").some((member) => PAGE.test(member.trim()));
}

/** A weight of 0 refuses. RFC 9110 §12.4.2. */
const PAGE = /^(?:\*\/\*|text\/html)(?:\s*;\s*q=(?:1(?:\.0{0,3})?|0\.(?=\d{0,2}[1-9])\d{1,3}))?$/i;

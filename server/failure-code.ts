import { constants } from "node:os";

/** The code of a failed call, such as `ENOSPC`; `null` if it was no call that failed. */
export function failureCode(cause: unknown): string | null {
  const { code, errno, syscall } = (cause ?? {}) as { code?: unknown; errno?: unknown; syscall?: unknown };
  if (typeof code !== "string" || typeof syscall !== "string") return null;
  return errno === -constants.errno.EDQUOT ? "EDQUOT" : code; // which Node does not name
}

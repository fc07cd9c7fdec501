import { constants } from "node:os";

/** The error of a call that a used-up quota has refused, for which Node has no name. */
export function overQuota(syscall: string): Error {
  const errno = -constants.errno.EDQUOT;
  return Object.assign(new Error(`UNKNOWN: unknown error, ${syscall}`), { code: "UNKNOWN", errno, syscall });
}

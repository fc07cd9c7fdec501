import { getSystemErrorMap } from "node:util";

/** What the system says of a failed call, with its code: `permission denied (EACCES)`. */
export function systemErrorText({ code, errno = 0, message }: NodeJS.ErrnoException): string {
  return `${getSystemErrorMap().get(errno)?.[1] ?? message} (${code})`;
}

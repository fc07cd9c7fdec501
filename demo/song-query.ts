import * as z from "zod";
import { BadRequest } from "./router.ts";

const text = z.string().trim().max(100);

/** What is searched for: `q` without spaces around it, empty when there is none. Throws `BadRequest` when too long. */
export function searchText(query: URLSearchParams): string {
  const asked = text.safeParse(query.get("q") ?? "");
  if (!asked.success) throw new BadRequest(400, "A search can have at most 100 characters.");
  return asked.data;
}

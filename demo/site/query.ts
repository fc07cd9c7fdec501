import { HTTPException } from "hono/http-exception";
import * as z from "zod";
import type { DemoContext } from "./context.ts";

const searched = z.string().trim().max(100);

const pageNumber = z
  .string()
  .regex(/^[1-9][0-9]{0,5}$/)
  .transform(Number);

/** The text in `?q=` without the spaces around it; empty if there is none. Throws a 400 if it is too long. */
export function searchText(context: DemoContext): string {
  const text = searched.safeParse(context.req.query("q") ?? "");
  if (!text.success) throw new HTTPException(400, { message: "A search can have at most 100 characters." });
  return text.data;
}

/** The number in `?page=`; 1 if there is none. Throws a 400 for anything but a page number. */
export function requestedPage(context: DemoContext): number {
  const page = context.req.query("page");
  if (page === undefined) return 1;
  const number = pageNumber.safeParse(page);
  if (!number.success) throw new HTTPException(400, { message: "A page number is a whole number, like 2." });
  return number.data;
}

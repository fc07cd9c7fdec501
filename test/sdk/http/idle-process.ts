/** A program that purges without closing its purger, and purges again when Node finds nothing left to wait for. */

import { createPurger } from "../../../sdk/index.ts";

const cdn = createPurger();
await cdn.purgeTags("a");
console.log("purged");

process.once("beforeExit", async () => {
  console.log("nothing left to do");
  await cdn.purgeTags("b");
  console.log("purged again");
});

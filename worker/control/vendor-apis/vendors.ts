import type { DoorName } from "../../../wire/doors.ts";
import { cloudflare } from "./cloudflare.ts";
import type { Door } from "./door.ts";
import { fastly } from "./fastly.ts";
import { keycdn } from "./keycdn.ts";
import { netlify } from "./netlify.ts";
import { varnish } from "./varnish.ts";
import { vercel } from "./vercel.ts";

/** All doors that a site may open. The build of a worker for one site leaves the others out. */
export const VENDORS: Readonly<Partial<Record<DoorName, Door>>> = {
  cloudflare,
  fastly,
  keycdn,
  netlify,
  varnish,
  vercel,
};

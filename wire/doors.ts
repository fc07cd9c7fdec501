/** The vendors whose purge calls the control plane understands, by the last part of `/_tidemark/doors/VENDOR/`. */
export type DoorName = "cloudflare" | "fastly" | "keycdn" | "netlify" | "varnish" | "vercel";

/** The doors that a site opens, each for one of the zones that its vendor knew; empty for a vendor without zones. */
export type Doors = Readonly<Partial<Record<DoorName, string>>>;

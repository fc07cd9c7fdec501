/*
 * The parts of undici that the server takes. Its index loads all others, too, each worker for itself: 0.1 s of its start and
 * 14 MB. These paths are not undici's public interface, so that package.json lets npm take no other minor version.
 */
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
declare module "undici/lib/dispatcher/client.js" {
  export { Client as default } from "undici";
}
declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici";
}

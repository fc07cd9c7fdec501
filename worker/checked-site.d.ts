/** The site in `tidemark.config.ts`, which `npm run build:edge` has checked. */
declare module "virtual:checked-site" {
  const site: import("./site/check-site.ts").CheckedSite;
  export default site;
}

import { defineSite } from "tidemark/worker";

/** The demo site of this project. For your own: change `origin`, name your `hosts`, and write your routes. */
export default defineSite({
  origin: "http://127.0.0.1:8788",
  routes: [
    { match: "/admin/*", pass: true },
    {
      match: "/api/search/autocomplete",
      key: { query: { only: ["q"], lowercase: ["q"], trim: ["q"] } },
      store: { when: { query: { q: { maxLength: 9 } } } },
      defaultTtl: "24h",
      tags: ["autocomplete"],
    },
    { match: "/plog/:slug", tags: ["plog", "plog:{slug}"] },
  ],
});

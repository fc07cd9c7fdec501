import { page } from "../page.ts";

export const v1 = page("max-age=3600");

export const v2 = { ...v1, body: "v2" };

/** Fetched in full, because the stored page is gone or may no longer be used. */
export const ANEW = /^(?:MISS|EXPIRED)$/;

export const done = { body: "done" };

export const inGroups = (groups: string | readonly string[], body = "v1") => ({
  fields: { "cache-control": "max-age=3600", "cache-groups": groups },
  body,
});

export const post = (path: string) => ({ send: { method: "POST", path, body: "x" }, expect: { body: "done" } });

export const ALL_DONE = { work: "finished" } as const;

export const HOSTS = { hosts: ["www.example.test", "m.example.test"] };

export const onMobile = (path: string) => ({ path, host: "m.example.test" });

import * as z from "zod";
import { type Answer, redirect } from "../answer.ts";
import { PRIVATE_FIELDS, postTag } from "../cache-fields.ts";
import type { Post, PostChange } from "../database.ts";
import { type Html, html } from "../html.ts";
import { day } from "../pages/dates.ts";
import { FEED_TAG, SITEMAP_TAG } from "../pages/feeds.ts";
import { HOME_TAG } from "../pages/home.ts";
import { pageAsked, pager } from "../pages/paging.ts";
import { LIST_TAG } from "../pages/plog.ts";
import { sorry } from "../pages/sorry.ts";
import type { DemoRequest } from "../router.ts";
import type { Site } from "../site.ts";
import { adminPage, csrfField } from "./frame.ts";
import { type PurgeOutcome, publish } from "./publish.ts";
import type { Session } from "./session.ts";

const POSTS_PER_PAGE = 25;
const TITLE_CHARACTERS = 120;
const SUMMARY_CHARACTERS = 300;
const BODY_CHARACTERS = 20_000;

/** How long an editor's browser keeps the token beyond the settling of the purge. */
const TOKEN_MARGIN_SECONDS = 5;

const line = (name: string, most: number) =>
  z.string().trim().min(1, `${name} cannot be empty.`).max(most, `${name} can have at most ${most} characters.`);

const postForm = z.object({
  title: line("The title", TITLE_CHARACTERS),
  summary: line("The summary", SUMMARY_CHARACTERS),
  body: line("The text", BODY_CHARACTERS).transform((body) => body.replaceAll("\r\n", "\n")),
});

type Complaints = Partial<Record<keyof PostChange, string>>;

export function adminPosts(site: Site, session: Session, request: DemoRequest): Answer {
  const number = pageAsked(request.url.searchParams);
  const { items, total } = site.database.posts(POSTS_PER_PAGE, (number - 1) * POSTS_PER_PAGE);
  return adminPage(site, request, session, 200, {
    title: "Posts",
    main: html`<h1>Posts</h1>
<p class="lead">${total.toLocaleString("en")} in all, the newest first.</p>
<ul class="rows">${items.map(
      (post) => html`
<li><a href="/admin/posts/${post.slug}">${post.title}</a> <small>${day(post.publishedAt)}${post.revision > 1 && html` · revision ${post.revision}`}</small></li>`,
    )}
</ul>
${pager("/admin/", number, Math.ceil(total / POSTS_PER_PAGE))}`,
  });
}

export function editPost(site: Site, session: Session, request: DemoRequest): Answer {
  const post = site.database.post(request.params.slug ?? "");
  if (post === undefined) return noSuchPost(site, request);
  return editForm(site, session, request, 200, post, post, {});
}

/** Commits the change, then purges whatever shows this post. The edit stays saved if the purge fails. */
export async function savePost(
  site: Site,
  session: Session,
  request: DemoRequest,
  form: URLSearchParams,
): Promise<Answer> {
  const post = site.database.post(request.params.slug ?? "");
  if (post === undefined) return noSuchPost(site, request);
  const given = {
    title: form.get("title") ?? "",
    summary: form.get("summary") ?? "",
    body: form.get("body") ?? "",
  };
  const change = postForm.safeParse(given);
  if (!change.success) {
    const complaints: Complaints = {};
    for (const issue of change.error.issues) complaints[issue.path[0] as keyof PostChange] ??= issue.message;
    return editForm(site, session, request, 422, post, given, complaints);
  }
  const purge = site.purger && { tags: [postTag(post.slug)], reason: `saved “${change.data.title}”` };
  const noted = site.database.savePost(post.slug, change.data, site.now(), purge);
  return told(session, request, `/admin/posts/${post.slug}`, "Saved.", await publish(site, noted));
}

/** Commits the deletion, then purges what showed the post and the lists that are now one shorter. */
export async function deletePost(site: Site, session: Session, request: DemoRequest): Promise<Answer> {
  const post = site.database.post(request.params.slug ?? "");
  if (post === undefined) return noSuchPost(site, request);
  const purge = site.purger && {
    tags: [postTag(post.slug), LIST_TAG, FEED_TAG, SITEMAP_TAG, HOME_TAG],
    reason: `deleted “${post.title}”`,
  };
  const noted = site.database.deletePost(post.slug, purge);
  return told(session, request, "/admin/", `Deleted “${post.title}”.`, await publish(site, noted));
}

export async function retryPurge(site: Site, session: Session, request: DemoRequest): Promise<Answer> {
  const noted = site.database.unsentPurge(Number(request.params.id));
  if (noted === undefined) return redirect(303, "/admin/", PRIVATE_FIELDS);
  return told(session, request, "/admin/", "Tried again.", await publish(site, noted));
}

/**
 * Back to the admin area with the news. The receipt's token goes to the editor's browser as the cookie that the edge
 * reads, so that the editor is shown nothing older than what was just saved, wherever the next request comes out.
 */
function told(session: Session, request: DemoRequest, location: string, headline: string, purge: PurgeOutcome): Answer {
  session.notice = { headline, purge };
  const fields = { ...PRIVATE_FIELDS };
  if (purge.kind === "purged" && purge.receipt.token !== undefined) {
    const seconds = Math.ceil((purge.receipt.settlesInMs ?? 0) / 1000) + TOKEN_MARGIN_SECONDS;
    const secure = request.publicUrl.startsWith("https:") ? "; Secure" : "";
    fields["set-cookie"] =
      `tidemark-after=${purge.receipt.token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`;
  }
  return redirect(303, location, fields);
}

function noSuchPost(site: Site, request: DemoRequest): Answer {
  return sorry(site, request, 404, PRIVATE_FIELDS, {
    title: "No such post",
    text: "It may have been deleted in the meantime.",
  });
}

function editForm(
  site: Site,
  session: Session,
  request: DemoRequest,
  status: 200 | 422,
  post: Post,
  values: PostChange,
  complaints: Complaints,
): Answer {
  return adminPage(site, request, session, status, {
    title: `Edit: ${post.title}`,
    main: html`<p class="kicker"><a href="/admin/">Posts</a> · ${day(post.publishedAt)} · revision ${post.revision}</p>
<h1>Edit a post</h1>
<form class="sheet" method="post" action="/admin/posts/${post.slug}">
${csrfField(session)}
${field("title", "Title", complaints, (attributes) => html`<input ${attributes} value="${values.title}">`)}
${field("summary", "Summary", complaints, (attributes) => html`<textarea ${attributes} rows="3">\n${values.summary}</textarea>`)}
${field("body", "Text, with an empty line between paragraphs", complaints, (attributes) => html`<textarea ${attributes} rows="16">\n${values.body}</textarea>`)}
<div class="row"><button>Save and purge</button> <a class="button quiet" href="/plog/${post.slug}">View the post</a></div>
<p class="aside">Saving purges the tag <code>${postTag(post.slug)}</code>, which the post and every page that shows its title carry.</p>
</form>
<details class="danger">
<summary>Delete this post</summary>
<form method="post" action="/admin/posts/${post.slug}/delete">
${csrfField(session)}
<p>The post goes, and the lists that it is on are purged: the plog, the feed, the sitemap, the front page.</p>
<button class="bad">Delete it for good</button>
</form>
</details>`,
  });
}

function field(
  name: keyof PostChange,
  label: string,
  complaints: Complaints,
  control: (attributes: Html) => Html,
): Html {
  const complaint = complaints[name];
  const attributes = html`id="${name}" name="${name}" required${
    complaint !== undefined && html` aria-invalid="true" aria-describedby="${name}-complaint"`
  }`;
  return html`<label for="${name}">${label}</label>
${control(attributes)}
${complaint !== undefined && html`<p class="complaint" id="${name}-complaint">${complaint}</p>`}`;
}

import { setCookie } from "hono/cookie";
import { html } from "hono/html";
import * as z from "zod";
import type { Post, PostChange } from "../../data/database.ts";
import { PRIVATE_FIELDS, postTag } from "../cache-fields.ts";
import type { DemoContext } from "../context.ts";
import { day } from "../pages/dates.ts";
import { errorPage } from "../pages/error-page.ts";
import { FEED_TAG, SITEMAP_TAG } from "../pages/feeds.ts";
import { HOME_TAG } from "../pages/home.ts";
import type { Html } from "../pages/layout.ts";
import { pager } from "../pages/paging.ts";
import { LIST_TAG } from "../pages/plog.ts";
import { requestedPage } from "../query.ts";
import { redirect } from "../redirect.ts";
import { adminPage, csrfField } from "./frame.ts";
import { type PurgeOutcome, purgeAfterSave } from "./purge-after-save.ts";
import type { Session } from "./session.ts";

const POSTS_PER_PAGE = 25;
const TITLE_CHARACTERS = 120;
const SUMMARY_CHARACTERS = 300;
const BODY_CHARACTERS = 20_000;

/** How long an editor's browser keeps the token after the purge has settled. */
const TOKEN_MARGIN_SECONDS = 5;

const text = (name: string, max: number) =>
  z.string().trim().min(1, `${name} cannot be empty.`).max(max, `${name} can have at most ${max} characters.`);

const postForm = z.object({
  title: text("The title", TITLE_CHARACTERS),
  summary: text("The summary", SUMMARY_CHARACTERS),
  body: text("The text", BODY_CHARACTERS).transform((body) => body.replaceAll("\r\n", "\n")),
});

type Complaints = Partial<Record<keyof PostChange, string>>;

export function listPosts(context: DemoContext, session: Session): Promise<Response> {
  const number = requestedPage(context);
  const { items, total } = context.var.site.database.posts(POSTS_PER_PAGE, (number - 1) * POSTS_PER_PAGE);
  return adminPage(context, session, 200, {
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

export function editPost(context: DemoContext, session: Session): Promise<Response> {
  const post = requestedPost(context);
  return post === undefined ? noSuchPost(context) : editForm(context, session, 200, post, post, {});
}

/** Commits the change, then purges every page that shows the post. The change stays saved if the purge fails. */
export async function savePost(context: DemoContext, session: Session, form: URLSearchParams): Promise<Response> {
  const { site } = context.var;
  const post = requestedPost(context);
  if (post === undefined) return noSuchPost(context);
  const given = {
    title: form.get("title") ?? "",
    summary: form.get("summary") ?? "",
    body: form.get("body") ?? "",
  };
  const change = postForm.safeParse(given);
  if (!change.success) {
    const complaints: Complaints = {};
    for (const issue of change.error.issues) complaints[issue.path[0] as keyof PostChange] ??= issue.message;
    return editForm(context, session, 422, post, given, complaints);
  }
  const purge = { tags: [postTag(post.slug)], reason: `saved “${change.data.title}”` };
  const purgeId = site.database.savePost(post.slug, change.data, site.now(), (transaction) =>
    site.outbox?.enqueue(transaction, purge),
  );
  return redirectWithNotice(
    context,
    session,
    `/admin/posts/${post.slug}`,
    "Saved.",
    await purgeAfterSave(site, purgeId),
  );
}

/** Commits the deletion, then purges every page that showed the post, and the lists, which are now one shorter. */
export async function deletePost(context: DemoContext, session: Session): Promise<Response> {
  const { site } = context.var;
  const post = requestedPost(context);
  if (post === undefined) return noSuchPost(context);
  const purge = {
    tags: [postTag(post.slug), LIST_TAG, FEED_TAG, SITEMAP_TAG, HOME_TAG],
    reason: `deleted “${post.title}”`,
  };
  const purgeId = site.database.deletePost(post.slug, (transaction) => site.outbox?.enqueue(transaction, purge));
  return redirectWithNotice(
    context,
    session,
    "/admin/",
    `Deleted “${post.title}”.`,
    await purgeAfterSave(site, purgeId),
  );
}

export async function retryPurge(context: DemoContext, session: Session): Promise<Response> {
  const { site } = context.var;
  const purgeId = context.req.param("id") ?? "";
  const outcome = site.outbox?.requeue([purgeId]) ? await purgeAfterSave(site, purgeId) : undefined;
  return redirectWithNotice(context, session, "/admin/", "Tried again.", outcome);
}

/**
 * Sends the editor back to the admin area, where the next page tells the outcome. The receipt's token goes to the
 * editor's browser as the cookie that the edge reads. The editor is then shown nothing older than the change,
 * whichever PoP answers the next request.
 */
function redirectWithNotice(
  context: DemoContext,
  session: Session,
  location: string,
  headline: string,
  purge: PurgeOutcome | undefined,
): Response {
  if (purge !== undefined) session.notice = { headline, purge };
  if (purge?.kind === "purged" && purge.receipt.token !== undefined) {
    setCookie(context, "tidemark-after", purge.receipt.token, {
      path: "/",
      httpOnly: true,
      sameSite: "Lax",
      secure: context.var.publicUrl.startsWith("https:"),
      maxAge: Math.ceil((purge.receipt.settlesInMs ?? 0) / 1000) + TOKEN_MARGIN_SECONDS,
    });
  }
  return redirect(context, 303, location, PRIVATE_FIELDS);
}

function requestedPost(context: DemoContext): Post | undefined {
  return context.var.site.database.post(context.req.param("slug") ?? "");
}

function noSuchPost(context: DemoContext): Promise<Response> {
  return errorPage(context, 404, PRIVATE_FIELDS, {
    title: "No such post",
    text: "It may have been deleted in the meantime.",
  });
}

function editForm(
  context: DemoContext,
  session: Session,
  status: 200 | 422,
  post: Post,
  values: PostChange,
  complaints: Complaints,
): Promise<Response> {
  return adminPage(context, session, status, {
    title: `Edit: ${post.title}`,
    main: html`<p class="kicker"><a href="/admin/">Posts</a> · ${day(post.publishedAt)} · revision ${post.revision}</p>
<h1>Edit a post</h1>
<form class="sheet" method="post" action="/admin/posts/${post.slug}">
${csrfField(session)}
${field("title", "Title", complaints, (attributes) => html`<input ${attributes} value="${values.title}">`)}
${field("summary", "Summary", complaints, (attributes) => html`<textarea ${attributes} rows="3">\n${values.summary}</textarea>`)}
${field("body", "Text, with an empty line between paragraphs", complaints, (attributes) => html`<textarea ${attributes} rows="16">\n${values.body}</textarea>`)}
<div class="row"><button>Save and purge</button> <a class="button quiet" href="/plog/${post.slug}">View the post</a></div>
<p class="aside">Saving purges the tag <code>${postTag(post.slug)}</code>, which stands on the post and on every page that shows its title.</p>
</form>
<details class="danger">
<summary>Delete this post</summary>
<form method="post" action="/admin/posts/${post.slug}/delete">
${csrfField(session)}
<p>This deletes the post and purges the lists that show it: the plog, the feed, the sitemap and the front page.</p>
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

import { beginPage, logIn, logOut, Refused, read, tokenOf } from "./api.ts";
import { byId } from "./elements.ts";
import { explainUrl, startExplain } from "./explain.ts";
import { refreshOverview, startOverview } from "./overview.ts";
import { askForToken, complain, show } from "./pages.ts";
import { refreshPurges, startPurges } from "./purges.ts";
import { refreshRules } from "./rules.ts";

const OVERVIEW_MS = 30_000;
const AGAIN_MS = 5_000;

/** Each page: how it is updated, and after how many milliseconds again; 0 for never by itself. */
const VIEWS: Readonly<Record<string, () => Promise<number>>> = {
  overview: () => refreshOverview().then(() => OVERVIEW_MS),
  purges: refreshPurges,
  explain: () => read("site").then(() => 0), // so that it needs a session
  rules: () => refreshRules().then(() => 0),
};

let timer: ReturnType<typeof setTimeout> | undefined;

/** The page that the address names. */
function view(): string {
  const [name = ""] = location.hash.slice(1).split("?");
  return Object.hasOwn(VIEWS, name) ? name : "overview";
}

/** Updates the page, and again after a while as long as it is visible. It never ends if it is begun anew meanwhile. */
async function refresh(): Promise<void> {
  clearTimeout(timer);
  beginPage();
  const name = view();
  let afterMs = AGAIN_MS;
  let trouble: string | null = null;
  try {
    afterMs = await VIEWS[name]!();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 401) return askForToken();
    trouble = error.message;
  }
  complain(trouble);
  show(name);
  if (afterMs > 0 && !document.hidden) timer = setTimeout(() => void refresh(), afterMs);
}

/** Goes to the page that the address names. */
async function go(): Promise<void> {
  await refresh();
  const [, url] = location.hash.split("#explain?");
  if (url !== undefined) explainUrl(url);
}

async function enter(token: Promise<string> | string): Promise<void> {
  try {
    await logIn(await token);
    await go();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    askForToken();
    complain(error.message);
  }
}

byId("host").textContent = byId("login-host").textContent = location.host;
startOverview();
startPurges();
startExplain();
document.querySelector("#view-login form")!.addEventListener("submit", (event) => {
  event.preventDefault();
  const field = byId<HTMLInputElement>("token");
  const token = field.value;
  field.value = "";
  void enter(token);
});
byId("logout").addEventListener("click", () => void logOut().then(() => location.reload()));
addEventListener("hashchange", () => {
  void go().then(() => {
    byId("main").focus({ preventScroll: true });
    scrollTo(0, 0);
  });
});
// The address names the page, which stays.
document.querySelector(".skip")!.addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
document.addEventListener("visibilitychange", () => void (document.hidden || refresh()));
document.addEventListener("stale", () => void refresh());

const [, code] = location.hash.split("#code=");
if (code === undefined) void go();
else {
  history.replaceState(null, "", "#overview");
  void enter(tokenOf(code));
}

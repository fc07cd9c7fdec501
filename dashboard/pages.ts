import { byId } from "./elements.ts";

/** The links to the pages, hidden until one is shown. */
const nav = document.querySelector("nav")!;

/** Lets the shown page be read again. */
export function readAgain(): void {
  document.dispatchEvent(new Event("stale"));
}

/** Shows one page, or the login. */
export function show(name: string): void {
  for (const section of document.querySelectorAll<HTMLElement>("main > section"))
    section.hidden = section.id !== `view-${name}`;
  nav.hidden = name === "login";
  for (const link of nav.querySelectorAll("a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${name[0]!.toUpperCase()}${name.slice(1)} · Tidemark`;
}

export function complain(text: string | null): void {
  const trouble = byId("trouble");
  trouble.hidden = text === null;
  if (trouble.textContent !== text) trouble.textContent = text;
}

/** Asks for a token, and says why if a page was shown before. */
export function askForToken(): void {
  if (!nav.hidden) complain("The session has ended.");
  show("login");
  byId("token").focus();
}

import { byId } from "./elements.ts";

/** Lets the shown page be read again. */
export function readAgain(): void {
  document.dispatchEvent(new Event("stale"));
}

/** Shows one page, or the login. */
export function show(name: string): void {
  for (const section of document.querySelectorAll<HTMLElement>("main > section"))
    section.hidden = section.id !== `view-${name}`;
  const nav = document.querySelector("nav")!;
  nav.hidden = name === "login";
  for (const link of nav.querySelectorAll("a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${name[0]!.toUpperCase()}${name.slice(1)} · Tidemark`;
}

export function askForToken(): void {
  show("login");
  byId("token").focus();
}

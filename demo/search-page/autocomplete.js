// The search box: asks for suggestions at every change, shows them, and tells who answered and how fast.

const LINES_IN_LOG = 10;

const siteUrl = document.body.dataset.site;
const box = document.querySelector("#q");
const list = document.querySelector("#suggestions");
const log = document.querySelector("#log");

let asking = new AbortController();
let asked = false;

box.addEventListener("input", () => {
  asking.abort();
  asking = new AbortController();
  if (box.value.trim() === "") list.replaceChildren();
  else suggest(box.value, asking.signal);
});
box.form.addEventListener("submit", (event) => event.preventDefault());

async function suggest(text, signal) {
  const url = new URL("/api/search/autocomplete", siteUrl);
  url.searchParams.set("q", text);
  const startedAt = performance.now();
  try {
    const response = await fetch(url, { signal });
    const answer = await response.json();
    const tookMs = performance.now() - startedAt;
    if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
    list.replaceChildren(...answer.suggestions.map(suggestionLine));
    if (answer.suggestions.length === 0) list.replaceChildren(element("li", "Nothing begins like that."));
    addLine(text, answeredBy(url, response), `${tookMs.toFixed(0)} ms`, response.headers.get("x-demo-render") ?? "");
  } catch (error) {
    if (signal.aborted) return;
    addLine(text, `no answer: ${error.message}`, "", "");
    list.replaceChildren(element("li", `${siteUrl} does not answer. Is the edge running?`));
  }
}

/** A browser that used its own copy transferred nothing; otherwise the edge says what it did. */
function answeredBy(url, response) {
  const timing = performance.getEntriesByName(url.href).at(-1);
  if (timing !== undefined && timing.transferSize === 0 && timing.decodedBodySize > 0) return "this browser's own copy";
  return response.headers.get("x-cache") ?? "the origin, no edge between";
}

function suggestionLine({ kind, text, songId }) {
  const link = element("a", text);
  link.href = kind === "artist" ? `${siteUrl}/songs?q=${encodeURIComponent(text)}` : `${siteUrl}/api/song/${songId}`;
  const line = element("li");
  line.append(link, " ", element("small", kind));
  return line;
}

function addLine(...cells) {
  if (!asked) log.replaceChildren();
  asked = true;
  const line = element("tr");
  for (const [index, text] of cells.entries()) {
    const cell = element("td", text);
    if (index >= 2) cell.className = "number";
    line.append(cell);
  }
  log.prepend(line);
  while (log.children.length > LINES_IN_LOG) log.lastElementChild.remove();
}

function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

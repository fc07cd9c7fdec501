// The search box. It requests suggestions at every change, shows them, and logs who answered and how fast.

const MAX_LOG_LINES = 10;

const siteUrl = document.body.dataset.site;
const box = document.querySelector("#q");
const list = document.querySelector("#suggestions");
const log = document.querySelector("#log");

let running = new AbortController();
let isLogEmpty = true;

box.addEventListener("input", () => {
  running.abort();
  running = new AbortController();
  if (box.value.trim() === "") list.replaceChildren();
  else suggest(box.value, running.signal);
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
    addLogLine(text, answeredBy(url, response), `${tookMs.toFixed(0)} ms`, response.headers.get("x-demo-render") ?? "");
  } catch (error) {
    if (signal.aborted) return;
    addLogLine(text, `no answer: ${error.message}`, "", "");
    list.replaceChildren(element("li", `${siteUrl} does not answer. Is the edge running?`));
  }
}

/** Nothing was transferred if the browser used its own copy. Otherwise the edge says in `X-Cache` what it did. */
function answeredBy(url, response) {
  const timing = performance.getEntriesByName(url.href).at(-1);
  if (timing !== undefined && timing.transferSize === 0 && timing.decodedBodySize > 0) return "this browser's own copy";
  return response.headers.get("x-cache") ?? "the origin, without an edge";
}

function suggestionLine({ kind, text, songId }) {
  const link = element("a", text);
  link.href = kind === "artist" ? `${siteUrl}/songs?q=${encodeURIComponent(text)}` : `${siteUrl}/api/song/${songId}`;
  const line = element("li");
  line.append(link, " ", element("small", kind));
  return line;
}

function addLogLine(...cells) {
  if (isLogEmpty) log.replaceChildren();
  isLogEmpty = false;
  const line = element("tr");
  for (const [index, text] of cells.entries()) {
    const cell = element("td", text);
    if (index >= 2) cell.className = "number";
    line.append(cell);
  }
  log.prepend(line);
  while (log.children.length > MAX_LOG_LINES) log.lastElementChild.remove();
}

function element(name, text = "") {
  const created = document.createElement(name);
  created.textContent = text;
  return created;
}

import { CONTROL_PREFIX } from "../../wire/fields.ts";
import { EDGE_ANSWER_FIELDS } from "../rules/forwarding/edge-answer-fields.ts";
import { authorize } from "./access/access.ts";
import { nothingAt, problemResponse } from "./problem-response.ts";
import type { ControlCall, ControlPorts, Route } from "./route.ts";
import { DASHBOARD_ROUTES, PURGE_OF_PAGE, ROUTES } from "./routes.ts";
import { answerAtDoor } from "./vendor-apis/doors.ts";

/** Answers the calls of the control plane. */
export interface ControlPlane {
  fetch(request: Request, call: ControlCall): Promise<Response>;
}

/** Everything under `/_tidemark/`, and the methods `PURGE` and, at a door, `BAN` on any URL of the site. */
export function controlPlane(ports: ControlPorts): ControlPlane {
  const routes: readonly Route[] = ports.hasDashboard ? [...ROUTES, ...DASHBOARD_ROUTES] : ROUTES;

  async function answer(request: Request, call: ControlCall): Promise<Response> {
    // A door has its own tokens, and refuses calls in its vendor's words.
    const atDoor = await answerAtDoor(request, call.peerAddress, ports);
    if (atDoor) return atDoor;
    const found = findRoute(request, routes);
    if (found.kind === "refused") return found.response;
    const { route, seq } = found;
    if (route.scope === null) return route.answer({ ...call, request, seq, by: "", token: "" }, ports);
    const access = await authorize(ports, request, route.scope);
    if (access.kind === "refused") return access.response;
    return route.answer({ ...call, request, seq, by: access.name, token: access.token }, ports);
  }

  return {
    async fetch(request, call) {
      const answered = await answer(request, call);
      const { headers } = answered;
      for (const [name, value] of Object.entries(EDGE_ANSWER_FIELDS)) if (!headers.has(name)) headers.set(name, value);
      return request.method === "HEAD" ? new Response(null, answered) : answered;
    },
  };
}

type FoundRoute =
  | { readonly kind: "found"; readonly route: Route; readonly seq: string }
  | { readonly kind: "refused"; readonly response: Response };

function findRoute(request: Request, routes: readonly Route[]): FoundRoute {
  const { method } = request;
  if (method === "PURGE") return { kind: "found", route: PURGE_OF_PAGE, seq: "" };
  const path = decodedPath(request);
  // A method of the control plane may come with any path of the site.
  const below = path.startsWith(CONTROL_PREFIX) ? path.slice(CONTROL_PREFIX.length) : null;
  const seq = /^purges\/([^/]+)$/.exec(below ?? "")?.[1];
  const atPath = routes.filter((route) => route.path === (seq === undefined ? below : "purges/:seq"));
  if (atPath.length === 0) return { kind: "refused", response: nothingAt(path) };
  const route = atPath.find((each) => each.method === (method === "HEAD" ? "GET" : method));
  if (route) return { kind: "found", route, seq: seq ?? "" };
  const allow = atPath.map((each) => (each.method === "GET" ? "GET, HEAD" : each.method)).join(", ");
  const words = `${path} does not take ${method}: use ${allow}.`;
  return { kind: "refused", response: problemResponse("method-not-allowed", words, undefined, { allow }) };
}

/** The path of a URL. A client may have encoded more of it than it had to. */
function decodedPath(request: Request): string {
  const { pathname } = new URL(request.url);
  try {
    return decodeURI(pathname);
  } catch {
    return pathname; // It is not UTF-8.
  }
}

import type { IsolateControl, StartControl } from "./platform.ts";

/** Loads the control plane when it is first called, because no page needs it. Its code is a module of its own. */
export const deferredControl: StartControl = (...parts) => {
  let starting: Promise<IsolateControl> | undefined;
  const start = async () => {
    const { startControl } = await import("./isolate-control.ts");
    return startControl(...parts, ({ request }) => request as Request);
  };
  return {
    async fetch(incoming) {
      starting ??= start();
      return (await starting).fetch(incoming);
    },
  };
};

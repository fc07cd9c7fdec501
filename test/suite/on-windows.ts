/** For `node --import`: the platform that Windows names. */
export const ON_WINDOWS = `data:text/javascript,Object.defineProperty(process, "platform", { value: "win32" })`;

/**
 * For `node --import`: gives modules whose URL has this text the paths of Windows. The files stay those of this machine,
 * where `\` is a part of a name: a test puts them there under such names, too.
 */
export function windowsPathsIn(modules: string): string {
  return `data:text/javascript,
    import { registerHooks } from "node:module";
    registerHooks({
      resolve: (name, { parentURL = "", ...context }, next) => {
        const isWindows = name === "node:path" && parentURL.includes(${JSON.stringify(modules)});
        return next(isWindows ? "node:path/win32" : name, { parentURL, ...context });
      },
    });`;
}

import { Session } from "node:inspector";

// biome-ignore lint/suspicious/noExplicitAny: any class
export type Class = abstract new (...given: any[]) => object;

/** An object that is alive, and how many entries its private fields hold, or the number that one is. */
export interface Held {
  readonly of: string;
  readonly sizes: Readonly<Record<string, number>>;
}

/** The objects of these classes that are alive, as a debugger sees them: with their private fields. */
export function heldBy(classes: readonly Class[]): Held[] {
  const session = new Session();
  session.connect();
  try {
    return classes.flatMap((each) => instancesOf(session, each));
  } finally {
    session.disconnect();
  }
}

function instancesOf(session: Session, each: Class): Held[] {
  Object.assign(globalThis, { heldBy: each });
  const prototype = ask(session, "Runtime.evaluate", { expression: "heldBy.prototype" }).result.objectId;
  Reflect.deleteProperty(globalThis, "heldBy");
  const { objectId } = ask(session, "Runtime.queryObjects", { prototypeObjectId: prototype }).objects;
  const found = ask(session, "Runtime.getProperties", { objectId, ownProperties: true }).result;
  return found
    .filter(({ name }: { name: string }) => /^\d+$/.test(name))
    .map(({ value }: Property) => ({ of: each.name, sizes: sizesOf(session, value!.objectId) }));
}

function sizesOf(session: Session, objectId: string): Record<string, number> {
  const { result, privateProperties = [] } = ask(session, "Runtime.getProperties", { objectId, ownProperties: true });
  const sizes: Record<string, number> = {};
  for (const { name, value } of [...result, ...privateProperties] as Property[]) {
    const size = /^(?:(?:Map|Set|Array)\()?(\d+)\)?$/.exec(value?.description ?? "")?.[1];
    if (size !== undefined) sizes[name] = Number(size);
  }
  return sizes;
}

interface Property {
  readonly name: string;
  readonly value?: { readonly objectId: string; readonly description?: string };
}

// biome-ignore lint/suspicious/noExplicitAny: the protocol's answers have no types here
function ask(session: Session, method: string, parameters: object): any {
  let answer: unknown;
  session.post(method, parameters, (error, result) => {
    if (error) throw new Error(`${method}: ${error.message}`);
    answer = result;
  });
  return answer;
}

import { title } from "./title.js";

export const revalidate = 3600;

export default async function Front() {
  return <h1>{await title("front")}</h1>;
}

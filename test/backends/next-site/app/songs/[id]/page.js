import { title } from "../../title.js";

export const revalidate = 3600;

/** None at build time: each song is rendered when it is first asked for, and kept. */
export function generateStaticParams() {
  return [];
}

export default async function Song({ params }) {
  const { id } = await params;
  return <h1>{await title(`song:${id}`)}</h1>;
}

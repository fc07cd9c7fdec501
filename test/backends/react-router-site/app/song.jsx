import { data, redirect, useLoaderData } from "react-router";
import { purgeLater, tag } from "tidemark/respond";

export async function loader({ params }) {
  tag(`song:${params.id}`);
  const song = await songs.find(params.id);
  return data(song, { headers: { "Cache-Control": "public, max-age=0, s-maxage=86400" } });
}

export const headers = ({ loaderHeaders }) => loaderHeaders;

export async function action({ params, request }) {
  await songs.save(params.id, Object.fromEntries(await request.formData()));
  purgeLater({ tags: [`song:${params.id}`] });
  return redirect(`/songs/${params.id}`);
}

export default function Song() {
  return <h1>{useLoaderData().title}</h1>;
}

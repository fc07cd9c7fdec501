import { json } from "@sveltejs/kit";
import { tag } from "tidemark/respond";

export async function GET({ params }) {
  tag(`song:${params.id}`);
  return json(await songs.find(params.id));
}

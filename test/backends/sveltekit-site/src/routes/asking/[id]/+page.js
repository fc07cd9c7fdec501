export async function load({ params, fetch, setHeaders }) {
  const song = await (await fetch(`/api/songs/${params.id}`)).json();
  setHeaders({ "cache-control": "public, max-age=0, s-maxage=86400" });
  return { song };
}

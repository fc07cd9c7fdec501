/** What the test says of this name, until its tag is revalidated. It stands in the place of that of the site for Next. */
export async function title(name) {
  const answer = await fetch(`${process.env.TITLES}/${name}`, { next: { tags: [name] } });
  return await answer.text();
}

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";

export const dynamic = "force-dynamic";

/** An editor's form: its action revalidates a song. */
export default function Edit() {
  async function save(form) {
    "use server";
    revalidatePath(`/songs/${form.get("id")}`);
    redirect("/");
  }
  return (
    <form action={save}>
      <input name="id" />
    </form>
  );
}

/** The names that the examples of docs/purging.md use and do not define. */
const titles = new Map([["42", "old"]]);

globalThis.songs = {
  find: async (id) => {
    if (id === "unreadable") throw new Error("the database is gone");
    return { id, title: titles.get(id) };
  },
  save: async (id, { title }) => void titles.set(id, title),
};
globalThis.page = ({ title }) => `<h1>${title}</h1>`;

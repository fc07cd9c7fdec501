import { route } from "@react-router/dev/routes";

export default [route("songs/:id", "song.jsx")];

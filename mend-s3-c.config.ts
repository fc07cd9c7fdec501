import { defineSite } from "tidemark/worker";
export default defineSite({ origin: "http://127.0.0.1:29418", hosts: ["127.0.0.1:29419"] });

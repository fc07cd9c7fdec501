import { createServer } from "node:net";

/*
 * The least that a server on Node can do in a flood: it answers pages that are popular with a constant, and refuses all
 * others. So its answers show how much a flood slows down any server on Node.
 */
const PAGE = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npage");
const BUSY = Buffer.from("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy");

createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => undefined).setEncoding("latin1");
  socket.on("data", (request: string) => socket.write(request.startsWith("GET /hot/") ? PAGE : BUSY));
}).listen(Number(process.argv[2]), "127.0.0.1");

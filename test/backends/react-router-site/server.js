import { createServer } from "node:http";
import { createRequestListener } from "@react-router/node";
import * as build from "./build/server/index.js";

const { PORT, HOST } = process.env;
createServer(createRequestListener({ build })).listen(Number(PORT), HOST, () => console.log("listening"));

#!/usr/bin/env node
import { Command } from "commander";
import { devCommand } from "./dev-command.ts";

const program = new Command("tidemark")
  .description("An edge cache that you own, on your laptop and on the edge.")
  .showHelpAfterError("(--help tells what there is)")
  .addCommand(devCommand(null));

await program.parseAsync();

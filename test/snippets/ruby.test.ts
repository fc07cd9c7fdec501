import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blockWith } from "./blocks.ts";
import { linesOf, works } from "./program.ts";
import { SnippetEdge } from "./snippet-edge.ts";

const hasRails = works("ruby", "-e", "require 'active_record'; require 'action_controller'; require 'sqlite3'");
const NOT_RUN =
  "the blocks in Ruby are SKIPPED, because this machine has no Rails (on Debian: ruby-activerecord, ruby-actionpack, ruby-sqlite3)";
if (!hasRails) process.stdout.write(`${NOT_RUN}\n`);

describe.skipIf(!hasRails)(hasRails ? "the blocks in Ruby, with Rails" : NOT_RUN, () => {
  let edge: SnippetEdge;
  beforeAll(async () => {
    edge = await SnippetEdge.start();
    for (const [path, tags] of [
      ["/songs/42", "song:42"],
      ["/songs", "songs"],
      ["/about", "about"],
    ] as const)
      await edge.publish(path, tags);
  }, 60_000);
  afterAll(() => edge?.[Symbol.asyncDispose]());

  test("docs/purging.md: a model purges its pages after the commit, and not after a rollback", async () => {
    const program = `
      require "active_record"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
      ActiveRecord::Schema.verbose = false
      ActiveRecord::Schema.define { create_table(:songs) { |table| table.string :title } }
      class ApplicationRecord < ActiveRecord::Base
        self.abstract_class = true
      end
      ${blockWith("docs/purging.md", "after_commit :purge_pages")}
      def pages = %w[/songs/42 /songs /about].map { |path|
        Net::HTTP.get_response(URI.join(ENV["TIDEMARK_ENDPOINT"], path))["x-cache"]
      }
      def tell(what) = puts([what, *pages, *pages].join(" "))

      song = Song.new(title: "old")
      song.id = 42
      Song.transaction { song.save!; tell "saved" }
      tell "committed"
      Song.transaction { song.update!(title: "never"); raise ActiveRecord::Rollback }
      tell "rolled back"
      song.destroy!
      tell "destroyed"
      ENV["TIDEMARK_TOKEN"] = "wrong"
      begin
        Song.create!(title: "another")
      rescue Net::ProtoServerError => error
        puts "raised: #{error.message}"
      end
      tell "refused"
    `;
    expect(await linesOf(["ruby", "-W:no-deprecated", "-"], program, edge.settings)).toEqual([
      "saved HIT HIT HIT HIT HIT HIT",
      "committed MISS MISS HIT HIT HIT HIT",
      "rolled back HIT HIT HIT HIT HIT HIT",
      "destroyed MISS MISS HIT HIT HIT HIT",
      expect.stringMatching(/^raised: 401 /),
      "refused HIT HIT HIT HIT HIT HIT",
    ]);
  });

  test("docs/sites.md: a controller tags a page for everybody, and marks the visitor who logs in", {
    tags: ["deep"],
  }, async () => {
    const program = `
      require "action_controller"
      require "rack/mock"
      class SongsController < ActionController::Base
        def user = Struct.new(:id).new(7)
        def default_render = render(plain: "a song")
        ${blockWith("docs/sites.md", "cookies.permanent[:signed_in]")}
      end
      def answer(action, session)
        env = Rack::MockRequest.env_for("/songs/42", "rack.session" => session)
        env["action_dispatch.request.path_parameters"] = { id: "42" }
        _, fields, _ = ActionDispatch::Cookies.new(SongsController.action(action)).call(env)
        puts [action, *fields.values_at("Cache-Control", "Cache-Tag")].join(" | ")
        puts fields["Set-Cookie"] if fields["Set-Cookie"]
      end
      answer(:show, {})
      answer(:show, { user: 7 })
      answer(:create, session = {})
      puts session[:user]
    `;
    const lines = await linesOf(["ruby", "-W:no-deprecated", "-"], program, {});
    expect(lines).toEqual([
      "show | max-age=0, public, s-maxage=3600 | song:42",
      expect.stringMatching(/^show \| (?!.*public).* \| song:42$/),
      expect.stringMatching(/^create \| /),
      expect.stringMatching(/^signed_in=1; path=\/; expires=/),
      "7",
    ]);
  });
});

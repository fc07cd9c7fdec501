interface NginxSettings {
  readonly workers: number;
  /** The directives of the `http` block. */
  readonly http: string;
}

/** The settings of an nginx that stays in the foreground and writes into its folder alone. */
export function nginxConfig(folder: string, { workers, http }: NginxSettings): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `daemon off; ${user} worker_processes ${workers}; pid ${folder}/pid; events { worker_connections 16384; }
    worker_rlimit_nofile 40000;
    http { access_log off; ${temporary.join(" ")}
      ${http} }`;
}

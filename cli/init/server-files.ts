/** The unit of systemd, beside the config. */
export const UNIT = "tidemark.service";

/** The file with the server's secrets, beside them. */
export const ENVIRONMENT = "tidemark.env";

/** The line of the environment that names the site's socket, which no config can name. */
export function socketLine(socket: string): string {
  return `TIDEMARK_ORIGIN=${socket}`;
}

/** `socket`: that of the site; `null` if the config has its address. */
export function environmentFile(token: string, socket: string | null): string {
  const ofSocket =
    socket === null
      ? ""
      : `# The site's socket. If it belongs to a group, name that in ${UNIT}: SupplementaryGroups=www-data
${socketLine(socket)}
`;
  return `# Read by systemd for tidemark.service; for a shell: set -a; . ./tidemark.env
# The token that may purge. Keep it out of version control.
TIDEMARK_TOKEN=${token}
${ofSocket}`;
}

export interface UnitParts {
  /** The absolute path of the project. */
  readonly folder: string;
  /** The absolute path of the program that runs it. */
  readonly node: string;
  readonly host: string;
}

/** Whether the unit cannot see this path, by ProtectHome and PrivateTmp. */
export function hiddenFromUnit(path: string): boolean {
  return /^\/(home|root|run\/user|tmp|var\/tmp)(\/|$)/.test(path);
}

/** A service that may only read its folder, listen on port 80, and write its cache and its log. */
export function unitFile({ folder, node, host }: UnitParts): string {
  return `# sudo cp tidemark.service /etc/systemd/system/ && sudo systemctl enable --now tidemark
[Unit]
Description=Tidemark, the edge cache of ${host}
After=network-online.target
Wants=network-online.target

[Service]
# Node itself, without npx or a shell, because this process takes the signals.
ExecStart=${quoted(node)} ${argument(`${folder}/node_modules/tidemark/dist/package/cli.mjs`)} serve \\
    --listen '*:80' --cache /var/cache/tidemark --access-log /var/log/tidemark/access.log
# Every user must be able to enter this folder and Node's: put both below /opt, for example, and not below /home.
WorkingDirectory=${literal(folder)}
EnvironmentFile=${literal(`${folder}/${ENVIRONMENT}`)}
# To load new rules: systemctl reload tidemark. To start a new version without dropping connections:
# systemctl kill --kill-who=main --signal=USR2 tidemark.
ExecReload=/bin/kill -HUP $MAINPID
Type=notify
NotifyAccess=all
Restart=on-failure
RestartSec=2
# If the kernel ends a worker because memory ran out, another one starts.
OOMPolicy=continue
TimeoutStartSec=90
# For answers under way. KillMode=mixed would cut them at a stop after an upgrade.
TimeoutStopSec=20
LimitNOFILE=65536

# A user that exists only while the service runs, and its own folders.
DynamicUser=yes
CacheDirectory=tidemark
CacheDirectoryMode=0700
LogsDirectory=tidemark
LogsDirectoryMode=0750
UMask=0077

# The only privilege is to listen on port 80. Everything else is read-only or hidden.
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`;
}

/** Escapes a text for a line of a systemd unit, where `%` begins a specifier. */
function literal(text: string): string {
  return text.replaceAll("%", "%%");
}

/** Escapes a word of a command, where blanks separate words. */
function quoted(word: string): string {
  return /[\s"'\\]/.test(word) ? JSON.stringify(literal(word)) : literal(word);
}

/** Escapes a word behind the program, where `$` begins a variable. */
function argument(word: string): string {
  return quoted(word.replaceAll("$", () => "$$"));
}

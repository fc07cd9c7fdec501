#!/usr/bin/perl
# What a package asks of systemctl, in a root where systemd does not run: it starts the one unit as systemd.service(5) says,
# as far as the server can see, and hears its notifications (sd_notify(3)).
use strict;
use warnings;
use Socket;

my $UNIT = "/usr/lib/systemd/system/tidemark.service";
my ($PID, $CHILD, $TOLD, $JOURNAL, $NOTIFY) = map { "/run/test-$_" } qw(pid child told journal notify);
my @args = grep { $_ ne "--quiet" } @ARGV;
my $verb = shift @args;

sub slurp { my ($file) = @_; open my $in, "<", $file or return ""; local $/; return <$in> // "" }
sub spew { my ($mode, $file, $text) = @_; open my $out, $mode, $file or die "$file: $!"; print $out $text }
sub main_pid { return slurp($PID) || 0 }
sub is_active { my $pid = main_pid(); return $pid && kill(0, $pid) }

sub setting {
    my ($key, $default) = @_;
    my $text = slurp($UNIT);
    $text =~ s/\\\n\s*/ /g;
    return $text =~ /^\Q$key\E=(.*)$/m ? $1 : $default // die "$UNIT has no $key\n";
}

# Those of the unit's user, which has no others.
sub processes {
    my $uid = getpwnam setting("User");
    return grep { slurp("/proc/$_/status") =~ /^State:\t[^Z].*^Uid:\t$uid\b/ms } map { m{^/proc/(\d+)$} } glob "/proc/*";
}

sub own_folder {
    my ($above, $key) = @_;
    my $folder = "$above/" . setting($key);
    my ($user) = setting("User");
    mkdir $folder;
    chmod oct(setting("${key}Mode")), $folder;
    chown +(getpwnam $user)[2, 3], $folder;
}

sub start {
    own_folder("/var/lib", "StateDirectory");
    own_folder("/var/log", "LogsDirectory");
    unlink $NOTIFY, $TOLD, $PID;
    socket(my $socket, PF_UNIX, SOCK_DGRAM, 0) or die $!;
    bind($socket, sockaddr_un($NOTIFY)) or die $!;
    chmod 0666, $NOTIFY;
    return wait_until_ready() if fork;
    # The manager, which lives as long as the unit.
    open STDOUT, ">>", $JOURNAL;
    open STDERR, ">&", \*STDOUT;
    open STDIN, "<", "/dev/null";
    my $main = fork;
    run_unit() unless $main;
    $SIG{CHLD} = "IGNORE"; # nobody waits for it
    spew(">", $_, $main) for $PID, $CHILD;
    while (defined recv($socket, my $told, 4096, 0)) {
        spew(">>", $TOLD, "$told\n");
        spew(">", $PID, $1) if $told =~ /^MAINPID=(\d+)/m;
    }
}

sub run_unit {
    my @capabilities = map { s/^CAP_//r =~ tr/A-Z/a-z/r } split " ", setting("AmbientCapabilities");
    my $given = join ",", map { "+$_" } @capabilities;
    my %environment = (PATH => "/usr/sbin:/usr/bin:/sbin:/bin", NOTIFY_SOCKET => $NOTIFY, SYSTEMD_EXEC_PID => $$);
    my $variables = slurp(setting("EnvironmentFile"));
    $environment{$1} = $3 while $variables =~ /^(\w+)=("?)(.*)\2$/mg;
    # A word that is a variable becomes its words, which may be none (systemd.service(5)).
    my @command = map { /^\$(\w+)$/ ? split(" ", $environment{$1} // "") : $_ } split " ", setting("ExecStart");
    %ENV = %environment;
    chdir setting("WorkingDirectory");
    umask oct setting("UMask");
    my $user = setting("User");
    exec "setpriv", "--reuid=$user", "--regid=$user", "--clear-groups", "--no-new-privs", "--inh-caps=-all,$given",
        "--ambient-caps=-all,$given", "--bounding-set=-all,$given", @command;
}

sub wait_until_ready {
    while (slurp($TOLD) !~ /^READY=1/m) {
        die "the unit has ended:\n" . slurp($JOURNAL) if main_pid() && !is_active();
        select undef, undef, undef, 0.02;
    }
    exit 0;
}

# systemd.kill(5). By KillMode=mixed systemd does not wait for a main process that is not its child.
sub stop {
    my $main = main_pid();
    my $is_mixed = setting("KillMode", "control-group") eq "mixed";
    kill "TERM", $main, $is_mixed ? () : grep { $_ != $main } processes();
    if (!$is_mixed || $main == slurp($CHILD)) { select undef, undef, undef, 0.02 while is_active() }
    kill $is_mixed ? "KILL" : "TERM", processes();
    select undef, undef, undef, 0.02 while processes();
}

if ($verb eq "start") { start() }
elsif ($verb eq "is-active") { exit(is_active() ? 0 : 3) }
elsif ($verb eq "reload") { exit(system(setting("ExecReload") =~ s/\$MAINPID/main_pid()/er) ? 1 : 0) }
elsif ($verb eq "kill") {
    my ($unknown) = grep { /^--(?!kill-who=main$|signal=)/ } @args; # --kill-whom came with systemd 252
    die "systemctl: unrecognized option '$unknown'\n" if $unknown;
    my ($signal) = map { /^--signal=(\w+)/ } @args;
    kill $signal, main_pid();
}
elsif ($verb eq "stop") { stop() if is_active() }
elsif ($verb eq "daemon-reload") { spew(">>", $JOURNAL, "daemon-reload\n") }
else { $ENV{SYSTEMD_OFFLINE} = 1; exec "/usr/bin/systemctl.real", @ARGV } # it makes the links that enable a unit

# Writes what ns2_events.py turns into the golden traces in ns2.txt.xz (`xz -dc` prints them): one flow of ns-2.35 over one
# bottleneck, every packet at the sender, and cwnd_ and ssthresh_ at each change, in the order in which things happen.
#
#   echo "== NAME"; MALLOC_PERTURB_=255 ns ns2_trace.tcl CA STOP DROPS > /dev/null; python3 ns2_events.py ns2_trace.tmp CA
#
# for each line of the table below, all piped into `xz -T1 -e > ns2.txt.xz`.
#
# CA is bic, cubic, vegas or compound of Agent/TCP/Linux, or native for Agent/TCP/Vegas; DROPS are data packets that the
# link drops, counted from 1. All is written to ns2_trace.tmp. The stored traces, NAME CA STOP DROPS:
#
#   bic_drops       bic       3    "300 1000 1800 1803"
#   cubic_drops     cubic     3    "300 1000 1800 1803"
#   vegas           vegas     2    ""
#   vegas_drops     vegas     3    "100 900 1600 1603"
#   compound        compound  2    ""
#   compound_drops  compound  3    "300 1000 1800 1803"
#   native          native    2.5  ""
#   native_drops    native    3    "100 900 1700"
#
# With MALLOC_PERTURB_=255 glibc hands out memory filled with zeros. Agent/TCP/Linux does not initialise the variables of its
# congestion control, and Vegas reads some before it sets them: otherwise its slow start can end at random.
#
# 10 Mb/s, 2 x 25 ms, segments of 1000 bytes behind 40 of headers, every one acknowledged, a queue that drops nothing, a window of 300.

lassign $argv ca stop drops
set ns [new Simulator]
set file [open ns2_trace.tmp w]
foreach name {a b} {set $name [$ns node]}
$ns duplex-link $a $b 10Mb 25ms DropTail
$ns queue-limit $a $b 10000
if {[llength $drops] > 0} {
    set errors [new ErrorModel/List]
    # The list counts from 0.
    set list {}
    foreach drop $drops {lappend list [expr {$drop - 1}]}
    $errors droplist $list
    $ns lossmodel $errors $a $b
}
Agent/TCP set window_ 300
Agent/TCP set windowInit_ 2
if {$ca eq "native"} {
    set tcp [new Agent/TCP/Vegas]
    set sink [new Agent/TCPSink]
} else {
    set tcp [new Agent/TCP/Linux]
    set sink [new Agent/TCPSink/Sack1]
    $tcp set timestamps_ true
    $tcp set syn_ false
    $sink set ts_echo_rfc1323_ true
}
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
if {$ca ne "native"} {$ns at 0 "$tcp select_ca $ca"}
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns trace-queue $a $b $file
$ns trace-queue $b $a $file
$tcp attach $file
$tcp trace cwnd_
$tcp trace ssthresh_
$ns at 0.1 "$ftp start"
$ns at $stop "$ns flush-trace; close $file; exit 0"
$ns run

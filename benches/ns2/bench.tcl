# ns-2 at its fastest on a network described by benches/network.py: no tracing, no monitors on the packets' path, and
# only the packet headers that the traffic uses.
#
#   ns bench.tcl network=FILE [NAME=VALUE ...]
#
# Options: those of validation/ns2/common.tcl, and
#   network=FILE                         the network; benches/network.py explains its lines
#   ssthresh=N                           every TCP's initial ssthresh in segments; 0 for its window
#   scheduler=Calendar|Splay|Heap|List   ns-2's event queue; Calendar is its default. All four give the same results.
#   count=1                              also count hops packet by packet, to check the sum below; slow
#
# Prints goodput of TCP, drops, delivered data, and `packet_hops`: packets times crossed links. The sum is computed at the
# end from counters that cost no time during the run. Every TCP data packet crosses all links of its path before the link
# that drops it, every ACK the same number, every received datagram those of its path. Packets in flight at the end of the
# run make the sum wrong by at most a window per flow.

set here [file dirname [info script]]
remove-all-packet-headers
add-packet-header IP TCP Flags

source [file join $here .. .. validation ns2 common.tcl]
array set param {network "" ssthresh 0 scheduler Splay count 0}
read_options $argv

set file [open $param(network)]
set entries [split [read $file] \n]
close $file
if {[lsearch -glob $entries "cbr *"] >= 0} {add-packet-header RTP}

# The file gives the routes: the time of ns-2's own search grows with the cube of the number of nodes.
Simulator instproc compute-routes {} {return}

set ns [new Simulator]
$ns use-scheduler $param(scheduler)
set clock [$ns set scheduler_]
configure_tcp
set payload [expr {$param(packet) - $param(header)}]

# The procedures for the entries of the file. `dropped` has the drop counter of each link, the number of links that a TCP
# data packet dropped there has not crossed, and the nodes.
set dropped {}
set tcps {}
set streams {}
array set requests_sent {data 0 segments 0}
set free {}
set busy {}
set times {}
set sizes {}

proc nodes {count} {
    global ns node
    for {set index 0} {$index < $count} {incr index} {set node($index) [$ns node]}
}

# A monitor at the queue's drop target sees only dropped packets.
proc count_drops {from to} {
    global ns
    set link [$ns link $from $to]
    set monitor [new QueueMonitor]
    set snoop [new SnoopQueue/Drop]
    $snoop set-monitor $monitor
    set exit [$link set drophead_]
    $snoop target [$exit target]
    $exit target $snoop
    return $monitor
}

proc link {from to rate delay limit there back} {
    global ns node dropped
    foreach {one other remaining} [list $from $to $there $to $from $back] {
        $ns simplex-link $node($one) $node($other) $rate $delay DropTail
        $ns queue-limit $node($one) $node($other) [expr {$limit ? $limit + 1 : 100000000}]
        if {$limit} {lappend dropped [count_drops $node($one) $node($other)] $remaining $one:$other}
    }
}

proc route {from to next} {
    global ns node
    $node($from) add-route [$node($to) set address_] [[$ns link $node($from) $node($next)] head]
}

proc tcp {from to start links} {
    global ns node tcps
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $node($from) $tcp
    $ns attach-agent $node($to) $sink
    $ns connect $tcp $sink
    lappend tcps $tcp $sink $links
    if {$start ne ""} {
        set transfer [new Application/FTP]
        $transfer attach-agent $tcp
        $ns at $start "$transfer start"
    }
    return [list $tcp $sink]
}

proc cbr {from to rate size start links} {
    global ns node streams
    set source [new Agent/UDP]
    set target [new Agent/LossMonitor]
    $ns attach-agent $node($from) $source
    $ns attach-agent $node($to) $target
    $ns connect $source $target
    set traffic [new Application/Traffic/CBR]
    $traffic attach-agent $source
    $source set packetSize_ $size
    $traffic set packetSize_ $size
    $traffic set rate_ $rate
    $ns at $start "$traffic start"
    lappend streams $target $links $from:$to
}

# Requests. A pair of agents serves one request after another, and is in `free` while idle. `reset` restores its initial
# state, and makes it ignore packets in flight. Creating a pair takes a millisecond, so most pairs are created beforehand.
# `cmd` calls the C++ object directly, in half the time. ns-2 has whole segments only, so a smaller request is one segment.
proc web {from to links} {
    global request_ends free
    set request_ends [list $from $to $links]
    for {set number 0} {$number < 100} {incr number} {lappend free [make_pair]}
}

proc make_pair {} {
    global request_ends sink_of tcps
    lassign $request_ends from to links
    lassign [tcp $from $to "" $links] tcp sink
    set tcps [lrange $tcps 0 end-3]
    set sink_of($tcp) $sink
    return $tcp
}

proc request {time size} {
    global times sizes payload
    lappend times $time
    lappend sizes [expr {int(max(1, round(double($size) / $payload)))}]
}

set next 0
proc arrive {} {
    global clock next times sizes free sink_of
    if {[llength $free]} {
        set tcp [lindex $free end]
        set free [lreplace $free end end]
        $tcp cmd reset
        $sink_of($tcp) cmd reset
    } else {
        set tcp [make_pair]
    }
    $tcp cmd advanceby [lindex $sizes $next]
    if {[incr next] < [llength $times]} {$clock cmd at [lindex $times $next] arrive}
}

# The connection is complete. Its first packet, the SYN, has no data.
Agent/TCP instproc done {} {
    global free requests_sent
    incr requests_sent(data) [$self set ndatapack_]
    incr requests_sent(segments) [$self set ack_]
    lappend free $self
}

foreach entry $entries {eval $entry}

# At the start of the run, ns-2 uses `window_` as the initial ssthresh.
if {$param(ssthresh)} {
    foreach {tcp sink links} $tcps {$tcp set window_ $param(ssthresh)}
    $ns at 1e-6 {foreach {tcp sink links} $tcps {$tcp set window_ $param(window)}}
}
if {[llength $times]} {$ns at [lindex $times 0] arrive}

set monitors {}
if {$param(count)} {
    foreach entry [lsearch -all -inline -glob $entries "link *"] {
        lassign $entry - from to
        lappend monitors [$ns monitor-queue $node($from) $node($to) ""] [$ns monitor-queue $node($to) $node($from) ""]
    }
}

proc finish {} {
    global param payload tcps streams dropped requests_sent request_ends sink_of free monitors
    set hops 0
    set segments 0
    foreach {tcp sink links} $tcps {
        incr hops [expr {$links * ([$tcp set ndatapack_] + [$tcp set nackpack_])}]
        # `bytes_` has 32 bits.
        set bytes [expr {[$sink set bytes_] & 0xffffffff}]
        incr segments [expr {max($bytes - $param(header), 0) / $param(packet)}]
    }
    if {[info exists request_ends]} {
        foreach tcp [array names sink_of] {
            if {[lsearch -exact $free $tcp] < 0} {
                incr requests_sent(data) [$tcp set ndatapack_]
                incr requests_sent(segments) [expr {max([$tcp set ack_], 0)}]
            }
        }
        # Every packet that is not dropped is acknowledged.
        incr hops [expr {[lindex $request_ends 2] * 2 * $requests_sent(data)}]
        incr segments $requests_sent(segments)
    }
    set datagrams 0
    array set lost {}
    foreach {target links ends} $streams {
        incr datagrams [$target set npkts_]
        incr hops [expr {$links * [$target set npkts_]}]
        set lost($ends) [$target set nlost_]
    }
    set drops 0
    foreach {monitor remaining ends} $dropped {
        set here [$monitor set pdrops_]
        incr drops $here
        incr hops [expr {-$remaining * ($here - ([info exists lost($ends)] ? $lost($ends) : 0))}]
        if {[info exists request_ends]} {incr hops [expr {-[lindex $request_ends 2] * $here}]}
    }
    print_pairs stdout "" [list goodput_bps [format %.1f [expr {8.0 * $payload * $segments / $param(duration)}]] \
        drops $drops datagrams $datagrams packet_hops $hops]
    if {$param(count)} {
        set counted 0
        foreach monitor $monitors {incr counted [$monitor set pdepartures_]}
        puts "counted_hops $counted"
    }
    exit 0
}

$ns at $param(duration) finish
$ns run

# ns-2 as fast as it goes on the dumb-bell of validation/ns2/: no tracing, no monitors on the packets' way, and only the
# packet headers that TCP over these links uses.
#
#   ns bench_dumbbell.tcl [NAME=VALUE ...]
#
# Options: those of validation/ns2/common.tcl, and
#   scheduler=Splay|Calendar|List|Heap   ns-2's event queue. Its own default is Calendar; Splay is the quickest on these
#                                        networks, by a third of the time or more. All four give the same results.
#   count=1                              also count hops packet by packet, to check the sum below; slow
#
# Prints goodput and drops, to check that the run is the one meant, and `packet_hops`: packets, data and ACKs, times the
# links each of them crossed. It is worked out at the end from counters that cost nothing on the way: every data packet
# crosses the access link, one that N1 does not drop N1-N2, one that N2 does not drop the last two links; every ACK
# crosses four. Packets on their way when the run ends make the sum wrong by a window per flow at most.

remove-all-packet-headers
add-packet-header IP TCP Flags

source [file join [file dirname [info script]] .. .. validation ns2 common.tcl]
array set param {scheduler Splay count 0}
read_options $argv

set ns [new Simulator]
$ns use-scheduler $param(scheduler)
configure_tcp
build_network $ns
build_flows $ns

# A monitor behind the queue's exit for drops sees dropped packets only.
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

set drops_n1 [count_drops $n1 $n2]
set drops_n2 [count_drops $n2 $n3]

set monitors {}
if {$param(count)} {
    set pairs [list $n1 $n2 $n2 $n3]
    for {set flow 0} {$flow < $param(flows)} {incr flow} {lappend pairs $source($flow) $n1 $n3 $sink($flow)}
    foreach {from to} $pairs {
        lappend monitors [$ns monitor-queue $from $to ""] [$ns monitor-queue $to $from ""]
    }
}

proc finish {} {
    global param tcp receiver monitors drops_n1 drops_n2
    set sent 0
    set acknowledgements 0
    set in_order 0
    foreach flow [array names tcp] {
        incr sent [$tcp($flow) set ndatapack_]
        incr acknowledgements [$tcp($flow) set nackpack_]
        incr in_order [segments_in_order $receiver($flow)]
    }
    set n1 [$drops_n1 set pdrops_]
    set n2 [$drops_n2 set pdrops_]
    set crossed_n1 [expr {$sent - $n1}]
    set crossed_n2 [expr {$crossed_n1 - $n2}]
    set payload [expr {$param(packet) - $param(header)}]
    print_pairs stdout "" [list \
        goodput_bps [format %.1f [expr {8.0 * $payload * $in_order / $param(duration)}]] \
        packets_sent $sent \
        drops [expr {$n1 + $n2}] \
        packet_hops [expr {$sent + $crossed_n1 + 2 * $crossed_n2 + 4 * $acknowledgements}]]
    if {$param(count)} {
        set counted 0
        foreach monitor $monitors {incr counted [$monitor set pdepartures_]}
        puts "counted_hops $counted"
    }
    exit 0
}

$ns at $param(duration) finish
$ns run

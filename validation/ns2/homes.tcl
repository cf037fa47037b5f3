# The homes of the G-Router paper without a gateway: endless transfers and web files over access links, an access router and
# an Internet node that loses most of its rate for a while.
#
#   home i --1 Mb/s-- access --100 Mb/s-- internet --100 Mb/s-- servers
#
#   ns homes.tcl transfers=FILE [NAME=VALUE ...]
#
# Options: those of common.tcl that are TCP's, and
#   transfers=FILE    a line `TIME HOME BYTES STOP` for each, in the order of time; BYTES 0: as much as goes until STOP
#   uplinks           their rates, bit/s, one per home with commas between
#   steps             changes of the rate of internet-servers, TIME:RATE with commas between
#   edges             times at which counters are printed, with commas between
#   fin               size of a packet that each transfer sends when it is complete, as in web.tcl; 0: none
#   ssthresh          the first slow-start threshold, segments
#   lost_syn          ns2: a SYN's timeout is a loss, ssthresh is 2 segments from then on. kept: windows begin as RFC 6928 section 2
#                     has it, with one segment if the SYN was lost twice, and ssthresh as it was
#
# Standard output: `TIME.COUNTER value` for each edge. Queues are packets that wait, as areas over time (packets s); `goodput` is
# data in order, bytes, of web files at most their size.

source [file join [file dirname [info script]] common.tcl]
array set param {transfers "" uplinks "" steps "" edges "" fin 40 ssthresh 10000 lost_syn ns2}
read_options $argv

set ns [new Simulator]
set clock [$ns set scheduler_]
configure_tcp
set payload [expr {$param(packet) - $param(header)}]

proc one_way {from to rate delay {buffer 1000000}} {
    global ns
    $ns simplex-link $from $to $rate $delay DropTail
    $ns queue-limit $from $to [expr {$buffer + 1}]
}

foreach name {access internet servers} {set $name [$ns node]}
one_way $access $internet 100e6 0.049 $param(buffer)
one_way $internet $access 100e6 0.049
one_way $internet $servers 100e6 0.050 $param(buffer)
one_way $servers $internet 100e6 0.050
set rates [split $param(uplinks) ,]
set homes [llength $rates]
for {set i 1} {$i <= $homes} {incr i} {
    set home($i) [$ns node]
    one_way $home($i) $access [lindex $rates $i-1] 0.001 $param(buffer)
    one_way $access $home($i) 20e6 0.001
    set uplink($i) [$ns monitor-queue $home($i) $access ""]
    set unused($i) {}
    set fins($i) [new Agent/UDP]
    set nowhere [new Agent/Null]
    $ns attach-agent $home($i) $fins($i)
    $ns attach-agent $servers $nowhere
    $ns connect $fins($i) $nowhere
}
set monitor(router) [$ns monitor-queue $access $internet ""]
set monitor(node) [$ns monitor-queue $internet $servers ""]
array set count {web 0 completed 0 goodput 0 completion 0 timeouts 0 retransmitted 0}

# A sender and a receiver as new: agents that have been unused for a while, or others. `window_` is the first ssthresh when an
# agent is reset, the receiver's window afterwards.
proc take_agents {i} {
    global ns home servers unused param
    if {[llength $unused($i)] > 0} {
        lassign [lindex $unused($i) 0] tcp receiver
        set unused($i) [lrange $unused($i) 1 end]
    } else {
        set tcp [new Agent/TCP/Newreno]
        set receiver [new Agent/TCPSink]
        $ns attach-agent $home($i) $tcp
        $ns attach-agent $servers $receiver
        $ns connect $tcp $receiver
    }
    align_ticks new_reno
    $tcp set window_ $param(ssthresh)
    $tcp reset
    $tcp set window_ $param(window)
    foreach counter {nrexmit_ nrexmitpack_} {$tcp set $counter 0}
    $receiver reset
    $receiver set bytes_ 0
    return [list $tcp $receiver]
}

proc open_transfer {i bytes stop} {
    global ns clock open count payload param
    lassign [take_agents $i] tcp receiver
    set open($tcp) $receiver
    if {$bytes == 0} {
        $tcp proc done {} "close_endless $i $tcp $receiver"
        $tcp advanceby 10000000
        if {$stop ne "never"} {$ns at $stop "$tcp advance \[expr {\[$tcp set maxseq_\] + 1}\]"}
    } else {
        incr count(web)
        if {$param(lost_syn) eq "kept"} {$ns at [expr {[$clock now] + 3.05}] "mend_windows $tcp 6.0 $param(iw)"}
        $tcp proc done {} "close_file $i $tcp $receiver $bytes [$clock now]"
        $tcp advanceby [expr {($bytes + $payload - 1) / $payload}]
    }
}

# Just after the SYN's timer has run out, if it has: after 3 s, then after twice the time each.
proc mend_windows {tcp wait cwnd} {
    global ns clock open param
    if {[info exists open($tcp)] && [$tcp set ack_] < 0} {
        $tcp set ssthresh_ $param(ssthresh)
        $tcp set cwnd_ $cwnd
        $ns at [expr {[$clock now] + $wait}] "mend_windows $tcp [expr {2 * $wait}] 1"
    }
}

proc close_file {i tcp receiver bytes began} {
    global ns clock count unused
    incr count(completed)
    set count(completion) [expr {$count(completion) + [$clock now] - $began}]
    close_transfer $i $tcp $bytes
    $ns at [expr {[$clock now] + 10.0}] [list lappend unused($i) [list $tcp $receiver]]
}

proc close_endless {i tcp receiver} {
    global payload
    close_transfer $i $tcp [expr {$payload * [segments_in_order $receiver]}]
}

proc close_transfer {i tcp bytes} {
    global open count fins param
    incr count(goodput) $bytes
    incr count(timeouts) [$tcp set nrexmit_]
    incr count(retransmitted) [$tcp set nrexmitpack_]
    unset open($tcp)
    if {$param(fin) > 0} {$fins($i) send $param(fin)}
}

# One event at a time: the next line is read when its transfer begins.
proc next_transfer {} {
    global ns file pending
    if {[info exists pending]} {
        open_transfer {*}$pending
        unset pending
    }
    if {[gets $file line] >= 0} {
        set pending [lrange $line 1 end]
        $ns at [lindex $line 0] next_transfer
    }
}

# The integrator is brought up to date by packets only.
proc queue_area {monitor} {
    global clock
    set integrator [$monitor get-pkts-integrator]
    set since [expr {[$clock now] - [$integrator set lastx_]}]
    return [expr {[$integrator set sum_] + $since * [$integrator set lasty_]}]
}

proc print_edge {} {
    global clock monitor uplink open count payload homes
    set time [format %g [$clock now]]
    foreach link {router node} {
        print_pairs stdout $time.$link. [list \
            offered [$monitor($link) set parrivals_] \
            drops [$monitor($link) set pdrops_] \
            bytes [format %.0f [$monitor($link) set bdepartures_]] \
            queue [format %.3f [queue_area $monitor($link)]]]
    }
    set drops 0
    set area 0
    for {set i 1} {$i <= $homes} {incr i} {
        incr drops [$uplink($i) set pdrops_]
        set area [expr {$area + [queue_area $uplink($i)] / $homes}]
    }
    array set now [array get count]
    foreach {tcp receiver} [array get open] {
        incr now(goodput) [expr {$payload * [segments_in_order $receiver]}]
        incr now(timeouts) [$tcp set nrexmit_]
        incr now(retransmitted) [$tcp set nrexmitpack_]
    }
    print_pairs stdout $time. [list uplink.drops $drops uplink.queue [format %.3f $area]]
    print_pairs stdout $time. [array get now]
}

foreach step [split $param(steps) ,] {
    lassign [split $step :] time rate
    $ns at $time "[[$ns link $internet $servers] link] set bandwidth_ $rate"
}
foreach edge [split $param(edges) ,] {$ns at $edge print_edge}
set file [open $param(transfers)]
next_transfer
$ns at $param(duration) "exit 0"
$ns run

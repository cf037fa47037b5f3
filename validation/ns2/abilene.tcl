# One TCP flow across Abilene, with constant background on every link, whose links are switched off under link-state routing:
# the case of "TCP behavior over a greened network" (2012), section II.
#
#   ns abilene.tcl lines=FILE background=FILE [off=9-10,3-9] [agent=KIND] [NAME=VALUE ...]
#
# Options: those of common.tcl that are TCP's, and
#   lines       file with a line `FROM TO DELAY` per duplex link, nodes counted from 0, delays in seconds
#   background  file with a line `FROM TO START RATE` per CBR flow over UDP, seconds and bit/s
#   cbr_packet  size of its packets, bytes
#   agent       a kind of make_agents in common.tcl
#   from, to    ends of the TCP flow; it starts at `start`
#   capacity    of every link, bit/s; `buffer` is that of every link
#   off         links to switch off at `off_at`, both directions, FROM-TO with commas between; "" for none
#   routing     ls: ns-2's link-state routing. static: tables as they were until `transition` after `off_at`, when all change
#   edges       times at which counters are printed, with commas between
#   trace       where to write `TIME cwnd ssthresh t_seqno ack rtt v_rtt` every `sample` seconds between trace_from and
#               trace_to; v_rtt is Vegas' last sample, in seconds. Nothing is written without it
# Standard output: `TIME.COUNTER value` for each edge, and for the two seconds after `off_at` the smallest cwnd, sampled every
# millisecond (`min_cwnd`). Counters: in_order (segments at the sink), sent, retransmitted, timeouts, cbr (packets that
# arrived), queue_drops, down_drops (packets lost on links that went down), hops (links that the last segment crossed).

source [file join [file dirname [info script]] common.tcl]
array set param {
    packet 1040 lines "" background "" cbr_packet 210 agent new_reno from 8 to 10 capacity 40e6 buffer 49 duration 60.001
    off "" off_at 30.0 routing ls transition 0.03 edges 5,30,32,60 trace "" trace_from 0 trace_to 60 sample 0.01 vegas_packet 0
}
read_options $argv

proc rows {file} {
    set channel [open $file]
    set found [split [string trim [read $channel]] \n]
    close $channel
    return $found
}

set ns [new Simulator]
$ns use-scheduler Splay
if {$param(routing) eq "ls"} {$ns rtproto LS}
configure_tcp
set nodes 0
foreach row [rows $param(lines)] {
    lassign $row a b
    set nodes [expr {max($nodes, $a + 1, $b + 1)}]
}
for {set i 0} {$i < $nodes} {incr i} {set node($i) [$ns node]}
foreach counter {queue_drops down_drops} {set lost($counter) [new Agent/LossMonitor]}
foreach row [rows $param(lines)] {
    lassign $row a b delay
    $ns duplex-link $node($a) $node($b) $param(capacity) $delay DropTail
    foreach {from to} [list $a $b $b $a] {$ns queue-limit $node($from) $node($to) [expr {$param(buffer) + 1}]}
}

set received {}
foreach row [rows $param(background)] {
    lassign $row a b start rate
    set udp [new Agent/UDP]
    $udp set packetSize_ $param(cbr_packet)
    set sink [new Agent/LossMonitor]
    $ns attach-agent $node($a) $udp
    $ns attach-agent $node($b) $sink
    $ns connect $udp $sink
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $param(cbr_packet)
    $cbr set rate_ $rate
    $cbr attach-agent $udp
    $ns at $start "$cbr start"
    lappend received $sink
}

lassign [make_agents $param(agent)] tcp sink name
if {$param(vegas_packet) > 0} {$tcp set packetSize_ $param(vegas_packet)}
$ns attach-agent $node($param(from)) $tcp
$ns attach-agent $node($param(to)) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
if {$name ne ""} {$ns at 0.0 "$tcp select_ca $name"}
$ns at $param(start) "$ftp start"

# Links that go down. Under static routing nobody notices until ns-2's own tables are computed again, all at once.
set cables {}
foreach cable [split $param(off) ,] {
    lassign [split $cable -] a b
    lappend cables $a $b
    if {$param(routing) eq "ls"} {
        $ns rtmodel-at $param(off_at) down $node($a) $node($b)
    } else {
        foreach {from to} [list $a $b $b $a] {
            set link [$ns link $node($from) $node($to)]
            $link dynamic
            $ns at $param(off_at) "$link down"
        }
    }
}
if {$param(routing) ne "ls"} {$ns at [expr {$param(off_at) + $param(transition)}] "$ns compute-routes"}

# Where packets go that are lost: into counters. A link that goes down loses what is in its queue and on its way.
proc count_losses {} {
    global ns param node lost
    foreach row [rows $param(lines)] {
        lassign $row a b
        foreach {from to} [list $a $b $b $a] {
            set link [$ns link $node($from) $node($to)]
            [$link queue] drop-target $lost(queue_drops)
            [$link link] drop-target $lost(down_drops)
            catch {[$link set dynamics_] drop-target $lost(down_drops)}
        }
    }
}
$ns at 0.0 count_losses

# The routers between the ends of the TCP flow.
proc path {from to} {
    global ns node param
    set found $from
    while {$from != $to && [llength $found] < 40} {
        if {$param(routing) eq "ls"} {
            set link [[$node($from) rtObject?] nextHop? $node($to)]
            set from [[$link set toNode_] id]
        } else {
            set from [[$ns get-routelogic] lookup $from $to]
        }
        lappend found $from
    }
    return $found
}

proc print_counters {} {
    global ns param tcp sink received lost
    set at [format %g [$ns now]]
    set cbr 0
    foreach monitor $received {incr cbr [$monitor set npkts_]}
    print_pairs stdout $at. [list in_order [segments_in_order $sink] sent [$tcp set ndatapack_] \
        retransmitted [$tcp set nrexmitpack_] timeouts [$tcp set nrexmit_] cbr $cbr \
        queue_drops [$lost(queue_drops) set npkts_] down_drops [$lost(down_drops) set npkts_] \
        hops [expr {[llength [path $param(from) $param(to)]] - 1}]]
    puts "# $at path [path $param(from) $param(to)] back [path $param(to) $param(from)]"
}
foreach edge [split $param(edges) ,] {$ns at $edge print_counters}

set min_cwnd 1e9
proc watch_window {} {
    global ns tcp param min_cwnd
    set min_cwnd [expr {min($min_cwnd, [$tcp set cwnd_])}]
    if {[$ns now] < $param(off_at) + 2} {$ns at [expr {[$ns now] + 0.001}] watch_window}
}
$ns at [expr {$param(off_at) + 0.0005}] watch_window

proc sample {} {
    global ns tcp param out
    set base -1
    catch {set base [$tcp set v_rtt_]}
    puts $out [format "%.4f %.3f %.0f %d %d %s %s" [$ns now] [$tcp set cwnd_] [$tcp set ssthresh_] [$tcp set t_seqno_] \
        [$tcp set ack_] [$tcp set rtt_] $base]
    if {[$ns now] < $param(trace_to)} {$ns at [expr {[$ns now] + $param(sample)}] sample}
}
if {$param(trace) ne ""} {
    set out [open $param(trace) w]
    $ns at [expr {max($param(trace_from), 0.01)}] sample
}

proc finish {} {
    global min_cwnd param out
    puts "min_cwnd $min_cwnd"
    if {$param(trace) ne ""} {close $out}
    exit 0
}
$ns at $param(duration) finish
$ns run

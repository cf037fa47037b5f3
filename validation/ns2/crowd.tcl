# The dumb-bell of client-centered-2004 with standard flows alone: 100 endless NewReno transfers from one server, each to another client.
#
#   server --1 Gb/s-- N1 --rate, 20 ms, buffer-- N2 --20 Mb/s, 5 to 15 ms-- client i
#
#   ns crowd.tcl [NAME=VALUE ...]
#
# Options: those of common.tcl. Standard output, one `name value` per line, over `duration`:
#   goodput_bps   payload in order at the receivers, all flows together
#   lost          packets that the bottleneck dropped
#   segments_sent, segments_retransmitted, timeouts   sums over the flows
#   jain          Jain's index of the flows' goodputs

source [file join [file dirname [info script]] common.tcl]
array set param {flows 100 rate 100e6 buffer 500 stagger 0.0197 duration 30}
read_options $argv

set ns [new Simulator]
$ns use-scheduler Splay
configure_tcp
set unlimited 1000000
foreach name {server n1 n2} {set $name [$ns node]}
connect $ns $server $n1 1e9 0.0 $unlimited $unlimited
connect $ns $n1 $n2 $param(rate) 0.02 $param(buffer) $unlimited
for {set flow 0} {$flow < $param(flows)} {incr flow} {
    set source($flow) $server
    set sink($flow) [$ns node]
    connect $ns $n2 $sink($flow) 20e6 [expr {0.005 + 0.010 * ((37 * $flow) % 100) / 99}] $unlimited $unlimited
}
build_flows_of $ns new_reno $param(window)
set bottleneck [$ns monitor-queue $n1 $n2 ""]

proc finish {} {
    global param tcp receiver bottleneck
    set names {goodput_bps segments_sent segments_retransmitted timeouts}
    foreach name $names {set total($name) 0}
    set squares 0
    for {set flow 0} {$flow < $param(flows)} {incr flow} {
        set counters [flow_counters $tcp($flow) $receiver($flow)]
        foreach name $names {set total($name) [expr {$total($name) + [dict get $counters $name]}]}
        set squares [expr {$squares + [dict get $counters goodput_bps] ** 2}]
    }
    foreach name $names {puts "$name $total($name)"}
    puts "lost [$bottleneck set pdrops_]"
    puts "jain [expr {$total(goodput_bps) ** 2 / ($param(flows) * $squares)}]"
    exit 0
}

$ns at $param(duration) finish
$ns run

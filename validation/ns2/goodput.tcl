# Long runs of any TCP that ns-2 has on the dumb-bell: what the flows brought across, and what they lost.
#
#   ns goodput.tcl agent=KIND [NAME=VALUE ...]
#
# Options: those of common.tcl, and `agent`, a kind of make_agents there. Standard output, one `name value` per line:
#   goodput_bps            payload in order at the receivers, all flows together, over `duration`
#   segments_sent, segments_retransmitted, timeouts   sums over the flows
#   jain                   Jain's index of the flows' goodputs

source [file join [file dirname [info script]] common.tcl]
array set param {agent new_reno}
read_options $argv

set ns [new Simulator]
$ns use-scheduler Splay
configure_tcp
build_network $ns
build_flows_of $ns $param(agent) $param(window)

proc finish {} {
    global param tcp receiver
    set names {goodput_bps segments_sent segments_retransmitted timeouts}
    foreach name $names {set total($name) 0}
    set squares 0
    for {set flow 0} {$flow < $param(flows)} {incr flow} {
        set counters [flow_counters $tcp($flow) $receiver($flow)]
        foreach name $names {set total($name) [expr {$total($name) + [dict get $counters $name]}]}
        set squares [expr {$squares + [dict get $counters goodput_bps] ** 2}]
    }
    foreach name $names {puts "$name $total($name)"}
    puts "jain [expr {$total(goodput_bps) ** 2 / ($param(flows) * $squares)}]"
    exit 0
}

$ns at $param(duration) finish
$ns run

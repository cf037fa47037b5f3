# What the ns-2 scripts of this folder share: options, the network, TCP flows and their counters.
#
#   source i --100 Mb/s-- N1 --bottleneck-- N2 --10 Mb/s-- N3 --100 Mb/s-- sink i
#
# Every flow has its own source and sink node. Rates are in bit/s, times in seconds, sizes in bytes on the wire.
# A `buffer` is the number of packets that may wait, the one being sent not counted, as in netlull. ns-2's DropTail
# refuses a packet when `waiting + 1 >= limit_`, so its `limit_` is the buffer plus one.

# Reads `name=value` arguments over the defaults in the array `param` of the caller.
proc read_options {arguments} {
    upvar 1 param param
    foreach argument $arguments {
        if {![regexp {^([a-z0-9_]+)=(.*)$} $argument -> name value] || ![info exists param($name)]} {
            puts stderr "$argument: expected NAME=VALUE with NAME one of [lsort [array names param]]"
            exit 2
        }
        set param($name) $value
    }
}

# Defaults of the network and of TCP. `delay_*` are one-way; the round trip is twice their sum along the path.
array set param {
    flows 1            duration 300       start 0.0          stagger 0.0
    rate 10e6          rate_n2 10e6       rate_access 100e6  rate_back 0
    delay_access 0.0   delay_n1 0.0125    delay_n2 0.0125
    buffer 42          buffer_n2 42       packet 1500        header 40
    delack 0           delack_interval 0.1
    window 10000       minrto 0.2         iw 2
    limited_transmit 1
}

# Settings that every flow has in common. Times and RTT samples are in ticks of `tcpTick_` (10 ms), as ns-2 defaults.
proc configure_tcp {} {
    global param
    Agent/TCP set packetSize_ [expr {$param(packet) - $param(header)}]
    Agent/TCP set tcpip_base_hdr_size_ $param(header)
    Agent/TCP set window_ $param(window)
    Agent/TCP set minrto_ $param(minrto)
    Agent/TCP set windowInit_ $param(iw)
    Agent/TCP set timestamps_ false
    Agent/TCP set overhead_ 0
    Agent/TCP set singledup_ $param(limited_transmit)
    Agent/TCPSink set packetSize_ $param(header)
    Agent/TCPSink/DelAck set interval_ $param(delack_interval)
}

# A duplex link whose two directions have their own buffer, and their own rate if `rate_back` is not 0.
proc connect {ns from to rate delay buffer_there buffer_back} {
    global param
    $ns simplex-link $from $to $rate $delay DropTail
    $ns simplex-link $to $from [expr {$param(rate_back) > 0 ? $param(rate_back) : $rate}] $delay DropTail
    $ns queue-limit $from $to [expr {$buffer_there + 1}]
    $ns queue-limit $to $from [expr {$buffer_back + 1}]
}

# Builds the network of the figure above; sets n1, n2, n3 and the arrays source() and sink() of the caller.
proc build_network {ns} {
    global param
    uplevel 1 {array set source {}; array set sink {}}
    upvar 1 n1 n1 n2 n2 n3 n3 source source sink sink
    set unlimited 1000000
    foreach name {n1 n2 n3} {set $name [$ns node]}
    connect $ns $n1 $n2 $param(rate) $param(delay_n1) $param(buffer) $unlimited
    connect $ns $n2 $n3 $param(rate_n2) $param(delay_n2) $param(buffer_n2) $unlimited
    for {set flow 0} {$flow < $param(flows)} {incr flow} {
        set source($flow) [$ns node]
        set sink($flow) [$ns node]
        connect $ns $source($flow) $n1 $param(rate_access) $param(delay_access) $unlimited $unlimited
        connect $ns $n3 $sink($flow) $param(rate_access) $param(delay_access) $unlimited $unlimited
    }
}

# One endless NewReno transfer per flow; fills the arrays tcp() and receiver() of the caller.
proc build_flows {ns} {
    global param
    upvar 1 source source sink sink tcp tcp receiver receiver
    set kind [expr {$param(delack) ? "Agent/TCPSink/DelAck" : "Agent/TCPSink"}]
    for {set flow 0} {$flow < $param(flows)} {incr flow} {
        set tcp($flow) [new Agent/TCP/Newreno]
        set receiver($flow) [new $kind]
        $tcp($flow) set fid_ $flow
        $ns attach-agent $source($flow) $tcp($flow)
        $ns attach-agent $sink($flow) $receiver($flow)
        $ns connect $tcp($flow) $receiver($flow)
        set transfer [new Application/FTP]
        $transfer attach-agent $tcp($flow)
        $ns at [expr {$param(start) + $flow * $param(stagger)}] "$transfer start"
    }
}

# ns-2 draws the phase of an agent's clock ticks when it is made. With these seeds they begin at time zero within 10 ns, as
# netlull's do: the first number drawn is 3e-8 ticks, or the second (Agent/TCP/Vegas draws twice) 1e-6.
proc align_ticks {agent} {
    global defaultRNG
    $defaultRNG seed [expr {$agent eq "vegas" ? 45089 : 143581}]
}

# A sender and its receiver of a kind of TCP, and the algorithm that Agent/TCP/Linux is to use, "" for the others.
#   tahoe, reno, new_reno, sack, vegas: ns-2's own; linux-NAME: NAME of Agent/TCP/Linux (reno, bic, cubic, vegas, compound)
# Agent/TCP/Linux has no handshake here (`syn_`): to it the SYN is a segment like any other, whose acknowledgement opens the
# window.
proc make_agents {agent} {
    global param
    align_ticks $agent
    if {[regexp {^linux-(.+)$} $agent -> name]} {
        set tcp [new Agent/TCP/Linux]
        $tcp set syn_ false
        $tcp set delay_growth_ false
        # Its algorithms take round trips from timestamps, which cost nothing on the wire here.
        $tcp set timestamps_ true
        $tcp set ts_option_size_ 0
        set sink [new Agent/TCPSink/Sack1]
        $sink set ts_echo_rfc1323_ true
        return [list $tcp $sink $name]
    }
    set kinds {tahoe TCP reno TCP/Reno new_reno TCP/Newreno sack TCP/Sack1 vegas TCP/Vegas}
    set tcp [new Agent/[dict get $kinds $agent]]
    set sink [new Agent/TCPSink[expr {$agent eq "sack" ? "/Sack1" : ""}]]
    if {$agent eq "vegas"} {
        # It sends packets of `packetSize_`, without the header that the others add.
        $tcp set packetSize_ $param(packet)
    }
    return [list $tcp $sink ""]
}

# One endless transfer of a kind of TCP per flow; fills the arrays tcp() and receiver() of the caller.
proc build_flows_of {ns agent ssthresh} {
    global param
    upvar 1 source source sink sink tcp tcp receiver receiver
    for {set flow 0} {$flow < $param(flows)} {incr flow} {
        lassign [make_agents $agent] tcp($flow) receiver($flow) name
        $tcp($flow) set fid_ $flow
        $ns attach-agent $source($flow) $tcp($flow)
        $ns attach-agent $sink($flow) $receiver($flow)
        $ns connect $tcp($flow) $receiver($flow)
        set transfer [new Application/FTP]
        $transfer attach-agent $tcp($flow)
        set start [expr {$param(start) + $flow * $param(stagger)}]
        # ns-2 takes `window_` for the first ssthresh when the agent starts.
        $tcp($flow) set window_ $ssthresh
        $ns at [expr {$start + 0.0005}] "$tcp($flow) set window_ $param(window)"
        if {$name ne ""} {$ns at 0.0 "$tcp($flow) select_ca $name"}
        $ns at $start "$transfer start"
    }
}

# Segments that the receiver has in order. `bytes_` counts wire bytes, the first of them those of the SYN (a header).
proc segments_in_order {receiver} {
    global param
    set bytes [$receiver set bytes_]
    return [expr {$bytes < $param(header) ? 0 : ($bytes - $param(header)) / $param(packet)}]
}

# What a sender and its receiver counted, as a list of names and values.
# ns-2 counts the SYN as data packet 0; it is taken out here. `ncwndcuts1_` counts window reductions, timeouts included.
proc flow_counters {tcp receiver} {
    global param
    set payload [expr {$param(packet) - $param(header)}]
    set in_order [segments_in_order $receiver]
    return [list \
        goodput_bps [format %.1f [expr {8.0 * $payload * $in_order / $param(duration)}]] \
        segments_in_order $in_order \
        segments_sent [expr {max([$tcp set ndatapack_] - 1, 0)}] \
        segments_retransmitted [$tcp set nrexmitpack_] \
        timeouts [$tcp set nrexmit_] \
        fast_retransmits [expr {[$tcp set ncwndcuts1_] - [$tcp set nrexmit_]}]]
}

proc print_pairs {channel prefix pairs} {
    foreach {name value} $pairs {
        puts $channel "$prefix$name $value"
    }
}

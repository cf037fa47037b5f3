// TCP over a drop-tail dumb-bell in ns-3: the network and the settings of run.py.
//
//   dumbbell [--NAME=VALUE ...]
//
// source0 -- A ===bottleneck=== B -- sink0
// source1 -/                       \- sink1 ...
//
// Options are below, with their defaults; `--help` lists them. Standard output: one `name value` per line, totals over
// all flows. `--trace=FILE` writes one line per change of a flow's window (`w time flow cwnd ssthresh`, in segments),
// per segment sent (`s time flow segment`, only with `--segments=1`; segment 0 is the first of the stream) and per
// change of the congestion state (`c time flow state`).
//
// A PPP header of 2 bytes goes before every packet on ns-3's point-to-point links, which netlull's links do not have.
// Rates are scaled by (packet + 2) / packet, so that a full packet takes exactly the time that it takes there.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/error-model.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t IP_AND_TCP_HEADERS = 40;
constexpr uint32_t TIMESTAMPS = 12; // 10 and two of padding
constexpr uint32_t PPP_HEADER = 2;
constexpr uint32_t MTU = 1500;

/// What can be chosen. Times in seconds, rates in bit/s, the buffer in packets that may wait.
struct Options
{
    std::string tcp = "TcpNewReno";
    std::string recovery = "TcpPrrRecovery";
    uint32_t flows = 1;
    double duration = 100;
    double stagger = 0.137;
    double rate = 10e6;
    double rateAccess = 1e9;
    double delay = 0.023;
    double delayAccess = 0.001;
    uint32_t buffer = 42;
    uint32_t delack = 2;
    double delackTimeout = 0.2;
    uint32_t initialWindow = 10;
    uint32_t initialSsthresh = 0; // segments; 0 for none
    double minRto = 1;
    bool sack = true;
    bool timestamps = true;
    bool limitedTransmit = true;
    bool hystart = true;
    bool fastConvergence = true;
    uint32_t receiveBuffer = 4194304;
    uint64_t segmentsToSend = 0; // 0 for endless
    std::string drops;           // n-th data packets of the first flow, from 1, the SYN not counted
    std::string trace;
    bool segments = false;
};

Options options;
FILE* traceFile = nullptr;

uint32_t
Mss()
{
    return MTU - IP_AND_TCP_HEADERS - (options.timestamps ? TIMESTAMPS : 0);
}

/// Counters and the latest values of one flow.
struct Flow
{
    uint32_t index = 0;
    uint64_t sent = 0;
    uint64_t retransmitted = 0;
    uint64_t timeouts = 0;
    uint64_t fastRetransmits = 0;
    uint32_t highest = 0; // sequence number after the highest byte sent
    uint32_t cwnd = 0;
    uint32_t ssthresh = 0;
    double area = 0; // integral of cwnd over time, segments times seconds
    double since = 0;
    Ptr<PacketSink> sink;
    Ptr<BulkSendApplication> source;

    void WriteWindow()
    {
        if (traceFile)
        {
            const double limit = ssthresh == UINT32_MAX ? 0 : static_cast<double>(ssthresh) / Mss();
            std::fprintf(traceFile, "w %.9f %u %.4f %.4f\n", Simulator::Now().GetSeconds(), index,
                         static_cast<double>(cwnd) / Mss(), limit);
        }
    }

    void OnCwnd(uint32_t, uint32_t now)
    {
        const double time = Simulator::Now().GetSeconds();
        area += (time - since) * cwnd / Mss();
        since = time;
        cwnd = now;
        WriteWindow();
    }

    void OnSsthresh(uint32_t, uint32_t now)
    {
        ssthresh = now;
        WriteWindow();
    }

    void OnSend(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        const uint32_t first = header.GetSequenceNumber().GetValue();
        ++sent;
        if (first < highest)
        {
            ++retransmitted;
        }
        highest = std::max(highest, first + packet->GetSize());
        if (traceFile && options.segments)
        {
            std::fprintf(traceFile, "s %.9f %u %u\n", Simulator::Now().GetSeconds(), index, (first - 1) / Mss());
        }
    }

    /// Only a timeout doubles the timer (tcp-socket-base.cc, ReTxTimeout); the state does not tell repeated ones.
    void OnRto(Time before, Time now)
    {
        if (highest > 0 && now == before + before)
        {
            ++timeouts;
        }
    }

    void OnState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
    {
        if (now == TcpSocketState::CA_RECOVERY)
        {
            ++fastRetransmits;
        }
        if (traceFile)
        {
            std::fprintf(traceFile, "c %.9f %u %s\n", Simulator::Now().GetSeconds(), index,
                         TcpSocketState::TcpCongStateName[now]);
        }
    }

    /// The socket exists from the application's start on; nothing but the SYN has been sent then.
    void Connect()
    {
        Ptr<Socket> socket = source->GetSocket();
        cwnd = options.initialWindow * Mss();
        ssthresh = options.initialSsthresh ? options.initialSsthresh * Mss() : UINT32_MAX;
        since = Simulator::Now().GetSeconds();
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Flow::OnCwnd, this));
        socket->TraceConnectWithoutContext("SlowStartThreshold", MakeCallback(&Flow::OnSsthresh, this));
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Flow::OnSend, this));
        socket->TraceConnectWithoutContext("RTO", MakeCallback(&Flow::OnRto, this));
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Flow::OnState, this));
    }
};

uint64_t queueDrops = 0;

void
OnQueueDrop(Ptr<const Packet>)
{
    ++queueDrops;
}

/// The queue behind the bottleneck's device: mean length over time.
struct QueueLength
{
    double area = 0;
    double since = 0;
    uint32_t length = 0;

    void OnLength(uint32_t, uint32_t now)
    {
        const double time = Simulator::Now().GetSeconds();
        area += (time - since) * length;
        since = time;
        length = now;
    }
} bottleneckQueue;

std::vector<uint32_t>
Numbers(const std::string& list)
{
    std::vector<uint32_t> numbers;
    std::stringstream stream(list);
    for (std::string item; std::getline(stream, item, ',');)
    {
        numbers.push_back(static_cast<uint32_t>(std::stoul(item)));
    }
    return numbers;
}

void
ReadOptions(int argc, char** argv)
{
    CommandLine command(__FILE__);
    command.AddValue("tcp", "congestion control, a ns3::TcpCongestionOps", options.tcp);
    command.AddValue("recovery", "recovery, a ns3::TcpRecoveryOps", options.recovery);
    command.AddValue("flows", "flows", options.flows);
    command.AddValue("duration", "s", options.duration);
    command.AddValue("stagger", "s between the starts of two flows", options.stagger);
    command.AddValue("rate", "bottleneck, bit/s", options.rate);
    command.AddValue("rate_access", "access links, bit/s", options.rateAccess);
    command.AddValue("delay", "bottleneck, s one way", options.delay);
    command.AddValue("delay_access", "each access link, s one way", options.delayAccess);
    command.AddValue("buffer", "packets that may wait at the bottleneck", options.buffer);
    command.AddValue("delack", "segments per acknowledgement", options.delack);
    command.AddValue("delack_timeout", "s", options.delackTimeout);
    command.AddValue("initial_window", "segments", options.initialWindow);
    command.AddValue("initial_ssthresh", "segments, 0 for none", options.initialSsthresh);
    command.AddValue("min_rto", "s", options.minRto);
    command.AddValue("sack", "RFC 2018", options.sack);
    command.AddValue("timestamps", "RFC 7323", options.timestamps);
    command.AddValue("limited_transmit", "RFC 3042", options.limitedTransmit);
    command.AddValue("hystart", "of TcpCubic", options.hystart);
    command.AddValue("fast_convergence", "of TcpBic and TcpCubic", options.fastConvergence);
    command.AddValue("receive_buffer", "bytes", options.receiveBuffer);
    command.AddValue("segments_to_send", "per flow, 0 for endless", options.segmentsToSend);
    command.AddValue("drops", "n-th data packets of the first flow dropped on its last link, from 1", options.drops);
    command.AddValue("trace", "file for windows and states", options.trace);
    command.AddValue("segments", "trace segments sent as well", options.segments);
    command.Parse(argc, argv);
}

void
ConfigureTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + options.tcp)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TypeId::LookupByName("ns3::" + options.recovery)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(Mss()));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(options.initialWindow));
    if (options.initialSsthresh)
    {
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(options.initialSsthresh * Mss()));
    }
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(options.delack));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(Seconds(options.delackTimeout)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(1))); // RFC 6298 section 2.1
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(100));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(options.receiveBuffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.receiveBuffer));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(options.minRto)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(options.sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(options.timestamps));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(options.limitedTransmit));
    Config::SetDefault("ns3::TcpSocketState::EnablePacing", BooleanValue(false));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(options.hystart));
    Config::SetDefault("ns3::TcpCubic::FastConvergence", BooleanValue(options.fastConvergence));
    // Linux 2.6.22: smooth_part 20 and beta 819/1024, where ns-3's defaults are 5 and 0.8.
    Config::SetDefault("ns3::TcpBic::SmoothPart", UintegerValue(20));
    Config::SetDefault("ns3::TcpBic::Beta", DoubleValue(819.0 / 1024));
    Config::SetDefault("ns3::TcpBic::FastConvergence", BooleanValue(options.fastConvergence));
}

/// A link with its rate scaled for the PPP header.
NetDeviceContainer
Link(Ptr<Node> one, Ptr<Node> other, double rate, double delay)
{
    PointToPointHelper helper;
    const double scaled = std::round(rate * (MTU + PPP_HEADER) / MTU);
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(scaled))));
    helper.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
    return helper.Install(one, other);
}

/// Queue discs of ns-3's traffic control would hold packets before the device's queue: there must be none.
void
Number(Ipv4AddressHelper& addresses, const NetDeviceContainer& devices, Ipv4InterfaceContainer* where = nullptr)
{
    const Ipv4InterfaceContainer given = addresses.Assign(devices);
    addresses.NewNetwork();
    TrafficControlHelper().Uninstall(devices);
    if (where)
    {
        *where = given;
    }
}

/// Loses data segments of the first flow as they arrive.
void
DropByNumber(Ptr<NetDevice> device)
{
    // The model counts arrivals from 0, of which the first two are SYN and the handshake's acknowledgement.
    std::list<uint32_t> arrivals;
    for (uint32_t number : Numbers(options.drops))
    {
        arrivals.push_back(number + 1);
    }
    auto model = CreateObject<ReceiveListErrorModel>();
    model->SetList(arrivals);
    device->SetAttribute("ReceiveErrorModel", PointerValue(model));
}

} // namespace

int
main(int argc, char** argv)
{
    ReadOptions(argc, argv);
    ConfigureTcp();
    if (!options.trace.empty())
    {
        traceFile = std::fopen(options.trace.c_str(), "w");
        if (!traceFile)
        {
            std::perror(options.trace.c_str());
            return 1;
        }
    }

    NodeContainer routers(2);
    NodeContainer sources(options.flows);
    NodeContainer sinks(options.flows);
    InternetStackHelper stack;
    stack.InstallAll();
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");

    NetDeviceContainer bottleneck = Link(routers.Get(0), routers.Get(1), options.rate, options.delay);
    Number(addresses, bottleneck);
    auto device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0));
    // The device takes a packet from its queue before it sends it: `MaxSize` packets may wait beside the one being sent.
    device->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, options.buffer));
    device->GetQueue()->TraceConnectWithoutContext("Drop", MakeCallback(&OnQueueDrop));
    device->GetQueue()->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&QueueLength::OnLength, &bottleneckQueue));
    // Traffic control has no queue here, and drops what the device's full queue would.
    routers.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&OnQueueDrop));

    std::vector<Flow> flows(options.flows);
    for (uint32_t index = 0; index < options.flows; ++index)
    {
        Flow& flow = flows[index];
        flow.index = index;
        Number(addresses, Link(sources.Get(index), routers.Get(0), options.rateAccess, options.delayAccess));
        Ipv4InterfaceContainer where;
        NetDeviceContainer last = Link(routers.Get(1), sinks.Get(index), options.rateAccess, options.delayAccess);
        Number(addresses, last, &where);
        if (index == 0 && !options.drops.empty())
        {
            DropByNumber(last.Get(1));
        }

        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        flow.sink = DynamicCast<PacketSink>(sink.Install(sinks.Get(index)).Get(0));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(where.GetAddress(1), 9));
        source.SetAttribute("SendSize", UintegerValue(Mss()));
        source.SetAttribute("MaxBytes", UintegerValue(options.segmentsToSend * Mss()));
        flow.source = DynamicCast<BulkSendApplication>(source.Install(sources.Get(index)).Get(0));
        const Time start = Seconds(options.stagger * index);
        flow.source->SetStartTime(start);
        Simulator::Schedule(start + NanoSeconds(1), &Flow::Connect, &flow);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(options.duration));
    Simulator::Run();

    Flow sum;
    double goodput = 0;
    double cwnd = 0;
    double squares = 0;
    for (Flow& flow : flows)
    {
        const double mine = 8.0 * flow.sink->GetTotalRx() / options.duration;
        goodput += mine;
        squares += mine * mine;
        sum.sent += flow.sent;
        sum.retransmitted += flow.retransmitted;
        sum.timeouts += flow.timeouts;
        sum.fastRetransmits += flow.fastRetransmits;
        flow.OnCwnd(0, 0); // closes the integral
        cwnd += flow.area / options.duration;
    }
    bottleneckQueue.OnLength(0, 0);
    std::printf("goodput_bps %.1f\n", goodput);
    std::printf("segments_sent %lu\n", sum.sent);
    std::printf("segments_retransmitted %lu\n", sum.retransmitted);
    std::printf("timeouts %lu\n", sum.timeouts);
    std::printf("fast_retransmits %lu\n", sum.fastRetransmits);
    std::printf("drops %lu\n", queueDrops);
    std::printf("mean_queue_packets %.6f\n", bottleneckQueue.area / options.duration);
    std::printf("mean_cwnd_segments %.6f\n", cwnd);
    std::printf("jain %.8f\n", goodput * goodput / (options.flows * squares));
    Simulator::Destroy();
    if (traceFile)
    {
        std::fclose(traceFile);
    }
    return 0;
}
